//! Writes to the API server.

use std::{fmt, pin::Pin};

use kube::{
    Resource,
    core::{
        Request,
        params::{DeleteParams, Patch, PatchParams, PostParams},
    },
};
use serde::Serialize;
use serde_json::Value;

use super::{
    Client, ClientError, Objects,
    kept::Sent,
    own_writes::{Doubt, Write, key_of_answer},
    request::{self, check_whole, encode, named, path},
    writes_of_task,
};
use crate::object::{Kind, Object, ObjectKey, View};

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

    pub(super) fn post_params(&self) -> PostParams {
        PostParams {
            field_manager: self.field_manager.as_deref().map(ToOwned::to_owned),
            ..PostParams::default()
        }
    }

    pub(super) fn patch_params<P: Serialize>(&self, patch: &Patch<P>) -> PatchParams {
        PatchParams {
            field_manager: self.field_manager.as_deref().map(ToOwned::to_owned),
            force: matches!(patch, Patch::Apply(_)),
            ..PatchParams::default()
        }
    }
}

impl<V> Objects<'_, V> {
    /// Deletes an object, as [`Client::delete`] does.
    pub async fn delete(&self, key: &ObjectKey, params: &DeleteParams) -> Result<(), ClientError> {
        let Self { client, kind, .. } = self;
        let key = kind.key(key);
        let request = Request::new(path(kind, &key)?).delete(key.name(), params);
        let remember = !params.dry_run;
        client.send("delete", kind, &key, request, remember).await.map(|_| ())
    }
}

impl<V: View> Objects<'_, V> {
    /// Creates `object`, as [`Client::create`] does.
    pub async fn create(&self, object: &V) -> Result<V, ClientError>
    where
        V: Resource + Serialize,
    {
        check_whole::<V>("create", &self.kind)?;
        let key = self.kind.key(&ObjectKey::of(object));
        let body = encode(&self.kind, &key, object)?;
        let request = Request::new(path(&self.kind, &key)?).create(&self.client.post_params(), body);
        self.write("create", &key, request).await
    }

    /// Replaces `object`, as [`Client::update`] does.
    pub async fn update(&self, object: &V) -> Result<V, ClientError>
    where
        V: Resource + Serialize,
    {
        let key = named(&self.kind, object)?;
        self.replace(&key, None, object).await
    }

    /// Changes the part of an object that `patch` names, as [`Client::patch`] does.
    pub async fn patch<P>(&self, key: &ObjectKey, patch: &Patch<P>) -> Result<V, ClientError>
    where
        P: Serialize + fmt::Debug,
    {
        let key = self.kind.key(key);
        let params = self.client.patch_params(patch);
        let request = Request::new(path(&self.kind, &key)?).patch(key.name(), &params, patch);
        self.write("patch", &key, request).await
    }

    /// Replaces an object, or one subresource of it, by `document`.
    pub(crate) async fn replace(
        &self,
        key: &ObjectKey,
        sub_resource: Option<&'static str>,
        document: &impl Serialize,
    ) -> Result<V, ClientError>
    where
        V: Resource,
    {
        check_whole::<V>("update", &self.kind)?;
        let key = &self.kind.key(key);
        let body = encode(&self.kind, key, document)?;
        let request = Request::new(path(&self.kind, key)?);
        let params = self.client.post_params();
        let request = match sub_resource {
            Some(name) => request.replace_subresource(name, key.name(), &params, body),
            None => request.replace(key.name(), &params, body),
        };
        self.write("update", key, request).await
    }

    pub(super) async fn write(
        &self,
        verb: &'static str,
        key: &ObjectKey,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<V, ClientError> {
        let Self { client, kind, .. } = self;
        let answer = client.send(verb, kind, key, request, true).await?;
        request::read_answer(verb, kind, key, &answer)
    }
}

impl Client {
    /// Sends a write and gives its answer. `remember`: reads wait until the cache has seen what became of it, also if the answer is lost.
    ///
    /// Boxed, since all kinds share it, and every future of a reconcile would carry it.
    fn send<'a>(
        &'a self,
        verb: &'static str,
        kind: &'a Kind,
        key: &'a ObjectKey,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
        remember: bool,
    ) -> Pin<Box<dyn Future<Output = Result<Value, ClientError>> + Send + 'a>> {
        Box::pin(async move {
            let own_writes = self.own_writes.as_deref().filter(|_| remember);
            let doubt = own_writes.map(|own_writes| Doubt::new(own_writes, &self.cache, kind, key));
            let request = request.map_err(kube::Error::BuildRequest);
            let sent = request.as_ref().ok().filter(|_| verb != "delete");
            let sent = sent.and_then(|request| Sent::read(kind, key, request));
            let result: Result<Value, _> =
                request::send(&self.kube, verb, kind, key.to_string(), request).await;
            let write = match &result {
                Ok(answer) => {
                    let write = Write::of_answer(verb == "delete", answer);
                    if verb != "delete" {
                        self.judge(kind, &key_of_answer(kind, answer, key), write.as_ref(), sent, answer);
                    }
                    // An answer that says nothing leaves the write in doubt.
                    write.map(|write| Some((key_of_answer(kind, answer, key), write)))
                }
                Err(error) if request::is_refusal(error) => Some(None),
                Err(_) => None,
            };
            if let (Some(doubt), Some(write)) = (doubt, write) {
                doubt.settle(write);
            }
            result
        })
    }

    /// Takes note of what a write has changed, and of what the API server did not keep of it.
    fn judge(&self, kind: &Kind, key: &ObjectKey, write: Option<&Write>, sent: Option<Sent>, answer: &Value) {
        let lost = sent.and_then(|sent| sent.lost(answer));
        if let Some(field) = &lost {
            self.lost.name(kind, key, field);
        }
        writes_of_task::note(write.is_none_or(|write| self.is_news(kind, key, write)), lost);
    }

    /// Whether a write made a version that neither the cache nor an own write has shown before: it changed something.
    fn is_news(&self, kind: &Kind, key: &ObjectKey, write: &Write) -> bool {
        let cached = self.cache.informers_of(kind).into_iter().filter_map(|informer| informer.get(key));
        let cached = cached.map(|entry| entry.resource_version()).max();
        let own = self.own_writes.as_ref().and_then(|own_writes| own_writes.version(kind, key));
        write.version() > cached.max(own).unwrap_or(0)
    }
}
