//! The informers of a cache: made on demand, run by one owner.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::mpsc, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    CacheError, CacheOptions,
    informer::{Informer, Progress},
    reflector::Target,
    store::Store,
};
use crate::{metrics, object::Kind};

pub(super) struct Informers {
    client: kube::Client,
    options: CacheOptions,
    roster: Mutex<Roster>,
}

struct Roster {
    by_kind: HashMap<Kind, Arc<Informer>>,
    lifecycle: Lifecycle,
}

enum Lifecycle {
    Fresh,
    /// New informers go to the owner of the tasks. One message per kind ever, so the channel needs no bound.
    Running(mpsc::UnboundedSender<Arc<Informer>>),
    Stopped,
}

/// How long to wait for a kind that the API server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Not at all: a reconcile that waits holds a worker.
    OfReads,
    /// As for any other: the kind may be about to be installed.
    OfWatches,
}

impl Informers {
    pub(super) fn new(client: kube::Client, options: CacheOptions) -> Self {
        Self {
            client,
            options,
            roster: Mutex::new(Roster { by_kind: HashMap::new(), lifecycle: Lifecycle::Fresh }),
        }
    }

    pub(super) fn get_or_create(&self, kind: &Kind) -> Arc<Informer> {
        let mut roster = self.roster.lock();
        if let Some(informer) = roster.by_kind.get(kind) {
            return Arc::clone(informer);
        }
        let target =
            Target { kind: kind.clone(), namespace: None, label_selector: None, field_selector: None };
        let store = Store::new(self.options.decoded_bytes, self.options.keep_managed_fields);
        let metrics = self.options.metrics_registry.as_ref().unwrap_or_else(|| metrics::registry());
        let informer = Arc::new(Informer::new(target, store, metrics));
        roster.by_kind.insert(kind.clone(), Arc::clone(&informer));
        if let Lifecycle::Running(launch) = &roster.lifecycle {
            // The receiver is dropped only after the lifecycle has become `Stopped`, under this lock.
            let _ = launch.send(Arc::clone(&informer));
        }
        informer
    }

    pub(super) fn of(&self, kind: &Kind) -> Vec<Arc<Informer>> {
        let roster = self.roster.lock();
        roster
            .by_kind
            .iter()
            .filter(|(other, _)| other.is_same_resource(kind))
            .map(|(_, it)| Arc::clone(it))
            .collect()
    }

    pub(super) fn all(&self) -> Vec<Arc<Informer>> {
        self.roster.lock().by_kind.values().cloned().collect()
    }

    /// Some kind that has no complete list yet is an error.
    pub(super) fn check_synced(&self) -> Result<(), CacheError> {
        self.check_running()?;
        match self.all().iter().find(|informer| !informer.has_synced()) {
            None => Ok(()),
            Some(informer) => {
                let (kind, failure) = (informer.kind().clone(), informer.progress().failure);
                Err(CacheError::NotSynced { kind, failure })
            }
        }
    }

    /// Nothing can be read before the start or after the stop.
    pub(super) fn check_running(&self) -> Result<(), CacheError> {
        match self.roster.lock().lifecycle {
            Lifecycle::Fresh => Err(CacheError::NotStarted),
            Lifecycle::Running(_) => Ok(()),
            Lifecycle::Stopped => Err(CacheError::Stopped),
        }
    }

    /// Waits until the informer is synced, for as long as `limit` says, or the options. `whose` decides what a refusal means.
    pub(super) async fn wait_for_sync(
        &self,
        informer: &Informer,
        limit: Option<Duration>,
        whose: Patience,
    ) -> Result<(), CacheError> {
        self.check_running()?;
        if informer.has_synced() {
            return Ok(());
        }
        // What was refused may be allowed by now, and somebody wants it.
        informer.hurry();
        let limit = limit.unwrap_or(self.options.sync_timeout);
        let mut refusal = None;
        let settled = |progress: &Progress| {
            refusal = progress.refusal().filter(|_| whose == Patience::OfReads && !progress.synced).cloned();
            progress.synced || refusal.is_some()
        };
        let ended = timeout(limit, informer.wait_until(settled)).await;
        let kind = informer.kind().clone();
        match (ended, refusal) {
            (Err(_), _) => {
                let failure = informer.progress().failure;
                Err(CacheError::SyncTimeout { kind, timeout: limit, failure })
            }
            (Ok(Err(_)), _) => Err(CacheError::Stopped),
            (Ok(Ok(())), Some(failure)) => Err(CacheError::Refused { kind, failure }),
            (Ok(Ok(())), None) => Ok(()),
        }
    }

    /// From here on the cache can be read. Its informers follow their kinds once the tenure runs.
    pub(super) fn begin(self: &Arc<Self>) -> Result<Tenure, CacheError> {
        let (launch, launched) = mpsc::unbounded_channel();
        let mut roster = self.roster.lock();
        if !matches!(roster.lifecycle, Lifecycle::Fresh) {
            return Err(CacheError::AlreadyStarted);
        }
        for informer in roster.by_kind.values() {
            // The receiver is still here.
            let _ = launch.send(Arc::clone(informer));
        }
        roster.lifecycle = Lifecycle::Running(launch);
        Ok(Tenure { informers: Arc::clone(self), launched })
    }
}

/// A cache between its start and its stop, and the owner of its informers' tasks. Dropped, it is the stop.
pub(super) struct Tenure {
    informers: Arc<Informers>,
    launched: mpsc::UnboundedReceiver<Arc<Informer>>,
}

impl Tenure {
    /// Runs the informers until `cancel` fires; returns after all have ended.
    pub(super) async fn run(mut self, cancel: CancellationToken) -> Result<(), CacheError> {
        let cancel = cancel.child_token();
        let mut tasks = JoinSet::new();
        let result = loop {
            tokio::select! {
                () = cancel.cancelled() => break Ok(()),
                Some(informer) = self.launched.recv() => {
                    let (client, cancel) = (self.informers.client.clone(), cancel.child_token());
                    tasks.spawn(async move { informer.run(client, cancel).await });
                }
                Some(Err(error)) = tasks.join_next() => break Err(CacheError::InformerFailed(error.to_string())),
            }
        };
        cancel.cancel();
        while tasks.join_next().await.is_some() {}
        result
    }
}

impl Drop for Tenure {
    fn drop(&mut self) {
        let mut roster = self.informers.roster.lock();
        roster.lifecycle = Lifecycle::Stopped;
        for informer in roster.by_kind.values() {
            informer.stop();
        }
    }
}
