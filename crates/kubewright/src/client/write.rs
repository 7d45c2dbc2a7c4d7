//! Writes to the API server.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status as ApiStatus;
use kube::core::{
    Request,
    params::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Client, ClientError, writes_of_task};
use crate::object::{Kind, Object, ObjectKey, Scope};

impl Client {
    /// Creates `object` and gives back what the API server stored.
    ///
    /// # Errors
    /// [`is_already_exists`](ClientError::is_already_exists) if there is an object of this name.
    ///
    /// # Cancel safety
    /// A request that was sent may be carried out.
    pub async fn create<K: Object + Serialize>(&self, object: &K) -> Result<K, ClientError> {
        let kind = Kind::of::<K>();
        let key = ObjectKey::of(object);
        let request = Request::new(path(&kind, &key)?).create(&self.post_params(), encode(&kind, object)?);
        self.write("create", &kind, &key, request).await
    }

    /// Replaces `object`, whose `metadata.resourceVersion` says which state it was made from.
    ///
    /// # Errors
    /// [`is_conflict`](ClientError::is_conflict) if somebody else has changed it since.
    ///
    /// # Cancel safety
    /// A request that was sent may be carried out.
    pub async fn update<K: Object + Serialize>(&self, object: &K) -> Result<K, ClientError> {
        let kind = Kind::of::<K>();
        let key = named(&kind, object)?;
        let body = encode(&kind, object)?;
        let request = Request::new(path(&kind, &key)?).replace(key.name(), &self.post_params(), body);
        self.write("update", &kind, &key, request).await
    }

    /// Changes the part of an object that `patch` names, whatever the rest has become.
    ///
    /// # Cancel safety
    /// A request that was sent may be carried out.
    pub async fn patch<K, P>(&self, key: &ObjectKey, patch: &Patch<P>) -> Result<K, ClientError>
    where
        K: Object,
        P: Serialize + std::fmt::Debug,
    {
        let kind = Kind::of::<K>();
        let request = Request::new(path(&kind, key)?).patch(key.name(), &self.patch_params(patch), patch);
        self.write("patch", &kind, key, request).await
    }

    /// Deletes an object, and in the background what it owns.
    ///
    /// An object with finalizers stays, with a `deletionTimestamp`, until the last of them is gone. `preconditions` guard against deleting
    /// another object of the same name.
    ///
    /// # Errors
    /// [`is_not_found`](ClientError::is_not_found) if it is gone already.
    pub async fn delete<K: Object>(&self, key: &ObjectKey, params: &DeleteParams) -> Result<(), ClientError> {
        let kind = Kind::of::<K>();
        let request = Request::new(path(&kind, key)?).delete(key.name(), params);
        let answer: Value =
            send(&self.kube, "delete", &kind, key.to_string(), request.map_err(kube::Error::BuildRequest))
                .await?;
        if let Some(own_writes) = &self.own_writes {
            // The object while it waits for finalizers, else a Status that names what is gone.
            if let Ok(object) = K::deserialize(&answer)
                && object.meta().resource_version.is_some()
                && object.meta().deletion_timestamp.is_some()
            {
                own_writes.stored(&self.cache, &object);
            } else if let Ok(status) = serde_json::from_value::<ApiStatus>(answer)
                && let Some(uid) = status.details.and_then(|details| details.uid)
            {
                own_writes.removed::<K>(&self.cache, key.clone(), uid);
            }
        }
        Ok(())
    }

    /// Writes `status`, which ordinary writes leave alone.
    pub fn status(&self) -> Status<'_> {
        self.sub_resource("status")
    }

    /// Writes a subresource.
    pub fn sub_resource(&self, name: &'static str) -> SubResourceWriter<'_> {
        SubResourceWriter { client: self, name }
    }

    async fn write<K: Object>(
        &self,
        verb: &'static str,
        kind: &Kind,
        key: &ObjectKey,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<K, ClientError> {
        let request = request.map_err(kube::Error::BuildRequest);
        let stored: K = send(&self.kube, verb, kind, key.to_string(), request).await?;
        if self.is_news(kind, &stored) {
            writes_of_task::note_change();
        }
        if let Some(own_writes) = &self.own_writes {
            own_writes.stored(&self.cache, &stored);
        }
        Ok(stored)
    }

    /// Whether a stored object has a version that neither the cache nor an own write has shown before: the write changed something.
    fn is_news<K: Object>(&self, kind: &Kind, stored: &K) -> bool {
        let version = stored.meta().resource_version.as_ref().and_then(|version| version.parse::<u64>().ok());
        let key = ObjectKey::of(stored);
        let cached = self.cache.existing_informer(kind).and_then(|informer| informer.get(&key));
        let own = self.own_writes.as_ref().and_then(|own_writes| own_writes.version(kind, &key));
        version.is_none_or(|version| {
            version > cached.map_or(0, |entry| entry.resource_version()).max(own.unwrap_or(0))
        })
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
        let kind = Kind::of::<K>();
        let key = named(&kind, object)?;
        let body = encode(&kind, object)?;
        let request = Request::new(path(&kind, &key)?);
        let request = request.replace_subresource(self.name, key.name(), &self.client.post_params(), body);
        self.client.write("update", &kind, &key, request).await
    }

    /// Changes the part of the subresource that `patch` names.
    pub async fn patch<K, P>(&self, key: &ObjectKey, patch: &Patch<P>) -> Result<K, ClientError>
    where
        K: Object,
        P: Serialize + std::fmt::Debug,
    {
        let kind = Kind::of::<K>();
        let request = Request::new(path(&kind, key)?);
        let request =
            request.patch_subresource(self.name, key.name(), &self.client.patch_params(patch), patch);
        self.client.write("patch", &kind, key, request).await
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
    result.map_err(|error| ClientError::Api { verb, kind: kind.clone(), key, source: Box::new(error) })
}

fn named<K: Object>(kind: &Kind, object: &K) -> Result<ObjectKey, ClientError> {
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
