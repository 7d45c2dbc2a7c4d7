//! One watch and one packed store per kind, shared by everybody who reads it.
//!
//! A [`Cache`] makes an informer for a kind when somebody first reads or watches it. The informer lists and watches the kind and keeps
//! each object as the JSON that the API server sent, without `metadata.managedFields`. A read decodes; the decoded value is kept under a
//! budget, so small caches behave like a map of `Arc<K>` and large ones shrink to the bytes.
//!
//! An informer ends when nobody uses it any more: about a minute after the last controller that watches through it has stopped that watch, and after
//! [`CacheOptions::unread_informers_stay`] without a read. One that [`Cache::watch`] asked for stays. Who comes later gets a new one, with a new list.
//!
//! # Differences from Go
//! - Reads give a shared `Arc<K>` and copy nothing.
//! - An object that does not decode is skipped in lists, and is an error to its own readers; it does not stop the others. One whose very metadata cannot
//!   be read keeps its last state. Both are logged once for each state, and counted in `kubewright_cache_unreadable_objects_total`.
//! - A read of a kind that the API server refuses (no permission, no such CRD) fails at once with the API server's own words, and one of a kind that
//!   does not sync after [`CacheOptions::sync_timeout`], where upstream waits as long as its context lives.
//! - Informers that nobody uses end; upstream's stay until somebody removes them.
//! - A kind whose definition is gone for ten minutes is asked for each five to ten minutes, and at once when somebody reads or watches it anew.
//! - A list never goes back in time: a lagging API server's older state of an object is not taken.

mod error;
pub(crate) mod informer;
mod informers;
mod json;
mod metrics;
mod options;
pub(crate) mod reader;
pub(crate) mod reflector;
mod roster;
pub(crate) mod store;

use std::{fmt, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

pub use error::{CacheError, ListWatchError};
pub use options::{CacheOptions, ListOptions};
pub use store::DecodeError;

use self::{
    informer::{InUse, Informer},
    informers::{Informers, Patience},
    roster::Purpose,
};
use crate::object::{Kind, Object};

/// The informers of one API server.
///
/// Cheap to clone; all clones share the informers.
#[derive(Clone)]
pub struct Cache {
    informers: Arc<Informers>,
}

impl Cache {
    /// A cache that reads through `client`. It makes no request before it is started.
    pub fn new(client: kube::Client, options: CacheOptions) -> Self {
        Self { informers: Arc::new(Informers::new(client, options)) }
    }

    /// Runs the informers, those that exist and those that will, until `cancel` fires; returns after all have ended.
    ///
    /// The cache counts as started from the call on, not from the first poll: whoever is spawned after it may read at once.
    ///
    /// # Cancel safety
    /// Dropped, it stops the cache for good, and aborts the informers.
    ///
    /// # Errors
    /// [`CacheError::AlreadyStarted`] at the second call; [`CacheError::InformerFailed`] if an informer dies, which is a bug.
    pub fn start(
        &self,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<(), CacheError>> + Send + use<> {
        let begun = self.informers.begin();
        async move { begun?.run(cancel).await }
    }

    /// Waits until every informer that exists now has its first list.
    ///
    /// # Errors
    /// [`CacheError::SyncTimeout`] names the first kind that took longer than [`CacheOptions::sync_timeout`]; [`CacheError::NotStarted`] before
    /// [`start`](Self::start), since nothing will come.
    pub async fn wait_for_cache_sync(&self) -> Result<(), CacheError> {
        for informer in self.informers.all() {
            self.informers.wait_for_sync(&informer, None, Patience::OfWatches).await?;
        }
        Ok(())
    }

    /// Whether every informer that exists now has its first list. Never waits.
    ///
    /// # Errors
    /// [`CacheError::NotSynced`] names a kind that has not, and why; as [`wait_for_cache_sync`](Self::wait_for_cache_sync) otherwise.
    pub fn check_synced(&self) -> Result<(), CacheError> {
        self.informers.check_synced()
    }

    /// Follows `K` from now on (or from the start), before anybody reads it, and for as long as the cache runs.
    pub fn watch<K: Object>(&self) {
        self.watch_kind(&Kind::of::<K>());
    }

    /// As [`watch`](Self::watch), of a kind that may be known at run time only.
    pub fn watch_kind(&self, kind: &Kind) {
        self.informers.get(kind, Purpose::Keep);
    }

    /// The informer of a kind; a new one if there is none. It goes on as long as this use of it.
    pub(crate) fn informer(&self, kind: &Kind) -> InUse {
        self.informers.get(kind, Purpose::Use)
    }

    pub(crate) async fn wait_for_sync(&self, informer: &Informer, limit: Duration) -> Result<(), CacheError> {
        self.informers.wait_for_sync(informer, Some(limit), Patience::OfWatches).await
    }

    /// Every informer of the objects of `kind`, whichever version and form it follows.
    pub(crate) fn informers_of(&self, kind: &Kind) -> Vec<Arc<Informer>> {
        self.informers.of(kind)
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("informers", &self.informers.all()).finish()
    }
}
