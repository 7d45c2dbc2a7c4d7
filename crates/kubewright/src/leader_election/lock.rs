//! What candidates compete for.

use std::collections::BTreeMap;

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api,
    api::{ObjectMeta, PostParams},
};

use super::{LeaderElectionRecord, LockError, watch::LeaseWatch};

/// One record that several processes read and write, each replacing only what it has seen.
///
/// A lock of one's own goes into [`LeaseElector::with_lock`](super::LeaseElector::with_lock).
///
/// Source: client-go `resourcelock.Interface`.
pub trait Lock: Send + 'static {
    /// Reads the record. `None` if there is none yet.
    ///
    /// # Cancel safety
    /// This and the others are dropped when their time is over; a write may be carried out all the same.
    fn get(&mut self) -> impl Future<Output = Result<Option<LeaderElectionRecord>, LockError>> + Send;

    /// Writes the first record.
    ///
    /// # Errors
    /// [`LockError::Conflict`] if there is one.
    fn create(&mut self, record: &LeaderElectionRecord)
    -> impl Future<Output = Result<(), LockError>> + Send;

    /// Replaces the record that this lock has last read or written.
    ///
    /// # Errors
    /// [`LockError::Conflict`] if it is not the current one, without which there would be two leaders.
    fn update(&mut self, record: &LeaderElectionRecord)
    -> impl Future<Output = Result<(), LockError>> + Send;

    /// What the record is after each change, as early as it can be known. Read by who waits, and dropped by who leads.
    ///
    /// Only a hint: a candidate reads the record before it replaces it, and polls all the while. Default: no changes.
    fn watch(&self) -> BoxStream<'static, LeaderElectionRecord> {
        stream::pending().boxed()
    }

    /// What it is, in logs and errors.
    fn describe(&self) -> String;
}

/// A `Lease` of `coordination.k8s.io/v1`.
///
/// Source: client-go `resourcelock.LeaseLock`.
#[derive(Clone, Debug)]
pub struct LeaseLock {
    api: Api<Lease>,
    namespace: String,
    name: String,
    labels: BTreeMap<String, String>,
    /// As it was last read or written: an update keeps what others have put on it, and names its version.
    lease: Option<Lease>,
}

impl LeaseLock {
    /// The lease of this name. The holder writes `labels` on it; other labels stay.
    pub fn new(
        kube: kube::Client,
        namespace: impl Into<String>,
        name: impl Into<String>,
        labels: BTreeMap<String, String>,
    ) -> Self {
        let namespace = namespace.into();
        Self { api: Api::namespaced(kube, &namespace), namespace, name: name.into(), labels, lease: None }
    }

    fn with_record(&self, lease: Lease, record: &LeaderElectionRecord) -> Lease {
        let mut lease = Lease { spec: Some(record.to_spec()), ..lease };
        if !self.labels.is_empty() {
            let labels = lease.metadata.labels.get_or_insert_default();
            labels.extend(self.labels.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        lease
    }

    fn error(&self, verb: &'static str, error: kube::Error) -> LockError {
        match &error {
            kube::Error::Api(status) if status.is_conflict() || status.is_already_exists() => {
                LockError::Conflict
            }
            kube::Error::Api(status) if status.is_forbidden() => LockError::Forbidden {
                verb,
                resource: "leases.coordination.k8s.io",
                namespace: self.namespace.clone(),
                source: error.into(),
            },
            _ => LockError::Request { verb, source: error.into() },
        }
    }
}

impl Lock for LeaseLock {
    async fn get(&mut self) -> Result<Option<LeaderElectionRecord>, LockError> {
        let lease = self.api.get_opt(&self.name).await.map_err(|error| self.error("get", error))?;
        let record = lease.as_ref().map(LeaderElectionRecord::of);
        self.lease = lease;
        Ok(record)
    }

    async fn create(&mut self, record: &LeaderElectionRecord) -> Result<(), LockError> {
        let metadata = ObjectMeta {
            name: Some(self.name.clone()),
            namespace: Some(self.namespace.clone()),
            ..ObjectMeta::default()
        };
        let lease = self.with_record(Lease { metadata, spec: None }, record);
        let created = self.api.create(&PostParams::default(), &lease).await;
        self.lease = Some(created.map_err(|error| self.error("create", error))?);
        Ok(())
    }

    async fn update(&mut self, record: &LeaderElectionRecord) -> Result<(), LockError> {
        // Without a version this would be an update of whatever is there.
        let Some(lease) = &self.lease else { return Err(LockError::Conflict) };
        let lease = self.with_record(lease.clone(), record);
        let updated = self.api.replace(&self.name, &PostParams::default(), &lease).await;
        self.lease = Some(updated.map_err(|error| self.error("update", error))?);
        Ok(())
    }

    fn watch(&self) -> BoxStream<'static, LeaderElectionRecord> {
        LeaseWatch::changes(self.api.clone(), self.name.clone())
    }

    fn describe(&self) -> String {
        format!("lease {}/{}", self.namespace, self.name)
    }
}
