//! An elector that competes for a lease.

use std::{fmt, time::Duration};

use futures::{Stream, StreamExt, stream};
use jiff::Timestamp;
use prometheus::IntGauge;
use tokio::time::{Instant, sleep_until, timeout};

use super::{
    Elector, LeaderElection, LeaderElectionError, LeaderElectionRecord, Leadership, LeaseLock, Lock,
    LockError,
    candidate::{Answer, Candidate, Next, Request},
    metrics::master_status,
    turn::Turn,
};
use crate::{
    BoxError, error,
    metrics::{self, Registry},
};

/// Competes for a lease, by the protocol of client-go.
///
/// A [`Manager`](crate::manager::Manager) has one for itself after
/// [`leader_election`](crate::manager::ManagerBuilder::leader_election). Electors of different leases know nothing of each other; a process may have many.
///
/// Every request has a time-out of its own, half of the renew deadline: one slow answer is not a loss. So that bulk traffic does not delay
/// renewals, it should have a client of its own.
///
/// Source: client-go `leaderelection.LeaderElector`, set up as by controller-runtime's `leaderelection.NewResourceLock`.
///
/// # Differences from Go
/// The deadline counts from when the last acknowledged renewal was sent, so that two never lead while clocks run at rates that client-go
/// promises to bear. It gives up at once when it reads that somebody else holds the lease. While it waits it watches the lease beside its polls, so
/// that it tries when the lease is given up or runs out and not some seconds later; without the right to watch leases it only polls. A lease that was
/// deleted is free when it would have run out, since its holder does not stop at once.
pub struct LeaseElector<L = LeaseLock> {
    lock: L,
    candidate: Candidate,
    /// Where the candidate's time starts.
    origin: Instant,
    next_attempt: Instant,
    request_timeout: Duration,
    last_error: Option<LockError>,
    options: LeaderElection,
    leadership: Leadership,
    status: IntGauge,
}

impl LeaseElector {
    /// An elector for the lease that `options` name. Makes no request.
    ///
    /// # Errors
    /// [`LeaderElectionError::Namespace`] outside of a cluster if the options name no namespace, [`LeaderElectionError::Invalid`] if they do not fit each
    /// other.
    pub fn new(kube: kube::Client, options: LeaderElection) -> Result<Self, LeaderElectionError> {
        options.validate()?;
        let lock = LeaseLock::new(kube, options.namespace()?, &options.id, options.labels.clone());
        Self::with_lock(lock, options)
    }
}

impl<L: Lock> LeaseElector<L> {
    /// An elector for another lock. Namespace and labels of the options are not used; the id names the metric.
    ///
    /// # Errors
    /// [`LeaderElectionError::Invalid`] if the options do not fit each other.
    pub fn with_lock(lock: L, options: LeaderElection) -> Result<Self, LeaderElectionError> {
        options.validate()?;
        let identity = options.identity();
        let now = Instant::now();
        Ok(Self {
            lock,
            candidate: Candidate::new(identity, options.lease_duration, options.renew_deadline),
            origin: now,
            next_attempt: now,
            request_timeout: (options.renew_deadline / 2).max(Duration::from_secs(1)),
            last_error: None,
            leadership: Leadership::default(),
            status: master_status(metrics::registry(), &options.id),
            options,
        })
    }

    /// Where `leader_election_master_status` is. Default: the process-wide [`metrics::registry`].
    pub fn measured_in(mut self, registry: &Registry) -> Self {
        self.status = master_status(registry, &self.options.id);
        self
    }

    /// What clients of leader-only work check before they write.
    pub fn leadership(&self) -> &Leadership {
        &self.leadership
    }

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    /// One attempt to acquire or to renew: up to three requests.
    async fn attempt(&mut self) -> Next {
        let mut request = self.candidate.begin(self.now(), Timestamp::now());
        loop {
            let sent = self.now();
            let answer = self.send(&request).await;
            let before = self.candidate.observed().holder_identity.clone();
            let next = self.candidate.answered(request, answer, sent, self.now(), Timestamp::now());
            self.report_transition(&before);
            match next {
                Next::Send(next) => request = next,
                end => return end,
            }
        }
    }

    async fn send(&mut self, request: &Request) -> Answer {
        let lock = &mut self.lock;
        let sent = async {
            Ok(match request {
                Request::Get => lock.get().await?.map_or(Answer::NotFound, Answer::Found),
                Request::Create(record) => lock.create(record).await.map(|()| Answer::Written)?,
                Request::Renew(record) | Request::Update(record) => {
                    lock.update(record).await.map(|()| Answer::Written)?
                }
            })
        };
        let answer = timeout(self.request_timeout, sent).await;
        answer.unwrap_or(Err(LockError::Timeout(self.request_timeout))).unwrap_or_else(|error| {
            let (lock, chain) = (self.lock.describe(), error::chain(&error));
            match error {
                LockError::Conflict => {
                    tracing::debug!(lock, error = chain, "somebody else has written the lease");
                }
                LockError::Forbidden { .. } => {
                    tracing::error!(lock, error = chain, "failed to acquire or renew lease");
                }
                _ => tracing::warn!(lock, error = chain, "failed to acquire or renew lease"),
            }
            self.last_error = Some(error);
            Answer::Failed
        })
    }

