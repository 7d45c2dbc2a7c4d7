//! How a process takes part in an election.

use std::{collections::BTreeMap, io, path::Path, time::Duration};

use uuid::Uuid;

use super::{LeaderElectionError, turn::JITTER_FACTOR};

/// How a process takes part in an election.
///
/// Source: controller-runtime `manager.Options`, the fields whose names begin with `LeaderElection`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeaderElection {
    /// The name of the lease, the same for all replicas and for nobody else.
    pub id: String,

    /// Where the lease is. Default: `None`, the namespace that the process runs in.
    pub namespace: Option<String>,

    /// Who this process is; no other may have the same. Default: `None`, `<hostname>_<uuid>`.
    pub identity: Option<String>,

    /// Labels that the holder writes on the lease. Default: empty.
    pub labels: BTreeMap<String, String>,

    /// Whether another process may lead at once when this one has stopped.
    ///
    /// Default: `true`.
    ///
    /// # Differences from Go
    /// Upstream's default is `false`, since work may still run when its manager releases the lease. Ours releases it when all work has ended.
    pub release_on_cancel: bool,

    /// How long the others wait, after the last renewal that they observed, before they try to take the lease.
    ///
    /// Default: 15 s. Whole seconds, and more than `renew_deadline`.
    pub lease_duration: Duration,

    /// How long after the last renewal this process leads; it has to renew in this time. A request may take half of it, and at least 1 s.
    ///
    /// Default: 10 s. More than 1.2 times `retry_period`.
    pub renew_deadline: Duration,

    /// How long the holder waits between renewals. Others wait for 1 to 2.2 times as long between their attempts.
    ///
    /// Default: 2 s.
    pub retry_period: Duration,
}

impl LeaderElection {
    /// An election for the lease of this name.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            namespace: None,
            identity: None,
            labels: BTreeMap::new(),
            release_on_cancel: true,
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }

    /// Source: client-go `leaderelection.NewLeaderElector`, and controller-runtime's `NewResourceLock` for the name.
    ///
    /// # Differences from Go
    /// A lease holds whole seconds. client-go cuts the rest off, after which others may wait for less than the deadline.
    pub(super) fn validate(&self) -> Result<(), LeaderElectionError> {
        let rules = [
            (!self.id.is_empty(), "the id must be configured"),
            (self.identity.as_deref() != Some(""), "the identity is empty"),
            (self.lease_duration > self.renew_deadline, "lease_duration must be greater than renew_deadline"),
            (
                self.renew_deadline > self.retry_period.mul_f64(JITTER_FACTOR),
                "renew_deadline must be greater than retry_period * 1.2",
            ),
            (!self.retry_period.is_zero(), "retry_period must be greater than zero"),
            (self.lease_duration.subsec_nanos() == 0, "lease_duration must be whole seconds"),
            (i32::try_from(self.lease_duration.as_secs()).is_ok(), "lease_duration is too long"),
        ];
        rules
            .iter()
            .find(|(holds, _)| !holds)
            .map_or(Ok(()), |(_, rule)| Err(LeaderElectionError::Invalid(rule)))
    }

    pub(super) fn namespace(&self) -> Result<String, LeaderElectionError> {
        match self.namespace.as_deref() {
            Some(namespace) if !namespace.is_empty() => Ok(namespace.to_owned()),
            _ => namespace_in(Path::new(NAMESPACE_FILE)).map_err(LeaderElectionError::Namespace),
        }
    }

    pub(super) fn identity(&self) -> String {
        self.identity.clone().unwrap_or_else(|| {
            let host = hostname::get().unwrap_or_default();
            format!("{}_{}", host.to_string_lossy(), Uuid::new_v4())
        })
    }
}

fn namespace_in(file: &Path) -> io::Result<String> {
    let namespace = std::fs::read_to_string(file)?;
    let namespace = namespace.trim();
    if namespace.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{} is empty", file.display())));
    }
    Ok(namespace.to_owned())
}

/// What Kubernetes puts into every pod that has a service account.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

#[cfg(test)]
mod tests {
    use super::*;

    fn said(change: impl FnOnce(&mut LeaderElection)) -> Option<String> {
        let mut election = LeaderElection::new("a");
        change(&mut election);
        election.validate().err().map(|error| error.to_string())
    }

    #[test]
    fn durations_fit_each_other_as_in_go() {
        type Change = fn(&mut LeaderElection);
        let seconds = Duration::from_secs;
        assert_eq!(said(|_| {}), None);
        let refused: [(&str, Change); 6] = [
            ("the id must be configured", |it| it.id.clear()),
            ("the identity is empty", |it| it.identity = Some(String::new())),
            ("lease_duration must be greater than renew_deadline", |it| {
                it.lease_duration = it.renew_deadline;
            }),
            ("renew_deadline must be greater than retry_period * 1.2", |it| {
                it.renew_deadline = it.retry_period.mul_f64(1.2);
            }),
            ("retry_period must be greater than zero", |it| it.retry_period = Duration::ZERO),
            ("lease_duration must be whole seconds", |it| it.lease_duration = Duration::from_millis(15_500)),
        ];
        for (rule, change) in refused {
            assert_eq!(said(change), Some(format!("invalid leader election: {rule}")));
        }
        assert_eq!(
            said(|it| {
                (it.lease_duration, it.renew_deadline, it.retry_period) =
                    (seconds(60), seconds(40), seconds(5));
            }),
            None
        );
    }

    #[test]
    fn two_processes_of_one_host_are_not_the_same() {
        let election = LeaderElection::new("a");
        let (one, other) = (election.identity(), election.identity());
        assert_ne!(one, other);
        let (_, uuid) = one.rsplit_once('_').unwrap();
        assert_eq!(Uuid::parse_str(uuid).unwrap().get_version_num(), 4);
    }

    #[test]
    fn outside_of_a_cluster_the_namespace_has_to_be_said() {
        assert!(namespace_in(Path::new("/nonexistent/namespace")).is_err());
        let mut election = LeaderElection::new("a");
        election.namespace = Some("b".into());
        assert_eq!(election.namespace().unwrap(), "b");
    }
}
