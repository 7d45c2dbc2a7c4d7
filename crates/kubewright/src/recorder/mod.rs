//! Events: what an operator tells people who look at an object with `kubectl describe`.
//!
//! A [`Manager`](crate::manager::Manager) gives out an [`EventRecorder`] for each controller, and writes their events in the background, until the
//! last of them has been written after everything else has stopped. Repetitions are merged: by
//! [`event_recorder`](crate::manager::Manager::event_recorder) into series of `events.k8s.io/v1`, by
//! [`core_event_recorder`](crate::manager::Manager::core_event_recorder) into counts of `v1`. Both are bounded in what they hold and what they send.
//! `kubewright_events_total` counts what became of them.
//!
//! An operator needs the right to create and patch `events` in the group that it writes to.
//!
//! # Example: an event that kubectl describe shows
//! ```
//! # use kubewright::prelude::*;
//! # use kubewright_testing::TestEnv;
//! use k8s_openapi::api::{core::v1::ConfigMap, events::v1};
//! use kubewright::recorder::Event;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! # let env = TestEnv::start().await;
//! let manager = env.manager().build().await?;
//! let recorder = manager.event_recorder("greeter");
//! let running = env.run(manager);
//!
//! let key = Request::new("default", "greeting");
//! let config = env.create(&ConfigMap { metadata: env.meta(&key), ..ConfigMap::default() }).await;
//! recorder.record(&config, Event::normal("Greeted", "said hello"));
//! running.stop().await?;
//!
//! let events: kube::Api<v1::Event> = kube::Api::namespaced(env.kube(), "default");
//! let stored = events.list(&Default::default()).await?;
//! assert_eq!(stored.items[0].note.as_deref(), Some("said hello"));
//! # Ok(())
//! # }
//! ```

mod broadcaster;
mod event;
mod event_recorder;
mod journal;
mod metrics;
mod occurrence;
mod record;
mod regarding;
mod sink;
#[cfg(test)]
mod test;

pub(crate) use self::broadcaster::{EventBroadcaster, EventWriter};
pub use self::{
    event::{Event, EventType},
    event_recorder::EventRecorder,
    regarding::Regarding,
};
