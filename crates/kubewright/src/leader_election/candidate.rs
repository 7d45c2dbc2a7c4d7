//! The rules of an election: one candidate, as a state machine that knows neither clocks nor sockets.
//!
//! Every `now` is the candidate's own monotonic clock, as the time since a start that only this candidate knows. Wall time is written and never
//! read, so clocks may be set to anything.
//!
//! Why two never lead: others wait for the whole lease duration after they *observed* a renewal, which they cannot do before it was *sent*; the holder
//! stops `renew_deadline` after it sent the last renewal that was acknowledged. So the holder has stopped as long as no clock runs faster than
//! another by more than `lease_duration / renew_deadline`, 1.5 by default.

use std::time::Duration;

use jiff::Timestamp;

use super::LeaderElectionRecord;

/// What a candidate knows of the lease.
#[derive(Debug)]
pub(super) struct Candidate {
    identity: String,
    lease_duration: Duration,
    renew_deadline: Duration,
    observed: LeaderElectionRecord,
    observed_at: Duration,
    /// Whether the lock holds the version of something else than what was observed.
    overheard: bool,
    /// When the last write was sent that made or kept this candidate the holder.
    acknowledged: Option<Duration>,
}

/// What to send next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Get,
    Create(LeaderElectionRecord),
    /// Replace what was observed last, unseen.
    Renew(LeaderElectionRecord),
    /// Replace what was just read.
    Update(LeaderElectionRecord),
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Found(LeaderElectionRecord),
    NotFound,
    Written,
    /// Refused or lost: nobody knows whether it was carried out.
    Failed,
}

/// What follows from an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Send(Request),
    /// This candidate leads until its [`deadline`](Candidate::deadline).
    Leads,
    /// Somebody else does.
    Held,
    /// Nothing is known; try again later.
    Failed,
}

impl Candidate {
    pub(super) fn new(identity: String, lease_duration: Duration, renew_deadline: Duration) -> Self {
        Self {
            identity,
            lease_duration,
            renew_deadline,
            observed: LeaderElectionRecord::default(),
            observed_at: Duration::ZERO,
            overheard: false,
            acknowledged: None,
        }
    }

    /// The first request of an attempt to acquire or to renew.
    ///
    /// The holder replaces what it wrote last without reading it: one request for a renewal.
    pub(super) fn begin(&self, now: Duration, wall: Timestamp) -> Request {
        if self.is_holder() && self.is_valid(now) && !self.overheard {
            Request::Renew(self.claim(wall))
        } else {
            Request::Get
        }
    }

    /// What to do with the answer to a request that was sent at `sent`.
    pub(super) fn answered(
        &mut self,
        request: Request,
        answer: Answer,
        sent: Duration,
        now: Duration,
        wall: Timestamp,
    ) -> Next {
        match (request, answer) {
            (Request::Get, Answer::Found(record)) => {
                self.observe(record, now);
                if self.is_held_by_another(now) {
                    Next::Held
                } else {
                    Next::Send(Request::Update(self.claim(wall)))
                }
            }
            // Whoever deletes a lease does not stop its holder.
            (Request::Get, Answer::NotFound) if self.is_held_by_another(now) => Next::Held,
            (Request::Get, Answer::NotFound) => Next::Send(Request::Create(self.claim(wall))),
            (Request::Create(record) | Request::Renew(record) | Request::Update(record), Answer::Written) => {
                self.observe(record, now);
                self.acknowledged = Some(sent);
                // An answer that took too long, or found this process asleep, says nothing of today.
                if self.leads(now) { Next::Leads } else { Next::Failed }
            }
            // Somebody has written in between, or the answer to an earlier write was lost.
            (Request::Renew(_), Answer::Failed) => Next::Send(Request::Get),
            _ => Next::Failed,
        }
    }