    fn report_transition(&self, before: &str) {
        let holder = &self.candidate.observed().holder_identity;
        if holder != before && !holder.is_empty() {
            tracing::info!(lock = self.lock.describe(), leader = holder, "new leader elected");
        }
    }

    /// This process leads for as long as its last renewal says.
    fn leads(&mut self) {
        let Some(deadline) = self.candidate.deadline() else { return };
        self.leadership.extend(self.origin + deadline, self.candidate.observed().leader_transitions);
        self.next_attempt = Instant::now() + self.options.retry_period;
        self.last_error = None;
    }

    fn lose(&mut self, reason: LeaderElectionError) -> BoxError {
        self.leadership.end();
        self.status.set(0);
        tracing::error!(reason = error::chain(&reason), "stopped leading");
        reason.into()
    }

    fn too_late(&mut self) -> BoxError {
        let (lock, renew_deadline) = (self.lock.describe(), self.options.renew_deadline);
        let source = self.last_error.take();
        self.lose(LeaderElectionError::Deadline { lock, renew_deadline, source })
    }

    /// Waits for the next attempt, which a change may bring forward or put off.
    async fn wait(&mut self, changes: &mut (impl Stream<Item = LeaderElectionRecord> + Unpin)) {
        let mut turn = Turn::new(self.now(), self.options.retry_period, &mut fastrand::Rng::new());
        loop {
            let at = self.origin + turn.at(&self.candidate);
            tokio::select! {
                () = sleep_until(at) => return,
                Some(record) = changes.next() => {
                    let (before, now) = (self.candidate.observed().holder_identity.clone(), self.now());
                    turn.hear(&mut self.candidate, record, now);
                    self.report_transition(&before);
                }
            }
        }
    }

    /// A renewal whose answer was lost may have been carried out, so what is there is read first; and again if it changes under our hands.
    async fn write_release(&mut self) -> Result<(), LockError> {
        loop {
            let Some(stored) = self.lock.get().await? else { return Ok(()) };
            let Some(record) = self.candidate.release(&stored, Timestamp::now()) else { return Ok(()) };
            match self.lock.update(&record).await {
                Err(LockError::Conflict) => {}
                other => return other,
            }
        }
    }
}

impl<L: Lock> Elector for LeaseElector<L> {
    async fn acquire(&mut self) -> Result<(), BoxError> {
        let lock = self.lock.describe();
        tracing::info!(lock, "attempting to acquire leader lease");
        // It ends with the wait: a holder has no use for it.
        let mut changes = self.lock.watch().chain(stream::pending());
        while self.attempt().await != Next::Leads {
            self.wait(&mut changes).await;
        }
        self.leads();
        self.status.set(1);
        tracing::info!(lock, "successfully acquired lease");
        Ok(())
    }

    async fn lost(&mut self) -> BoxError {
        loop {
            let Some(deadline) = self.leadership.deadline() else { return self.too_late() };
            let next_attempt = self.next_attempt;
            let ended = tokio::select! {
                // After a pause both may be due. Who is late must not send anything: another process may have led, and be gone again.
                biased;
                () = sleep_until(deadline) => None,
                ended = async {
                    sleep_until(next_attempt).await;
                    self.attempt().await
                } => Some(ended),
            };
            match ended {
                Some(Next::Leads) => self.leads(),
                Some(Next::Held) => {
                    let holder = self.candidate.observed().holder_identity.clone();
                    return self.lose(LeaderElectionError::Taken { lock: self.lock.describe(), holder });
                }
                Some(_) => self.next_attempt = Instant::now() + self.options.retry_period,
                None => return self.too_late(),
            }
        }
    }

    async fn release(mut self) {
        self.leadership.end();
        self.status.set(0);
        if !self.options.release_on_cancel {
            return;
        }
        let (lock, limit) = (self.lock.describe(), self.options.renew_deadline);
        match timeout(limit, self.write_release()).await.unwrap_or(Err(LockError::Timeout(limit))) {
            Ok(()) => tracing::info!(lock, "lease released"),
            Err(error) => tracing::error!(lock, error = error::chain(&error), "failed to release lease"),
        }
    }
}

impl<L> Drop for LeaseElector<L> {
    fn drop(&mut self) {
        self.leadership.end();
        self.status.set(0);
    }
}

impl<L: fmt::Debug> fmt::Debug for LeaseElector<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseElector")
            .field("lock", &self.lock)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
