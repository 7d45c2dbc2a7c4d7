//! What an author holds.

use std::{fmt, sync::Arc};

use jiff::Timestamp;
use tokio::sync::mpsc;

use super::{
    Event, Regarding,
    event::{WORD_BYTES, cut},
    metrics::EventMetrics,
    occurrence::{EventsApi, Occurrence},
};

/// Tells of events, in the name of one controller.
///
/// [`record`](Self::record) never waits and never fails: events are best effort. They are written in the background, repetitions as one event.
/// Cheap to clone. A [`Manager`](crate::manager::Manager) gives them out.
///
/// Source: controller-runtime `recorder.EventRecorder`.
#[derive(Clone)]
pub struct EventRecorder {
    api: EventsApi,
    controller: Arc<str>,
    instance: Arc<str>,
    queue: mpsc::Sender<Occurrence>,
    metrics: EventMetrics,
}

impl EventRecorder {
    pub(super) fn new(
        api: EventsApi,
        controller: &str,
        queue: mpsc::Sender<Occurrence>,
        metrics: EventMetrics,
    ) -> Self {
        let host = hostname::get().unwrap_or_default();
        let instance = format!("{controller}-{}", host.to_string_lossy());
        let instance = cut(instance.into(), WORD_BYTES).into();
        Self { api, controller: controller.into(), instance, queue, metrics }
    }

    /// Tells what has happened to `regarding`.
    ///
    /// The event is dropped, and counted in `kubewright_events_total`, when a thousand others wait or the manager has stopped.
    ///
    /// # Example: in a reconciler
    /// ```
    /// use kubewright::{
    ///     k8s_openapi::api::core::v1::ConfigMap,
    ///     recorder::{Event, EventRecorder},
    /// };
    ///
    /// fn greeted(recorder: &EventRecorder, config: &ConfigMap) {
    ///     recorder.record(config, Event::normal("Greeted", "it has a greeting now"));
    /// }
    /// ```
    pub fn record<S>(&self, regarding: &impl Regarding<S>, event: Event) {
        let regarding = regarding.reference();
        tracing::debug!(
            target: "events",
            apiVersion = regarding.api_version,
            kind = regarding.kind,
            namespace = regarding.namespace,
            name = regarding.name,
            r#type = event.severity.as_str(),
            reason = event.reason,
            action = event.action_or_reason(),
            note = event.note,
            "event occurred"
        );
        let occurrence = Occurrence {
            api: self.api,
            controller: self.controller.clone(),
            instance: self.instance.clone(),
            regarding,
            event,
            at: Timestamp::now(),
        };
        if let Err(unsent) = self.queue.try_send(occurrence) {
            self.metrics.dropped.inc();
            let why = match unsent {
                mpsc::error::TrySendError::Full(_) => "too many are waiting",
                mpsc::error::TrySendError::Closed(_) => "the recorder has stopped",
            };
            tracing::debug!(why, "event dropped");
        }
    }
}

impl fmt::Debug for EventRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventRecorder").field("controller", &self.controller).finish_non_exhaustive()
    }
}
