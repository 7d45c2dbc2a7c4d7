//! Reads of the cache.

use std::sync::Arc;

use kube::core::SelectorExt;

use super::{
    Cache, CacheError, DecodeError, ListOptions,
    informer::{InUse, Informer},
    informers::Patience,
    roster::Purpose,
    store::Entry,
};
use crate::object::{Kind, Object, ObjectKey, Scope, View};

impl Cache {
    /// Reads one object.
    ///
    /// The first read of a kind starts its watch and waits for it to sync.
    ///
    /// # Errors
    /// [`CacheError::NotFound`], also for an object that exists but has not been heard of yet; [`CacheError::Refused`] at once where the API server
    /// does not serve the kind, or not to us.
    pub async fn get<K: Object>(&self, key: &ObjectKey) -> Result<Arc<K>, CacheError> {
        self.get_as(&Kind::of::<K>(), key).await
    }

    /// As [`get`](Self::get), of any kind, read as a `V`.
    pub async fn get_as<V: View>(&self, kind: &Kind, key: &ObjectKey) -> Result<Arc<V>, CacheError> {
        read(&*self.synced_informer(kind).await?, key)
    }

    /// Reads the objects that `options` ask for, in no order.
    ///
    /// Objects that do not decode as `K` are left out, and logged once for each of their states.
    pub async fn list<K: Object>(&self, options: &ListOptions) -> Result<Vec<Arc<K>>, CacheError> {
        self.list_as(&Kind::of::<K>(), options).await
    }

    /// As [`list`](Self::list), of any kind, read as a `V`.
    pub async fn list_as<V: View>(
        &self,
        kind: &Kind,
        options: &ListOptions,
    ) -> Result<Vec<Arc<V>>, CacheError> {
        Ok(read_list(&*self.synced_informer(kind).await?, options))
    }

    /// Waits until `condition` holds for an object, or for its absence (`None`); gives what it held for. Looks at every state that the cache has
    /// when it looks, not at every state that ever was. Waits without end: put a timeout around it.
    ///
    /// # Cancel safety
    /// Reads only.
    pub async fn wait_for<K: Object>(
        &self,
        key: &ObjectKey,
        condition: impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<Arc<K>>, CacheError> {
        self.wait_for_as(&Kind::of::<K>(), key, condition).await
    }

    /// As [`wait_for`](Self::wait_for), of any kind, read as a `V`.
    pub async fn wait_for_as<V: View>(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        mut condition: impl FnMut(Option<&V>) -> bool,
    ) -> Result<Option<Arc<V>>, CacheError> {
        let informer = self.informer(kind);
        self.informers.wait_for_sync(&informer, None, Patience::OfWatches).await?;
        let mut found = Ok(None);
        let reached =
            informer.wait_until(|_| match informer.get(key).map(|entry| entry.decode()).transpose() {
                Ok(object) => {
                    let holds = condition(object.as_deref());
                    found = Ok(object);
                    holds
                }
                Err(error) => {
                    found = Err(error.into());
                    true
                }
            });
        reached.await.map_err(|_| CacheError::Stopped)?;
        found
    }

    pub(crate) async fn synced_informer(&self, kind: &Kind) -> Result<InUse, CacheError> {
        let informer = self.informers.get(kind, Purpose::Read);
        self.informers.wait_for_sync(&informer, None, Patience::OfReads).await?;
        Ok(informer)
    }
}

/// Reads one object of a synced informer.
pub(crate) fn read<V: View>(informer: &Informer, key: &ObjectKey) -> Result<Arc<V>, CacheError> {
    Ok(entry(informer, key)?.decode()?)
}

/// Finds one object of a synced informer.
pub(crate) fn entry(informer: &Informer, key: &ObjectKey) -> Result<Arc<Entry>, CacheError> {
    let key = informer.kind().key(key);
    informer.get(&key).ok_or_else(|| CacheError::NotFound { kind: informer.kind().clone(), key })
}

/// Reads the objects of a synced informer that `options` ask for. One that does not decode is left out, and logged once for each of its states.
pub(crate) fn read_list<V: View>(informer: &Informer, options: &ListOptions) -> Vec<Arc<V>> {
    let selector = options.label_selector.as_ref();
    let namespace = options.namespace.as_deref();
    // Upstream ignores a namespace that a cluster-scoped kind cannot have.
    let namespace = namespace.filter(|it| !it.is_empty() && informer.kind().scope() == Scope::Namespaced);
    let entries =
        informer.list(namespace, |entry| selector.is_none_or(|selector| selector.matches(entry.labels())));
    let decode = |entry: Arc<Entry>| {
        let leave_out = |error: &DecodeError| {
            if entry.is_first_complaint() {
                informer.count_unreadable();
                tracing::warn!(kind = %informer.kind(), %error, cause = %error.source, "leaving an object out of lists");
            }
        };
        entry.decode::<V>().inspect_err(leave_out).ok()
    };
    entries.into_iter().filter_map(decode).collect()
}
