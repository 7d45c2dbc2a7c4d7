//! Where events come from: the rows of controller-runtime's `pkg/source` and `pkg/internal/source`.
//!
//! | rows without a test here | why |
//! |---|---|
//! | `Kind` without a cache, a type or a handler; `Channel` without a source; `Informer` without an informer | each of them is a parameter |
//! | `Func` given nothing | the function is a parameter |
//! | the name of a `Kind` of unstructured objects | there are none: a kind is a type |
//! | an event of what is no `runtime.Object` or has no metadata is dropped | an event is of an object of its kind; one that does not decode has its test |
//! | a tombstone that holds something else than an object, or nothing | a cache entry is always an object of its kind |
//! | a tombstone is unwrapped to the last known state | `tests/watch_faults.rs`, where a watch is cut |
//! | the buffer of a `Channel`, its size and its fan-out | the channel's own bound is the buffer, and a channel feeds one source |

#![allow(clippy::unwrap_used, reason = "these are tests, though not each function is marked as one")]

mod common;

#[path = "source/channel.rs"]
mod channel;
#[path = "source/failing.rs"]
mod failing;
#[path = "source/func.rs"]
mod func;
#[path = "source/interval.rs"]
mod interval;
#[path = "source/kind.rs"]
mod kind;
#[path = "source/widget.rs"]
mod widget;

use std::time::Duration;

use common::Counter;
use kubewright::{
    event::Event,
    handler::{EventHandler, Requests},
    manager::StartError,
    object::Object,
    prelude::*,
};
use tokio::{sync::mpsc, time::timeout};

/// Adds a controller with `source` to the manager; its reconciles are counted.
fn control(manager: &Manager, source: impl Source) -> Counter {
    let counter = Counter::default();
    Controller::builder(manager).named("test").watches_raw_source(source).complete(counter.clone()).unwrap();
    counter
}

/// A handler that tells what it is handed, and enqueues the object; and the test's end of it.
fn telling<K: Object>() -> (impl EventHandler<K>, Heard) {
    let (tell, heard) = mpsc::unbounded_channel();
    let handler = move |event: &Event<K>, requests: &Requests<'_, Request>| {
        // A test that has heard enough is gone.
        let _ = tell.send(describe(event));
        requests.add(event.object().key().clone());
    };
    (handler, Heard(heard))
}

/// The type of the event, the object, and the label `step` of its states.
fn describe<K: Object>(event: &Event<K>) -> String {
    let name = event.object().key();
    let step = |object: &kubewright::event::Observed<K>| {
        // As the object itself says it, so that it has to decode.
        object.get().unwrap().meta().labels.as_ref().map_or_else(String::new, |labels| labels["step"].clone())
    };
    match event {
        Event::Create { object, is_in_initial_list: true } => format!("initial {name} {}", step(object)),
        Event::Create { object, .. } => format!("create {name} {}", step(object)),
        Event::Update { object_old, object_new } => {
            format!("update {name} {} to {}", step(object_old), step(object_new))
        }
        Event::Delete { object, delete_state_unknown } => {
            format!("delete {name} {}, unknown: {delete_state_unknown}", step(object))
        }
        Event::Generic { object } => format!("generic {name} {}", step(object)),
    }
}

/// What a handler was handed, in order.
struct Heard(mpsc::UnboundedReceiver<String>);

impl Heard {
    async fn next(&mut self) -> String {
        let next = timeout(Duration::from_secs(60), self.0.recv()).await;
        next.expect("nothing came for a minute").expect("the handler is gone")
    }

    /// What has come by now, without waiting.
    fn rest(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.0.try_recv().ok()).collect()
    }
}

/// The object with this value of the label `step`.
fn step<K: Object>(object: &K, step: &str) -> K {
    let mut object = object.clone();
    object.meta_mut().labels = Some([("step".to_owned(), step.to_owned())].into());
    object
}

/// An error and its causes, in one line.
fn chain(error: &StartError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |chain, cause| format!("{chain}: {cause}"))
}