    /// When this candidate has to have stopped. `None` if it never led.
    ///
    /// # Differences from Go
    /// client-go counts from the start of the next round of renewals, up to a slow answer and a retry period later.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.acknowledged.map(|sent| sent + self.renew_deadline)
    }

    pub(super) fn leads(&self, now: Duration) -> bool {
        self.deadline().is_some_and(|deadline| now < deadline)
    }

    /// When the lease of somebody else runs out, as far as this candidate can tell.
    pub(super) fn expires(&self) -> Option<Duration> {
        let held = !self.observed.holder_identity.is_empty() && !self.is_holder();
        // The holder's own duration: that of this candidate may be shorter.
        held.then(|| self.observed_at + self.observed.lease_duration)
    }

    pub(super) fn observed(&self) -> &LeaderElectionRecord {
        &self.observed
    }

    /// What to write over `stored` so that others need not wait. `None` if it is not this candidate's to give up.
    pub(super) fn release(
        &mut self,
        stored: &LeaderElectionRecord,
        wall: Timestamp,
    ) -> Option<LeaderElectionRecord> {
        self.acknowledged = None;
        (stored.holder_identity == self.identity).then(|| LeaderElectionRecord {
            holder_identity: String::new(),
            lease_duration: Duration::from_secs(1),
            acquire_time: Some(wall),
            renew_time: Some(wall),
            leader_transitions: stored.leader_transitions,
        })
    }

    /// Takes note of what the lease holds without having read it, and says whether that is news.
    ///
    /// It may be late or out of order: it can only put off the moment at which a lease that is there runs out.
    pub(super) fn overhear(&mut self, record: LeaderElectionRecord, now: Duration) -> bool {
        let is_news = self.observed != record;
        if is_news {
            self.observe(record, now);
            self.overheard = true;
        }
        is_news
    }

    fn observe(&mut self, record: LeaderElectionRecord, now: Duration) {
        self.overheard = false;
        if self.observed != record {
            self.observed = record;
            self.observed_at = now;
        }
    }

    fn is_held_by_another(&self, now: Duration) -> bool {
        self.expires().is_some_and(|expires| now < expires)
    }

    fn is_holder(&self) -> bool {
        self.observed.holder_identity == self.identity
    }

    fn is_valid(&self, now: Duration) -> bool {
        now < self.observed_at + self.observed.lease_duration
    }

    fn claim(&self, wall: Timestamp) -> LeaderElectionRecord {
        let transitions = self.observed.leader_transitions;
        let (acquire_time, leader_transitions) = match self.observed.acquire_time {
            since if self.is_holder() => (since, transitions),
            // Nobody has ever held it.
            None if self.observed == LeaderElectionRecord::default() => (Some(wall), 0),
            _ => (Some(wall), transitions.saturating_add(1)),
        };
        LeaderElectionRecord {
            holder_identity: self.identity.clone(),
            lease_duration: self.lease_duration,
            acquire_time,
            renew_time: Some(wall),
            leader_transitions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENEW_DEADLINE: Duration = Duration::from_secs(10);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn candidate() -> Candidate {
        Candidate::new("a".into(), seconds(15), RENEW_DEADLINE)
    }

    fn held_by(holder: &str, lease_duration: u64) -> LeaderElectionRecord {
        LeaderElectionRecord {
            holder_identity: holder.into(),
            lease_duration: seconds(lease_duration),
            leader_transitions: 4,
            ..LeaderElectionRecord::default()
        }
    }

    fn reads(candidate: &mut Candidate, record: &LeaderElectionRecord, now: u64) -> Next {
        let now = seconds(now);
        candidate.answered(Request::Get, Answer::Found(record.clone()), now, now, Timestamp::UNIX_EPOCH)
    }

    /// Wins an empty lock; the answer takes a second.
    fn leader(sent: u64) -> Candidate {
        let mut candidate = candidate();
        let (sent, wall) = (seconds(sent), Timestamp::UNIX_EPOCH);
        assert_eq!(candidate.begin(sent, wall), Request::Get);
        let Next::Send(create) = candidate.answered(Request::Get, Answer::NotFound, sent, sent, wall) else {
            panic!("nobody holds it")
        };
        assert_eq!(candidate.answered(create, Answer::Written, sent, sent + seconds(1), wall), Next::Leads);
        candidate
    }

    #[test]
    fn a_lease_runs_out_by_the_duration_of_its_holder() {
        let (mut candidate, record) = (candidate(), held_by("b", 60));
        assert_eq!(reads(&mut candidate, &record, 100), Next::Held);
        assert_eq!(candidate.expires(), Some(seconds(160)));
        assert_eq!(reads(&mut candidate, &record, 159), Next::Held);
        let Next::Send(Request::Update(claim)) = reads(&mut candidate, &record, 160) else {
            panic!("it ran out")
        };
        assert_eq!((&*claim.holder_identity, claim.leader_transitions), ("a", 5));
    }

    #[test]
    fn every_change_of_a_lease_is_a_renewal_whatever_its_times_say() {
        let (mut candidate, mut record) = (candidate(), held_by("b", 15));
        for now in [0, 14, 28] {
            record.renew_time = Some(Timestamp::UNIX_EPOCH - seconds(now));
            assert_eq!(reads(&mut candidate, &record, now), Next::Held);
        }
        assert_eq!(reads(&mut candidate, &record, 42), Next::Held);
    }

    #[test]
    fn a_released_lease_is_taken_at_once() {
        let released = held_by("", 1);
        assert!(matches!(reads(&mut candidate(), &released, 0), Next::Send(Request::Update(_))));
    }

    #[test]
    fn the_deadline_counts_from_when_the_renewal_was_sent() {
        let candidate = leader(100);
        assert_eq!(candidate.deadline(), Some(seconds(110)));
        assert!(candidate.leads(seconds(109)));
        assert!(!candidate.leads(seconds(110)));
    }

    #[test]
    fn an_answer_that_took_too_long_makes_no_leader() {
        let mut candidate = leader(100);
        let (wall, renewal) = (Timestamp::UNIX_EPOCH, candidate.begin(seconds(102), Timestamp::UNIX_EPOCH));
        assert_eq!(
            candidate.answered(renewal, Answer::Written, seconds(102), seconds(112), wall),
            Next::Failed
        );
    }

    #[test]
    fn a_renewal_is_one_request_and_keeps_since_when() {
        let later = Timestamp::UNIX_EPOCH + seconds(2);
        let Request::Renew(renewal) = leader(100).begin(seconds(102), later) else {
            panic!("it is the holder")
        };
        assert_eq!(renewal.acquire_time, Some(Timestamp::UNIX_EPOCH));
        assert_eq!((renewal.renew_time, renewal.leader_transitions), (Some(later), 0));
    }

    #[test]
    fn a_write_whose_answer_was_lost_is_found_and_kept() {
        let mut candidate = candidate();
        let mine = LeaderElectionRecord { leader_transitions: 5, ..held_by("a", 15) };
        let Next::Send(Request::Update(claim)) = reads(&mut candidate, &mine, 3) else {
            panic!("it is its own")
        };
        assert_eq!(claim.leader_transitions, 5);
    }

    /// An old event says that it leads; the lock holds the version at which somebody else does.
    #[test]
    fn what_was_overheard_is_read_before_it_is_replaced() {
        let (mut candidate, wall) = (candidate(), Timestamp::UNIX_EPOCH);
        assert_eq!(reads(&mut candidate, &held_by("b", 15), 100), Next::Held);
        assert!(candidate.overhear(held_by("a", 15), seconds(101)));
        assert_eq!(candidate.begin(seconds(102), wall), Request::Get);
        assert_eq!(reads(&mut candidate, &held_by("b", 15), 102), Next::Held);
        assert_eq!(candidate.expires(), Some(seconds(117)));
    }

    #[test]
    fn a_lease_that_was_deleted_is_waited_for_and_keeps_its_number() {
        let (mut candidate, wall) = (candidate(), Timestamp::UNIX_EPOCH);
        assert_eq!(reads(&mut candidate, &held_by("b", 15), 100), Next::Held);
        let mut finds_nothing = |now| {
            let now = seconds(now);
            candidate.answered(Request::Get, Answer::NotFound, now, now, wall)
        };
        assert_eq!(finds_nothing(114), Next::Held);
        let Next::Send(Request::Create(claim)) = finds_nothing(115) else { panic!("it ran out") };
        assert_eq!(claim.leader_transitions, 5);
    }

    #[test]
    fn what_somebody_else_holds_is_not_released() {
        let (mut candidate, wall) = (leader(100), Timestamp::UNIX_EPOCH);
        assert_eq!(candidate.release(&held_by("b", 15), wall), None);
        assert!(!candidate.leads(seconds(101)));
        let released = candidate.release(&held_by("a", 15), wall).unwrap();
        assert_eq!(released.lease_duration, seconds(1));
        assert_eq!((&*released.holder_identity, released.leader_transitions), ("", 4));
    }
}
