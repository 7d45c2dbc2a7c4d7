//! How long to wait before the API server is asked again.

use std::time::Duration;

use tokio::time::Instant;

/// Grows from one wait to the next and starts anew once nothing had to wait for a while.
///
/// Source: client-go `tools/cache/reflector.go`: 800 ms to 30 s, factor 2, jitter 1.0, reset after 2 min.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    last: Option<Instant>,
    random: fastrand::Rng,
}

impl Backoff {
    pub(crate) fn new(random: fastrand::Rng) -> Self {
        Self { next: FIRST, last: None, random }
    }

    /// The next wait, between once and twice the base, so that many clients of one server do not come back together.
    pub(crate) fn next(&mut self, now: Instant) -> Duration {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) > RESET_AFTER) {
            self.next = FIRST;
        }
        let base = self.next;
        self.next = LAST.min(base * 2);
        let wait = base.mul_f64(1.0 + self.random.f64());
        self.last = Some(now + wait);
        wait
    }

    /// Something worked: the next wait is the first.
    pub(crate) fn reset(&mut self) {
        self.next = FIRST;
    }
}

const FIRST: Duration = Duration::from_millis(800);
const LAST: Duration = Duration::from_secs(30);
const RESET_AFTER: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_double_up_to_a_limit_and_start_anew_after_quiet() {
        let mut backoff = Backoff::new(fastrand::Rng::with_seed(7));
        let mut now = Instant::now();
        for base in [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000].map(Duration::from_millis) {
            let wait = backoff.next(now);
            assert!(wait >= base && wait < base * 2, "{wait:?} for {base:?}");
            now += wait;
        }
        let wait = backoff.next(now + RESET_AFTER + Duration::from_millis(1));
        assert!(wait < FIRST * 2);
        backoff.next(now);
        backoff.reset();
        assert!(backoff.next(now) < FIRST * 2);
    }
}
