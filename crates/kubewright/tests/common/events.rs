//! Events by hand, and what a handler makes of them.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kubewright::{
    event::Event,
    handler::{EventHandler, Requests},
    kube::core::ObjectMeta,
    object::Object,
    reconcile::RequestType,
    workqueue::{Queue, QueueOptions},
};

/// A Pod of the namespace `biz`.
pub fn pod(name: &str) -> Pod {
    let (namespace, name) = (Some("biz".to_owned()), Some(name.to_owned()));
    Pod { metadata: ObjectMeta { namespace, name, ..ObjectMeta::default() }, ..Pod::default() }
}

/// The same object at this `resourceVersion`.
pub fn at<K: Object>(version: u64, object: &K) -> K {
    let mut object = object.clone();
    object.meta_mut().resource_version = Some(version.to_string());
    object
}

pub fn initial<K: Object>(object: &K) -> Event<K> {
    Event::Create { object: object.clone().into(), is_in_initial_list: true }
}

pub fn create<K: Object>(object: &K) -> Event<K> {
    Event::Create { object: object.clone().into(), is_in_initial_list: false }
}

/// An update from one object to another; versions differ unless the objects say something else.
pub fn update<K: Object>(old: &K, new: &K) -> Event<K> {
    let version = |object: &K, or: u64| match object.meta().resource_version {
        Some(_) => object.clone(),
        None => at(or, object),
    };
    Event::Update { object_old: version(old, 1).into(), object_new: version(new, 2).into() }
}

/// An update that says nothing new.
pub fn resync<K: Object>(object: &K) -> Event<K> {
    update(&at(1, object), &at(1, object))
}

pub fn delete<K: Object>(object: &K) -> Event<K> {
    Event::Delete { object: object.clone().into(), delete_state_unknown: false }
}

pub fn tombstone<K: Object>(object: &K) -> Event<K> {
    Event::Delete { object: object.clone().into(), delete_state_unknown: true }
}

pub fn generic<K: Object>(object: &K) -> Event<K> {
    Event::Generic { object: object.clone().into() }
}

/// What `handler` makes of `event`: requests with their priorities, in the order in which workers get them, however late.
pub fn handled<K, R, H>(handler: &H, event: &Event<K>) -> Vec<(R, i32)>
where
    R: RequestType,
    H: EventHandler<K, R>,
{
    paused(async {
        let queue = Queue::new(QueueOptions::default());
        handler.handle(event, &Requests::new(&queue, event.is_unchanged())).await;
        let mut all = Vec::new();
        while let Ok(Some(next)) = tokio::time::timeout(Duration::from_secs(3600), queue.get()).await {
            queue.done(&next.0);
            all.push(next);
        }
        all
    })
}

/// Runs `future` on paused time, for tables whose rows are plain calls.
pub fn paused<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(future)
}
