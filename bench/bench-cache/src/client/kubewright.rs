//! kubewright's cache.

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kubewright::cache::{Cache, CacheError, CacheOptions, ListOptions};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::pods::Pods;

/// A running cache that has its first list.
pub(super) struct Synced {
    cache: Cache,
    /// Aborted when this is dropped.
    _run: JoinSet<Result<(), CacheError>>,
}

pub(super) async fn sync(client: kube::Client) -> Result<Synced> {
    let cache = Cache::new(client, CacheOptions::default());
    cache.watch::<Pod>();
    let mut run = JoinSet::new();
    run.spawn(cache.start(CancellationToken::new()));
    tokio::select! {
        synced = cache.wait_for_cache_sync() => synced?,
        ended = run.join_next() => bail!("the cache ended by itself: {ended:?}"),
    }
    Ok(Synced { cache, _run: run })
}

impl Synced {
    /// Reads every pod, one namespace at a time: decoded all at once they would need ten times the memory that the cache needs.
    pub(super) async fn count(&self, pods: Pods) -> Result<usize> {
        let mut count = 0;
        for namespace in pods.namespace_names() {
            let found = self.cache.list::<Pod>(&ListOptions::default().in_namespace(namespace)).await;
            count += found.context("failed to read the cache")?.len();
        }
        Ok(count)
    }
}
