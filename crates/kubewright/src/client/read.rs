//! Reads of the cache that see own writes.

use std::{fmt, pin::Pin, sync::Arc};

use kube::core::Selector;

use super::{Client, ClientError, Objects};
use crate::{
    cache::{CacheError, ListOptions, reader, store::Entry},
    object::{Object, ObjectKey, View},
};

impl Client {
    /// Reads one object from the cache.
    ///
    /// Waits for the first list of its kind, if nobody has read the kind before, and for the client's own last write of the object.
    ///
    /// # Errors
    /// [`is_not_found`](ClientError::is_not_found) if the cache has no such object; see [`Optional`](super::Optional).
    ///
    /// # Cancel safety
    /// Reads only.
    pub async fn get<K: Object>(&self, key: &ObjectKey) -> Result<Arc<K>, ClientError> {
        self.objects_of::<K>().get(key).await
    }

    /// Reads objects from the cache; await it, or narrow it first.
    ///
    /// # Example: the pods of one application
    /// ```no_run
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # async fn example(client: kubewright::client::Client) -> Result<(), kubewright::client::ClientError> {
    /// let pods = client.list::<Pod>().in_namespace("shop").with_label("app", "web").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn list<K: Object>(&self) -> List<'_, K> {
        self.objects_of::<K>().list()
    }
}

impl<'a, V: View> Objects<'a, V> {
    /// Reads one object from the cache, as [`Client::get`] does.
    pub async fn get(&self, key: &ObjectKey) -> Result<Arc<V>, ClientError> {
        let entry = self.entry(key).await?;
        Ok(entry.decode().map_err(CacheError::from)?)
    }

    /// The cached state of an object, after the client's own writes of it.
    pub(crate) async fn entry(&self, key: &ObjectKey) -> Result<Arc<Entry>, ClientError> {
        let entry = async {
            let informer = self.client.cache.synced_informer(&self.kind).await?;
            if let Some(own_writes) = &self.client.own_writes {
                own_writes.wait_for(&self.client.kube, &informer, key).await?;
            }
            Ok(reader::entry(&informer, key)?)
        };
        entry.await.map_err(|error: ClientError| error.of_read("get", &self.kind, &key.to_string()))
    }

    /// Reads objects from the cache, as [`Client::list`] does.
    pub fn list(&self) -> List<'a, V> {
        List { objects: self.clone(), options: ListOptions::default() }
    }
}

/// A list to be read; see [`Client::list`].
#[must_use = "a list does nothing until it is awaited"]
pub struct List<'a, V> {
    objects: Objects<'a, V>,
    options: ListOptions,
}

impl<V> List<'_, V> {
    /// Objects of one namespace; of all, if it is empty. A cluster-scoped kind has none, and ignores it.
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.options = self.options.in_namespace(namespace);
        self
    }

    /// Objects whose labels match `selector`, and every other that was given.
    pub fn matching(mut self, selector: impl Into<Selector>) -> Self {
        self.options = self.options.matching(selector);
        self
    }

    /// Objects that have this label.
    pub fn with_label(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.matching(Selector::from_iter([(name.into(), value.into())]))
    }
}

impl<'a, V: View> IntoFuture for List<'a, V> {
    type Output = Result<Vec<Arc<V>>, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            self.read().await.map_err(|error| {
                let namespace = self.options.namespace.as_deref().unwrap_or_default();
                error.of_read("list", &self.objects.kind, namespace)
            })
        })
    }
}

impl<V: View> List<'_, V> {
    async fn read(&self) -> Result<Vec<Arc<V>>, ClientError> {
        let client = self.objects.client;
        let informer = client.cache.synced_informer(&self.objects.kind).await?;
        if let Some(own_writes) = &client.own_writes {
            own_writes.wait_for_all(&client.kube, &informer).await?;
        }
        Ok(reader::read_list(&informer, &self.options))
    }
}

impl<V> fmt::Debug for List<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("objects", &self.objects).field("options", &self.options).finish()
    }
}
