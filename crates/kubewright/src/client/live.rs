//! Reads of the API server.

use std::fmt;

use kube::core::{
    ObjectList, Request,
    params::{GetParams, ListParams},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{ClientError, request};
use crate::{
    cache::ListOptions,
    object::{Kind, Object, ObjectKey, View},
};

/// Reads past the cache; see [`Client::live`](super::Client::live).
#[derive(Clone, Copy)]
pub struct Live<'a> {
    pub(super) kube: &'a kube::Client,
}

impl Live<'_> {
    /// Reads one object.
    ///
    /// # Errors
    /// [`is_not_found`](ClientError::is_not_found) if the API server has no such object.
    pub async fn get<K: Object>(&self, key: &ObjectKey) -> Result<K, ClientError> {
        self.get_as(&Kind::of::<K>(), key).await
    }

    /// As [`get`](Self::get), of any kind, read as a `V`.
    pub async fn get_as<V: View>(&self, kind: &Kind, key: &ObjectKey) -> Result<V, ClientError> {
        let key = &kind.key(key);
        let request =
            Request::new(kind.collection_path(key.namespace())).get(key.name(), &GetParams::default());
        request::send(self.kube, "get", kind, key.to_string(), request.map_err(kube::Error::BuildRequest))
            .await
    }

    /// One object as it comes, and as a `V`.
    pub(crate) async fn get_document<V: View>(
        &self,
        kind: &Kind,
        key: &ObjectKey,
    ) -> Result<(Value, V), ClientError> {
        let document = self.get_as::<Value>(kind, key).await?;
        let object = request::read_answer("get", kind, key, &document)?;
        Ok((document, object))
    }

    /// Reads the objects that `options` ask for, in one request.
    pub async fn list<K: Object>(&self, options: &ListOptions) -> Result<Vec<K>, ClientError> {
        self.items(&Kind::of::<K>(), options).await
    }

    /// As [`list`](Self::list), of any kind, read as `V`s.
    pub async fn list_as<V: View>(&self, kind: &Kind, options: &ListOptions) -> Result<Vec<V>, ClientError> {
        let items: Vec<Map<String, Value>> = self.items(kind, options).await?;
        let read = |mut item: Map<String, Value>| {
            // In lists of built-in kinds the items do not say what they are.
            item.entry("apiVersion").or_insert_with(|| kind.api_version().into());
            item.entry("kind").or_insert_with(|| kind.kind().into());
            serde_json::from_value(Value::Object(item))
        };
        items.into_iter().map(read).collect::<Result<_, _>>().map_err(|error| ClientError::Request {
            verb: "list",
            kind: kind.clone(),
            key: options.namespace.clone().unwrap_or_default(),
            source: Box::new(kube::Error::SerdeError(error)),
        })
    }

    async fn items<T: DeserializeOwned + Clone>(
        &self,
        kind: &Kind,
        options: &ListOptions,
    ) -> Result<Vec<T>, ClientError> {
        let namespace = options.namespace.as_deref();
        let params = ListParams {
            label_selector: options.label_selector.as_ref().map(ToString::to_string),
            ..ListParams::default()
        };
        let request = Request::new(kind.collection_path(namespace)).list(&params);
        let key = namespace.unwrap_or_default().to_owned();
        let list: ObjectList<T> =
            request::send(self.kube, "list", kind, key, request.map_err(kube::Error::BuildRequest)).await?;
        Ok(list.items)
    }
}

impl fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Live")
    }
}
