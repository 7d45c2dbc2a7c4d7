//! Notices requests whose own writes wake them again, without end, and brakes those that write in vain.

use std::time::Duration;

use hashbrown::HashMap;
use tokio::time::Instant;

use crate::{client::WritesOfTask, reconcile::RequestType};

/// Counts, for each request, the reconciles in a row that wrote something and came right after each other.
///
/// A reconciler that writes a timestamp, or a list in another order each time, changes its object at every run, and every change is an
/// event: it is told so. But so does one that writes a status at each of many events of others, which is no fault: neither is slowed down.
/// Writes that change nothing make no event and do not count. A request that did not write in its last run takes no memory.
///
/// A run whose write the API server prunes or defaults back is another matter: it will never come to an end. From the 50th such run on, each is
/// followed by a pause: 100 ms, twice as long after each further 50 runs, up to 30 s. So a loop comes down from thousands of runs a minute
/// to two.
#[derive(Debug)]
pub(super) struct HotLoops<R> {
    streaks: HashMap<R, Streak>,
    sweep_at: usize,
}

#[derive(Debug)]
struct Streak {
    length: u32,
    /// How many of the last runs, in a row, wrote something that was not kept.
    in_vain: u32,
    /// Until when the request is held back; without a pause, when its last run ended.
    until: Instant,
}

/// A loop that is worth a warning.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HotLoop {
    /// How many runs there have been.
    pub(super) reconciles: u32,
    /// How long the request is held back after each of the next runs.
    pub(super) pause: Option<Duration>,
}

impl<R: RequestType> HotLoops<R> {
    pub(super) fn new() -> Self {
        Self { streaks: HashMap::new(), sweep_at: FIRST_SWEEP }
    }

    /// Takes note of a reconcile that ended at `now`; tells of the loop each time that it is worth a warning.
    pub(super) fn observe(&mut self, request: &R, writes: &WritesOfTask, now: Instant) -> Option<HotLoop> {
        if !writes.changed {
            self.streaks.remove(request);
            return None;
        }
        if self.streaks.len() >= self.sweep_at {
            self.streaks.retain(|_, streak| streak.goes_on(now));
            self.sweep_at = FIRST_SWEEP.max(self.streaks.len() * 2);
        }
        let streak = self.streaks.entry_ref(request).or_insert_with(|| Streak::starting_at(now));
        if !streak.goes_on(now) {
            *streak = Streak::starting_at(now);
        }
        streak.add_run(writes.lacking.is_some(), now)
    }

    /// How long after `now` the request is held back still, if it is.
    pub(super) fn pause(&self, request: &R, now: Instant) -> Option<Duration> {
        let pause = self.streaks.get(request)?.until.saturating_duration_since(now);
        (!pause.is_zero()).then_some(pause)
    }
}

impl Streak {
    fn starting_at(now: Instant) -> Self {
        Self { length: 0, in_vain: 0, until: now }
    }

    fn goes_on(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.until) <= CLOSE
    }

    fn add_run(&mut self, in_vain: bool, now: Instant) -> Option<HotLoop> {
        self.length = self.length.saturating_add(1);
        self.in_vain = if in_vain { self.in_vain.saturating_add(1) } else { 0 };
        let pause = pause_after(self.in_vain);
        self.until = now + pause.unwrap_or_default();
        let is_worth_a_warning = match pause {
            Some(_) => self.in_vain.is_multiple_of(STEP),
            // It may be in order, and go on for days.
            None => self.length.is_multiple_of(STEP) && (self.length / STEP).is_power_of_two(),
        };
        is_worth_a_warning.then_some(HotLoop { reconciles: self.length, pause })
    }
}

impl HotLoop {
    /// `lacking`: the field that the answer to a write lacked.
    pub(super) fn log(&self, lacking: Option<&str>) {
        let Self { reconciles, pause } = self;
        if let Some(pause) = pause {
            tracing::warn!(
                reconciles,
                ?pause,
                field = lacking,
                "every reconcile writes what the API server does not keep, and wakes this request again: a hot loop, which is slowed down"
            );
        } else {
            tracing::warn!(
                reconciles,
                "every reconcile writes something, and this request comes again at once: does it wake itself?"
            );
        }
    }
}

