//! kube-rs' reflector.

use anyhow::{Result, bail};
use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    runtime::{WatchStreamExt, reflector, watcher},
};
use tokio::task::JoinSet;

/// How the reflector gets its first state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// `Config::streaming_lists`.
    Streaming,
    /// The same, without `managedFields`, which is what its documentation advises for large clusters.
    StreamingStripped,
    /// `Config::default`: pages of 500.
    Paged,
}

/// A running reflector that has its first list.
pub(super) struct Synced {
    store: reflector::Store<Pod>,
    /// Aborted when this is dropped.
    _run: JoinSet<()>,
}

pub(super) async fn sync(client: kube::Client, list: List) -> Result<Synced> {
    let config = match list {
        List::Streaming | List::StreamingStripped => watcher::Config::default().streaming_lists(),
        List::Paged => watcher::Config::default(),
    };
    let (store, writer) = reflector::store();
    let events = watcher(Api::<Pod>::all(client), config).default_backoff();
    let mut run = JoinSet::new();
    match list {
        List::StreamingStripped => {
            let events = events.modify(|pod| pod.metadata.managed_fields = None).reflect(writer);
            run.spawn(events.for_each(async |event| report(event)));
        }
        List::Streaming | List::Paged => {
            run.spawn(events.reflect(writer).for_each(async |event| report(event)));
        }
    }
    tokio::select! {
        ready = store.wait_until_ready() => ready?,
        ended = run.join_next() => bail!("the reflector ended by itself: {ended:?}"),
    }
    Ok(Synced { store, _run: run })
}

fn report(event: Result<watcher::Event<Pod>, watcher::Error>) {
    if let Err(error) = event {
        eprintln!("kube-rs tries again after: {error}");
    }
}

impl Synced {
    pub(super) fn count(&self) -> usize {
        self.store.len()
    }
}
