//! Notices requests whose own writes wake them again, without end.

use std::time::Duration;

use hashbrown::HashMap;
use tokio::time::Instant;

use crate::reconcile::RequestType;

/// Counts, for each request, the reconciles in a row that wrote something and came right after each other.
///
/// A reconciler that writes a timestamp, or a list in another order each time, changes its object at every run, and every change is an
/// event. Writes that change nothing make no event and do not count. A request that did not write in its last run takes no memory.
#[derive(Debug)]
pub(super) struct HotLoops<R> {
    streaks: HashMap<R, Streak>,
    sweep_at: usize,
}

#[derive(Debug)]
struct Streak {
    length: u32,
    last: Instant,
}

impl<R: RequestType> HotLoops<R> {
    pub(super) fn new() -> Self {
        Self { streaks: HashMap::new(), sweep_at: FIRST_SWEEP }
    }

    /// Takes note of a reconcile that ended at `now`; gives the length of the streak each time that it is worth a warning.
    pub(super) fn observe(&mut self, request: &R, wrote: bool, now: Instant) -> Option<u32> {
        if !wrote {
            self.streaks.remove(request);
            return None;
        }
        if self.streaks.len() >= self.sweep_at {
            self.streaks.retain(|_, streak| streak.goes_on(now));
            self.sweep_at = FIRST_SWEEP.max(self.streaks.len() * 2);
        }
        let streak = self.streaks.entry_ref(request).or_insert_with(|| Streak { length: 0, last: now });
        streak.length = if streak.goes_on(now) { streak.length.saturating_add(1) } else { 1 };
        streak.last = now;
        streak.length.is_multiple_of(WARN_EVERY).then_some(streak.length)
    }
}

impl Streak {
    fn goes_on(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last) <= CLOSE
    }
}

/// A loop by way of the API server turns in milliseconds; a person or another controller is rarely this quick, and never for long.
const CLOSE: Duration = Duration::from_secs(1);
/// No reconciler needs as many steps to a fixed point, each with a write.
const WARN_EVERY: u32 = 50;
const FIRST_SWEEP: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unbroken_run_of_writes_is_a_loop() {
        let mut loops = HotLoops::new();
        let mut now = Instant::now();
        let mut run = |wrote, wait| {
            now += wait;
            loops.observe(&"key", wrote, now)
        };
        let quick = Duration::from_millis(10);
        let warnings = |run: &mut dyn FnMut(bool, Duration) -> Option<u32>, times| {
            (0..times).filter_map(|_| run(true, quick)).collect::<Vec<_>>()
        };
        assert!(warnings(&mut run, 49).is_empty());
        assert_eq!(run(false, quick), None);
        assert!(warnings(&mut run, 49).is_empty());
        assert_eq!(run(true, CLOSE * 2), None);
        assert_eq!(warnings(&mut run, 99), [50, 100]);
    }

    #[test]
    fn requests_that_wrote_once_are_forgotten() {
        let mut loops = HotLoops::new();
        let start = Instant::now();
        for number in 0..100_000_u32 {
            loops.observe(&number, true, start + Duration::from_millis(10) * number);
        }
        assert!(loops.streaks.len() <= 2 * FIRST_SWEEP, "{}", loops.streaks.len());
    }
}
