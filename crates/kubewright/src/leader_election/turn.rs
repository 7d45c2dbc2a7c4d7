//! When a candidate that does not lead tries again.

use std::time::Duration;

use fastrand::Rng;

use super::{LeaderElectionRecord, candidate::Candidate};

/// One wait between two attempts. As [`Candidate`], it knows neither clocks nor sockets.
///
/// It ends with the next poll, or earlier: when the lease that somebody else holds runs out, or when a watch says that it was given up. What a
/// watch says is only an observation, made earlier than the next poll would; whoever tries reads the lease first.
#[derive(Debug)]
pub(super) struct Turn {
    began: Duration,
    poll: Duration,
    /// Candidates that see the same moment come one after the other, and most of them see that somebody was faster.
    spread: Duration,
    given_up: Option<Duration>,
}

impl Turn {
    pub(super) fn new(now: Duration, retry_period: Duration, rng: &mut Rng) -> Self {
        Self {
            began: now,
            poll: now + retry_period.mul_f64(1.0 + JITTER_FACTOR * rng.f64()),
            spread: SPREAD.mul_f64(rng.f64()),
            given_up: None,
        }
    }

    /// A watch says that the lease holds this. What was known before is no news, however often a watch repeats it.
    pub(super) fn hear(&mut self, candidate: &mut Candidate, record: LeaderElectionRecord, now: Duration) {
        if candidate.overhear(record, now) {
            self.given_up = candidate.observed().holder_identity.is_empty().then_some(now);
        }
    }

    /// When to try.
    pub(super) fn at(&self, candidate: &Candidate) -> Duration {
        // What had run out before this wait began was tried then, in vain.
        let expires = candidate.expires().filter(|expires| *expires > self.began);
        let opens = self.given_up.or(expires);
        opens.map_or(self.poll, |opens| self.poll.min(opens + self.spread))
    }
}

/// Source: client-go `leaderelection.JitterFactor`.
pub(super) const JITTER_FACTOR: f64 = 1.2;

const SPREAD: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::leader_election::candidate::{Answer, Request};

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn held_by(holder: &str, renewals: i64) -> LeaderElectionRecord {
        LeaderElectionRecord {
            holder_identity: holder.into(),
            lease_duration: seconds(15),
            renew_time: Timestamp::from_second(renewals).ok(),
            ..LeaderElectionRecord::default()
        }
    }

    /// A candidate that has read this at 100 s, and its wait that began at `began`.
    fn waiting(record: LeaderElectionRecord, began: u64) -> (Candidate, Turn) {
        let (mut candidate, now) = (Candidate::new("a".into(), seconds(15), seconds(10)), seconds(100));
        candidate.answered(Request::Get, Answer::Found(record), now, now, Timestamp::UNIX_EPOCH);
        (candidate, Turn::new(seconds(began), seconds(2), &mut Rng::with_seed(7)))
    }

    #[track_caller]
    fn check(turn: &Turn, candidate: &Candidate, from: Duration, to: Duration) {
        let at = turn.at(candidate);
        assert!(at >= from && at <= to, "{at:?}");
    }

    #[test]
    fn it_polls_as_client_go_does() {
        let (candidate, turn) = waiting(held_by("b", 0), 100);
        check(&turn, &candidate, seconds(102), Duration::from_millis(104_400));
    }

    #[test]
    fn a_lease_is_tried_when_it_runs_out() {
        let (candidate, turn) = waiting(held_by("b", 0), 114);
        check(&turn, &candidate, seconds(115), seconds(115) + SPREAD);
        // Tried in vain.
        let (candidate, turn) = waiting(held_by("b", 0), 115);
        check(&turn, &candidate, seconds(117), seconds(120));
    }

    #[test]
    fn a_renewal_that_is_heard_of_is_waited_for() {
        let (mut candidate, mut turn) = waiting(held_by("b", 0), 114);
        turn.hear(&mut candidate, held_by("b", 1), Duration::from_millis(114_500));
        check(&turn, &candidate, seconds(116), seconds(119));
        assert_eq!(candidate.expires(), Some(Duration::from_millis(129_500)));
    }

    #[test]
    fn a_lease_that_was_given_up_is_tried_soon_unless_somebody_was_faster() {
        let (mut candidate, mut turn) = waiting(held_by("b", 0), 100);
        turn.hear(&mut candidate, held_by("", 1), seconds(101));
        check(&turn, &candidate, seconds(101), seconds(101) + SPREAD);
        turn.hear(&mut candidate, held_by("c", 2), seconds(101));
        check(&turn, &candidate, seconds(102), seconds(105));
    }

    /// A lease that may be read and not written must not be tried without a pause.
    #[test]
    fn what_is_known_is_no_news() {
        let (mut candidate, mut turn) = waiting(held_by("", 1), 100);
        turn.hear(&mut candidate, held_by("", 1), seconds(101));
        check(&turn, &candidate, seconds(102), seconds(105));
    }
}
