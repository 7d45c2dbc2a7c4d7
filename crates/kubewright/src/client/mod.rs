//! Reads from the cache, writes to the API server, and a reader that sees its own writes.
//!
//! A [`Client`] reads from the manager's [`Cache`]: `get` and `list` make no request (but for the first read of a kind, which starts its
//! watch). Writes go to the API server and give back what it stored.
//!
//! **Read your own writes.** After a write, the next read of the same object waits until the cache has seen that write; a list waits for
//! every write of its kind. So a reconciler that has created a child finds it in its next run, however slow the watch is.
//!
//! # Differences from Go
//! - Reads see the client's own writes. Upstream's may be stale.
//! - Cached objects are shared, as `Arc<K>`; to change one, clone it.
//! - A request that may have been carried out is never sent again by itself: no POST is repeated.

mod error;
mod idle_writes;
mod kept;
mod live;
mod objects;
mod own_writes;
pub(crate) mod quantity;
mod read;
mod request;
mod sub_resource;
mod write;
mod writes_of_task;

use std::{fmt, sync::Arc};

pub use error::{ClientError, Optional};
pub use live::Live;
pub use objects::Objects;
pub use read::List;
pub use sub_resource::{ObjectsSubResourceWriter, SubResourceWriter};
pub(crate) use writes_of_task::{WritesOfTask, observe_writes};

use self::{idle_writes::IdleWrites, kept::Lost, own_writes::OwnWrites};
use crate::cache::Cache;

/// Reads and writes the objects of one API server.
///
/// Cheap to clone; all clones see each other's writes.
#[derive(Clone)]
pub struct Client {
    kube: kube::Client,
    cache: Cache,
    field_manager: Option<Arc<str>>,
    own_writes: Option<Arc<OwnWrites>>,
    idle_writes: Arc<IdleWrites>,
    lost: Arc<Lost>,
}

impl Client {
    /// A client that reads from `cache` and writes through `kube`.
    pub fn new(kube: kube::Client, cache: Cache) -> Self {
        Self {
            kube,
            cache,
            field_manager: None,
            own_writes: Some(Arc::default()),
            idle_writes: Arc::default(),
            lost: Arc::default(),
        }
    }

    /// Names who writes, in `metadata.managedFields`; without it the API server takes the user agent's name.
    #[must_use]
    pub fn with_field_manager(mut self, name: impl Into<Arc<str>>) -> Self {
        self.field_manager = Some(name.into());
        self
    }

    /// A client whose reads do not wait for its writes: they may be older, as upstream's are.
    #[must_use]
    pub fn without_own_writes(mut self) -> Self {
        self.own_writes = None;
        self
    }

    /// The cache that this client reads.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The HTTP client underneath, for what has no place here.
    pub fn kube(&self) -> &kube::Client {
        &self.kube
    }

    pub(crate) fn idle_writes(&self) -> &IdleWrites {
        &self.idle_writes
    }

    /// Reads from the API server instead of the cache: slower, never older than the request.
    pub fn live(&self) -> Live<'_> {
        Live { kube: &self.kube }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("field_manager", &self.field_manager).finish_non_exhaustive()
    }
}
