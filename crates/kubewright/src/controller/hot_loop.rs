//! Notices requests whose own writes wake them again, without end, and brakes them.

use std::time::Duration;

use hashbrown::HashMap;
use tokio::time::Instant;

use crate::reconcile::RequestType;

/// Counts, for each request, the reconciles in a row that wrote something and came right after each other.
///
/// A reconciler that writes a timestamp, or a list in another order each time, changes its object at every run, and every change is an
/// event; so does one whose write the API server prunes or defaults back. Writes that change nothing make no event and do not count. A request
/// that did not write in its last run takes no memory.
///
/// From the 50th run on, each run is followed by a pause: 100 ms, twice as long after each further 50 runs, up to 30 s. A reconciler that takes
/// many honest steps, each with a write, hardly feels it; a loop comes down from thousands of runs a minute to two.
#[derive(Debug)]
pub(super) struct HotLoops<R> {
    streaks: HashMap<R, Streak>,
    sweep_at: usize,
}

#[derive(Debug)]
struct Streak {
    length: u32,
    /// Until when the request is held back; without a pause, when its last run ended.
    until: Instant,
}

/// A loop that is worth a warning.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HotLoop {
    /// How many runs there have been.
    pub(super) reconciles: u32,
    /// How long the request is held back after each of the next runs.
    pub(super) pause: Duration,
}

impl<R: RequestType> HotLoops<R> {
    pub(super) fn new() -> Self {
        Self { streaks: HashMap::new(), sweep_at: FIRST_SWEEP }
    }

    /// Takes note of a reconcile that ended at `now`; tells of the loop each time that it is worth a warning.
    pub(super) fn observe(&mut self, request: &R, wrote: bool, now: Instant) -> Option<HotLoop> {
        if !wrote {
            self.streaks.remove(request);
            return None;
        }
        if self.streaks.len() >= self.sweep_at {
            self.streaks.retain(|_, streak| streak.goes_on(now));
            self.sweep_at = FIRST_SWEEP.max(self.streaks.len() * 2);
        }
        let streak = self.streaks.entry_ref(request).or_insert_with(|| Streak { length: 0, until: now });
        streak.length = if streak.goes_on(now) { streak.length.saturating_add(1) } else { 1 };
        let pause = pause_after(streak.length);
        streak.until = now + pause;
        streak.length.is_multiple_of(STEP).then_some(HotLoop { reconciles: streak.length, pause })
    }

    /// How long after `now` the request is held back still, if it is.
    pub(super) fn pause(&self, request: &R, now: Instant) -> Option<Duration> {
        let pause = self.streaks.get(request)?.until.saturating_duration_since(now);
        (!pause.is_zero()).then_some(pause)
    }
}

impl Streak {
    fn goes_on(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.until) <= CLOSE
    }
}

fn pause_after(runs: u32) -> Duration {
    match (runs / STEP).checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => FIRST_PAUSE.saturating_mul(1 << doublings.min(16)).min(LONGEST_PAUSE),
    }
}

/// A loop by way of the API server turns in milliseconds; a person or another controller is rarely this quick, and never for long.
const CLOSE: Duration = Duration::from_secs(1);
/// Hardly a reconciler needs as many steps to a fixed point, each with a write.
const STEP: u32 = 50;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// A change of somebody else is noticed this late at worst.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const FIRST_SWEEP: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unbroken_run_of_writes_is_a_loop() {
        let mut loops = HotLoops::new();
        let mut now = Instant::now();
        let mut run = |wrote, wait| {
            now += wait + loops.pause(&"key", now).unwrap_or_default();
            loops.observe(&"key", wrote, now).map(|it| it.reconciles)
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
    fn pauses_double_up_to_their_bound_and_end_with_the_loop() {
        let mut loops = HotLoops::new();
        let start = Instant::now();
        let mut now = start;
        let mut pauses = Vec::new();
        for _ in 0..100_000 {
            if let Some(HotLoop { pause, .. }) = loops.observe(&"key", true, now) {
                pauses.push(pause.as_millis());
            }
            assert_eq!(loops.pause(&"other", now), None);
            now += Duration::from_millis(10) + loops.pause(&"key", now).unwrap_or_default();
        }
        assert_eq!(pauses[..4], [100, 200, 400, 800]);
        assert_eq!(pauses.last(), Some(&LONGEST_PAUSE.as_millis()));
        loops.observe(&"key", false, now);
        assert_eq!(loops.pause(&"key", now), None);
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
