//! Writes to the API server.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status as ApiStatus;
use kube::{
    Resource,
    core::{
        DynamicObject, PartialObjectMeta, Request,
        params::{DeleteParams, Patch, PatchParams, PostParams},
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Client, ClientError, Objects, writes_of_task};
use crate::object::{Kind, Object, ObjectKey, Scope, View};

impl Client {
    /// Creates `object` and gives back what the API server stored.
    ///
    /// # Errors
    /// [`is_already_exists`](ClientError::is_already_exists) if there is an object of this name.
    ///
    /// # Cancel safety
    /// A request that was sent may be carried out.
    pub async fn create<K: Object + Serialize>(&self, object: &K) -> Result<K, ClientError> {
        self.objects_of::<K>().create(object).await
    }

    /// Replaces `object`, whose `metadata.resourceVersion` says which state it was made from.
    ///
    /// # Errors
    /// [`is_conflict`](ClientError::is_conflict) if somebody else has changed it since.
    ///
    /// # Cancel safety
    /// A request that was sent may be carried out.
    pub async fn update<K: Object + Serialize>(&self, object: &K) -> Result<K, ClientError> {
        self.objects_of::<K>().update(object).await
    }

    /// Changes the part of an object that `patch` names, whatever the rest has become.
    ///
    /// # Cancel safety
    /// A request that was sent may be carried out.
    pub async fn patch<K, P>(&self, key: &ObjectKey, patch: &Patch<P>) -> Result<K, ClientError>
    where
        K: Object,
        P: Serialize + fmt::Debug,
    {
        self.objects_of::<K>().patch(key, patch).await
    }

    /// Deletes an object, and in the background what it owns.
    ///
    /// An object with finalizers stays, with a `deletionTimestamp`, until the last of them is gone. `preconditions` guard against deleting
    /// another object of the same name.
    ///
    /// # Errors
    /// [`is_not_found`](ClientError::is_not_found) if it is gone already.
    pub async fn delete<K: Object>(&self, key: &ObjectKey, params: &DeleteParams) -> Result<(), ClientError> {
        self.objects_of::<K>().delete(key, params).await
    }

    /// Writes `status`, which ordinary writes leave alone.
    pub fn status(&self) -> Status<'_> {
        self.sub_resource("status")
    }

    /// Writes a subresource.
    pub fn sub_resource(&self, name: &'static str) -> SubResourceWriter<'_> {
        SubResourceWriter { client: self, name }
    }

    fn post_params(&self) -> PostParams {
        PostParams {
            field_manager: self.field_manager.as_deref().map(ToOwned::to_owned),
            ..PostParams::default()
        }
    }

    fn patch_params<P: Serialize>(&self, patch: &Patch<P>) -> PatchParams {
        PatchParams {
            field_manager: self.field_manager.as_deref().map(ToOwned::to_owned),
            force: matches!(patch, Patch::Apply(_)),
            ..PatchParams::default()
        }
    }
}

impl<'a, V> Objects<'a, V> {
    /// Deletes an object, as [`Client::delete`] does.
    pub async fn delete(&self, key: &ObjectKey, params: &DeleteParams) -> Result<(), ClientError> {
        let Self { client, kind, .. } = self;
        let request = Request::new(path(kind, key)?).delete(key.name(), params);
        let request = request.map_err(kube::Error::BuildRequest);
        let answer: Value = send(&client.kube, "delete", kind, key.to_string(), request).await?;
        if let Some(own_writes) = &client.own_writes {
            // The object while it waits for finalizers, else a Status that names what is gone.
            if let Ok(object) = PartialObjectMeta::<DynamicObject>::deserialize(&answer)
                && object.metadata.resource_version.is_some()
                && object.metadata.deletion_timestamp.is_some()
            {
                own_writes.stored(&client.cache, kind, &object);
            } else if let Ok(status) = serde_json::from_value::<ApiStatus>(answer)
                && let Some(uid) = status.details.and_then(|details| details.uid)
            {
                own_writes.removed(&client.cache, kind, key.clone(), uid);
            }
        }
        Ok(())
    }

    /// Writes `status`, which ordinary writes leave alone.
    pub fn status(&self) -> ObjectsSubResource<'a, V> {
        self.sub_resource("status")
    }

    /// Writes a subresource.
    pub fn sub_resource(&self, name: &'static str) -> ObjectsSubResource<'a, V> {
        ObjectsSubResource { objects: self.clone(), name }
    }
}

impl<V: View + Resource> Objects<'_, V> {
    /// Creates `object`, as [`Client::create`] does.
    pub async fn create(&self, object: &V) -> Result<V, ClientError>
    where
        V: Serialize,
    {
        let key = ObjectKey::of(object);
        let request = Request::new(path(&self.kind, &key)?)
            .create(&self.client.post_params(), encode(&self.kind, object)?);
        self.write("create", &key, request).await
    }

    /// Replaces `object`, as [`Client::update`] does.
    pub async fn update(&self, object: &V) -> Result<V, ClientError>
    where
        V: Serialize,
    {
        let key = named(&self.kind, object)?;
        let body = encode(&self.kind, object)?;
        let request =
            Request::new(path(&self.kind, &key)?).replace(key.name(), &self.client.post_params(), body);
        self.write("update", &key, request).await
    }

    /// Changes the part of an object that `patch` names, as [`Client::patch`] does.
    pub async fn patch<P>(&self, key: &ObjectKey, patch: &Patch<P>) -> Result<V, ClientError>
    where
        P: Serialize + fmt::Debug,
    {
        let params = self.client.patch_params(patch);
        let request = Request::new(path(&self.kind, key)?).patch(key.name(), &params, patch);
        self.write("patch", key, request).await
    }

    async fn write(
        &self,
        verb: &'static str,
        key: &ObjectKey,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<V, ClientError> {
        let Self { client, kind, .. } = self;
        let request = request.map_err(kube::Error::BuildRequest);
        let stored: V = send(&client.kube, verb, kind, key.to_string(), request).await?;
        if self.is_news(&stored) {
            writes_of_task::note_change();
        }
        if let Some(own_writes) = &client.own_writes {
            own_writes.stored(&client.cache, kind, &stored);
        }
        Ok(stored)
    }

    /// Whether a stored object has a version that neither the cache nor an own write has shown before: the write changed something.
    fn is_news(&self, stored: &V) -> bool {
        let Self { client, kind, .. } = self;
        let version = stored.meta().resource_version.as_ref().and_then(|version| version.parse::<u64>().ok());
        let key = ObjectKey::of(stored);
        let cached = client.cache.existing_informer(kind).and_then(|informer| informer.get(&key));
        let own = client.own_writes.as_ref().and_then(|own_writes| own_writes.version(kind, &key));
        version.is_none_or(|version| {
            version > cached.map_or(0, |entry| entry.resource_version()).max(own.unwrap_or(0))
        })
    }
}

/// Writes `status`; see [`Client::status`].
pub type Status<'a> = SubResourceWriter<'a>;

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
pub struct ObjectsSubResource<'a, V> {
    objects: Objects<'a, V>,
    name: &'static str,
}