fn pause_after(runs_in_vain: u32) -> Option<Duration> {
    let doublings = (runs_in_vain / STEP).checked_sub(1)?;
    Some(FIRST_PAUSE.saturating_mul(1 << doublings.min(16)).min(LONGEST_PAUSE))
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

    fn nothing() -> WritesOfTask {
        WritesOfTask::default()
    }

    fn kept() -> WritesOfTask {
        WritesOfTask { changed: true, lacking: None }
    }

    fn in_vain() -> WritesOfTask {
        WritesOfTask { changed: true, lacking: Some("spec.colour".to_owned()) }
    }

    const QUICK: Duration = Duration::from_millis(10);

    /// One request and its time.
    struct Runs {
        loops: HotLoops<&'static str>,
        now: Instant,
    }

    impl Runs {
        fn new() -> Self {
            Self { loops: HotLoops::new(), now: Instant::now() }
        }

        fn run(&mut self, writes: &WritesOfTask, wait: Duration) -> Option<HotLoop> {
            self.now += wait + self.loops.pause(&"key", self.now).unwrap_or_default();
            self.loops.observe(&"key", writes, self.now)
        }

        fn warnings(&mut self, writes: &WritesOfTask, times: u32) -> Vec<u32> {
            (0..times).filter_map(|_| self.run(writes, QUICK)).map(|it| it.reconciles).collect()
        }
    }

    #[test]
    fn only_an_unbroken_run_of_writes_is_a_loop() {
        for writes in [kept(), in_vain()] {
            let mut runs = Runs::new();
            assert!(runs.warnings(&writes, 49).is_empty());
            assert_eq!(runs.run(&nothing(), QUICK), None);
            assert!(runs.warnings(&writes, 49).is_empty());
            assert_eq!(runs.run(&writes, CLOSE * 2), None);
            assert_eq!(runs.warnings(&writes, 99), [50, 100]);
        }
    }

    #[test]
    fn a_request_whose_writes_are_kept_is_never_held_back_and_warned_of_ever_more_rarely() {
        let mut runs = Runs::new();
        let start = runs.now;
        assert_eq!(runs.warnings(&kept(), 1_000), [50, 100, 200, 400, 800]);
        assert_eq!(runs.now - start, QUICK * 1_000);
    }

    #[test]
    fn a_write_that_is_kept_ends_the_brake() {
        let mut runs = Runs::new();
        runs.warnings(&in_vain(), 100);
        assert!(runs.loops.pause(&"key", runs.now).is_some());
        runs.run(&kept(), QUICK);
        assert_eq!(runs.loops.pause(&"key", runs.now), None);
    }

    #[test]
    fn pauses_double_up_to_their_bound_and_end_with_the_loop() {
        let mut runs = Runs::new();
        let mut pauses = Vec::new();
        for _ in 0..100_000 {
            pauses.extend(runs.run(&in_vain(), QUICK).and_then(|it| it.pause));
            assert_eq!(runs.loops.pause(&"other", runs.now), None);
        }
        assert_eq!(pauses[..4], [100, 200, 400, 800].map(Duration::from_millis));
        assert_eq!(pauses.last(), Some(&LONGEST_PAUSE));
        runs.run(&nothing(), QUICK);
        assert_eq!(runs.loops.pause(&"key", runs.now), None);
    }

    #[test]
    fn requests_that_wrote_once_are_forgotten() {
        let mut loops = HotLoops::new();
        let start = Instant::now();
        for number in 0..100_000_u32 {
            loops.observe(&number, &kept(), start + QUICK * number);
        }
        assert!(loops.streaks.len() <= 2 * FIRST_SWEEP, "{}", loops.streaks.len());
    }
}
