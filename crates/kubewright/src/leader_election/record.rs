//! What a lease says.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};

/// Who leads, since when, and for how long without a renewal.
///
/// The times are for people: nobody compares them with a clock of its own.
///
/// Source: client-go `resourcelock.LeaderElectionRecord`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaderElectionRecord {
    /// Who leads. Empty: nobody, the lease is free.
    pub holder_identity: String,
    /// How long others wait after the last renewal that they observed. Whole seconds.
    pub lease_duration: Duration,
    /// When the holder became the leader.
    pub acquire_time: Option<Timestamp>,
    /// When the holder last renewed.
    pub renew_time: Option<Timestamp>,
    /// How often the leadership went from one to another.
    pub leader_transitions: i32,
}

impl LeaderElectionRecord {
    /// What a lease holds.
    pub(super) fn of(lease: &Lease) -> Self {
        lease.spec.as_ref().map(Self::from_spec).unwrap_or_default()
    }

    /// What is missing, or makes no sense, is as if the lease were free: no content of a lease stops an election.
    fn from_spec(spec: &LeaseSpec) -> Self {
        let seconds = spec.lease_duration_seconds.unwrap_or(0);
        Self {
            holder_identity: spec.holder_identity.clone().unwrap_or_default(),
            lease_duration: Duration::from_secs(u64::try_from(seconds).unwrap_or(0)),
            acquire_time: spec.acquire_time.as_ref().map(|time| time.0),
            renew_time: spec.renew_time.as_ref().map(|time| time.0),
            leader_transitions: spec.lease_transitions.unwrap_or(0),
        }
    }

    /// As client-go writes it: whoever releases a lease leaves an empty holder, not none.
    pub(super) fn to_spec(&self) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(self.holder_identity.clone()),
            lease_duration_seconds: Some(i32::try_from(self.lease_duration.as_secs()).unwrap_or(i32::MAX)),
            acquire_time: self.acquire_time.map(MicroTime),
            renew_time: self.renew_time.map(MicroTime),
            lease_transitions: Some(self.leader_transitions),
            ..LeaseSpec::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_the_lease() {
        let record = LeaderElectionRecord {
            holder_identity: "a".into(),
            lease_duration: Duration::from_secs(15),
            acquire_time: Some(Timestamp::UNIX_EPOCH),
            renew_time: Some(Timestamp::from_microsecond(1_500_000).unwrap()),
            leader_transitions: 3,
        };
        assert_eq!(LeaderElectionRecord::from_spec(&record.to_spec()), record);
    }

    #[test]
    fn no_content_of_a_lease_panics() {
        let odd = LeaseSpec { lease_duration_seconds: Some(-5), ..LeaseSpec::default() };
        for spec in [LeaseSpec::default(), odd] {
            assert_eq!(LeaderElectionRecord::from_spec(&spec), LeaderElectionRecord::default());
        }
    }

    #[test]
    fn times_are_written_as_go_writes_micro_times() {
        let record = LeaderElectionRecord {
            renew_time: Some(Timestamp::from_nanosecond(1_500_000_789).unwrap()),
            ..LeaderElectionRecord::default()
        };
        let spec = serde_json::to_value(record.to_spec()).unwrap();
        assert_eq!(spec["renewTime"], "1970-01-01T00:00:01.500000Z");
    }
}
