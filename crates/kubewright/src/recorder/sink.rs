//! Where events are written.

use std::{fmt, time::Duration};

use k8s_openapi::{
    NamespaceResourceScope, api::core::v1::Event as CoreEvent, api::events::v1::Event as SeriesEvent,
};
use kube::{
    Api, Resource,
    api::{Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    journal::{Outcome, Write},
    occurrence::EventsApi,
};
use crate::error;

/// The API server, as the keeper of events.
#[derive(Clone)]
pub(super) struct Sink {
    kube: kube::Client,
}

/// Why it is not known whether an event is stored.
#[derive(Debug)]
enum Failure {
    Kube(kube::Error),
    Timeout,
}

impl Sink {
    pub(super) fn new(kube: kube::Client) -> Self {
        Self { kube }
    }

    /// Writes one event. While the API server cannot be reached, it tries again; after `stopping` fires, once more at most.
    ///
    /// Source: client-go `tools/events.attemptRecording`.
    ///
    /// # Differences from Go
    /// An API server that is overloaded or broken is asked again, too; client-go drops the event.
    pub(super) async fn write(&self, write: &Write, stopping: &CancellationToken) -> Outcome {
        let mut tries = 0;
        loop {
            let is_last = stopping.is_cancelled() || tries + 1 == MAX_TRIES;
            let failure = match self.try_once(write).await {
                Ok(outcome) => return outcome,
                Err(failure) => failure,
            };
            if is_last {
                tracing::error!(event = write.record.name, error = %failure, "unable to write event, it is given up");
                return Outcome::GivenUp;
            }
            tracing::warn!(event = write.record.name, error = %failure, "unable to write event, trying again later");
            tries += 1;
            let pause = PAUSE.mul_f64(1.0 + JITTER * fastrand::f64());
            stopping.run_until_cancelled(sleep(pause)).await;
        }
    }

    async fn try_once(&self, write: &Write) -> Result<Outcome, Failure> {
        let ended = timeout(REQUEST_TIMEOUT, self.send(write)).await.map_err(|_| Failure::Timeout)?;
        match ended {
            Ok(()) => Ok(Outcome::Written(write.record.count)),
            // Events are not kept for long.
            Err(kube::Error::Api(status)) if write.is_repetition && status.is_not_found() => {
                Ok(Outcome::Gone)
            }
            // Nobody else uses this name: an earlier answer was lost.
            Err(kube::Error::Api(status)) if !write.is_repetition && status.is_already_exists() => {
                Ok(Outcome::Written(1))
            }
            Err(kube::Error::Api(status)) if (400..500).contains(&status.code) && status.code != 429 => {
                tracing::warn!(event = write.record.name, error = %status, "the API server rejected an event");
                Ok(Outcome::Refused)
            }
            Err(failure) => Err(Failure::Kube(failure)),
        }
    }

    async fn send(&self, write: &Write) -> kube::Result<()> {
        let record = &write.record;
        match record.first.api {
            EventsApi::Series => {
                let change = write.is_repetition.then(|| record.series_patch());
                self.put::<SeriesEvent>(record.namespace(), &record.name, record.as_series(), change).await
            }
            EventsApi::Core => {
                let change = write.is_repetition.then(|| record.core_patch());
                self.put::<CoreEvent>(record.namespace(), &record.name, record.as_core(), change).await
            }
        }
    }

    /// Creates `whole`, or changes what is there.
    async fn put<K>(&self, namespace: &str, name: &str, whole: K, change: Option<Value>) -> kube::Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + fmt::Debug
            + Serialize
            + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.kube.clone(), namespace);
        match change {
            Some(change) => api.patch(name, &PatchParams::default(), &Patch::Merge(change)).await.map(drop),
            None => api.create(&PostParams::default(), &whole).await.map(drop),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kube(failure) => f.write_str(&error::chain(failure)),
            Self::Timeout => write!(f, "no answer within {REQUEST_TIMEOUT:?}"),
        }
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").finish_non_exhaustive()
    }
}

/// Source: client-go `tools/events.maxTriesPerEvent`.
const MAX_TRIES: u32 = 12;
/// Source: client-go `tools/events.defaultSleepDuration`.
const PAUSE: Duration = Duration::from_secs(10);
/// So that not all clients of an API server that comes back call at once.
const JITTER: f64 = 0.25;
/// An answer that is later than this does not come: a connection may break without a word.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