impl<V> fmt::Debug for ObjectsSubResource<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectsSubResource")
            .field("objects", &self.objects)
            .field("name", &self.name)
            .finish()
    }
}

impl<V: View + Resource> ObjectsSubResource<'_, V> {
    /// Replaces the subresource by that of `object`, as [`SubResourceWriter::update`] does.
    pub async fn update(&self, object: &V) -> Result<V, ClientError>
    where
        V: Serialize,
    {
        let Objects { client, kind, .. } = &self.objects;
        let key = named(kind, object)?;
        let body = encode(kind, object)?;
        let request = Request::new(path(kind, &key)?);
        let request = request.replace_subresource(self.name, key.name(), &client.post_params(), body);
        self.objects.write("update", &key, request).await
    }

    /// Changes the part of the subresource that `patch` names.
    pub async fn patch<P>(&self, key: &ObjectKey, patch: &Patch<P>) -> Result<V, ClientError>
    where
        P: Serialize + fmt::Debug,
    {
        let Objects { client, kind, .. } = &self.objects;
        let request = Request::new(path(kind, key)?);
        let request = request.patch_subresource(self.name, key.name(), &client.patch_params(patch), patch);
        self.objects.write("patch", key, request).await
    }
}

/// Sends a request and decodes the answer.
pub(super) async fn send<T: DeserializeOwned>(
    client: &kube::Client,
    verb: &'static str,
    kind: &Kind,
    key: String,
    request: Result<http::Request<Vec<u8>>, kube::Error>,
) -> Result<T, ClientError> {
    let result = match request {
        Ok(request) => client.request(request).await,
        Err(error) => Err(error),
    };
    result.map_err(|error| {
        let kind = kind.clone();
        match error {
            kube::Error::Api(source) => ClientError::Api { verb, kind, key, source },
            error => ClientError::Request { verb, kind, key, source: Box::new(error) },
        }
    })
}

fn named<K: Resource>(kind: &Kind, object: &K) -> Result<ObjectKey, ClientError> {
    let key = ObjectKey::of(object);
    if key.name().is_empty() {
        return Err(ClientError::Incomplete { kind: kind.clone(), field: "metadata.name" });
    }
    Ok(key)
}

/// A namespaced object without a namespace would be sent to the collection of all namespaces, which takes no writes.
fn path(kind: &Kind, key: &ObjectKey) -> Result<String, ClientError> {
    if kind.scope() == Scope::Namespaced && key.namespace().is_none() {
        return Err(ClientError::Incomplete { kind: kind.clone(), field: "metadata.namespace" });
    }
    Ok(kind.collection_path(key.namespace()))
}

fn encode<K: Serialize>(kind: &Kind, object: &K) -> Result<Vec<u8>, ClientError> {
    serde_json::to_vec(object).map_err(|source| ClientError::Encode { kind: kind.clone(), source })
}
