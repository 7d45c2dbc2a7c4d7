//! Writes of `status` and other subresources.

use std::fmt;

use kube::{
    Resource,
    core::{Request, params::Patch},
};
use serde::Serialize;

use super::{
    Client, ClientError, Objects,
    request::{named, path},
};
use crate::object::{Object, ObjectKey, View};

impl Client {
    /// Writes `status`, which ordinary writes leave alone.
    pub fn status(&self) -> SubResourceWriter<'_> {
        self.sub_resource("status")
    }

    /// Writes a subresource.
    pub fn sub_resource(&self, name: &'static str) -> SubResourceWriter<'_> {
        SubResourceWriter { client: self, name }
    }
}

impl<'a, V> Objects<'a, V> {
    /// Writes `status`, which ordinary writes leave alone.
    pub fn status(&self) -> ObjectsSubResourceWriter<'a, V> {
        self.sub_resource("status")
    }

    /// Writes a subresource.
    pub fn sub_resource(&self, name: &'static str) -> ObjectsSubResourceWriter<'a, V> {
        ObjectsSubResourceWriter { objects: self.clone(), name }
    }
}

/// Writes one subresource of any object; see [`Client::sub_resource`].
#[derive(Clone, Copy, Debug)]
pub struct SubResourceWriter<'a> {
    client: &'a Client,
    name: &'static str,
}

impl SubResourceWriter<'_> {
    /// Replaces the subresource by that of `object`, whose `metadata.resourceVersion` says which state it was made from.
    ///
    /// # Errors
    /// [`is_conflict`](ClientError::is_conflict) if somebody else has changed the object since.
    pub async fn update<K: Object + Serialize>(&self, object: &K) -> Result<K, ClientError> {
        self.client.objects_of::<K>().sub_resource(self.name).update(object).await
    }

    /// Changes the part of the subresource that `patch` names.
    pub async fn patch<K, P>(&self, key: &ObjectKey, patch: &Patch<P>) -> Result<K, ClientError>
    where
        K: Object,
        P: Serialize + fmt::Debug,
    {
        self.client.objects_of::<K>().sub_resource(self.name).patch(key, patch).await
    }
}

/// Writes one subresource of the objects of one kind; see [`Objects::sub_resource`].
pub struct ObjectsSubResourceWriter<'a, V> {
    objects: Objects<'a, V>,
    name: &'static str,
}

impl<V> fmt::Debug for ObjectsSubResourceWriter<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectsSubResourceWriter")
            .field("objects", &self.objects)
            .field("name", &self.name)
            .finish()
    }
}

impl<V: View + Resource> ObjectsSubResourceWriter<'_, V> {
    /// Replaces the subresource by that of `object`, as [`SubResourceWriter::update`] does.
    pub async fn update(&self, object: &V) -> Result<V, ClientError>
    where
        V: Serialize,
    {
        let key = named(&self.objects.kind, object)?;
        self.objects.replace(&key, Some(self.name), object).await
    }

    /// Changes the part of the subresource that `patch` names.
    pub async fn patch<P>(&self, key: &ObjectKey, patch: &Patch<P>) -> Result<V, ClientError>
    where
        P: Serialize + fmt::Debug,
    {
        let Objects { client, kind, .. } = &self.objects;
        let key = kind.key(key);
        let request = Request::new(path(kind, &key)?);
        let request = request.patch_subresource(self.name, key.name(), &client.patch_params(patch), patch);
        self.objects.write("patch", &key, request).await
    }
}
