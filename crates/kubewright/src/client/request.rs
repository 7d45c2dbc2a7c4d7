//! Requests as they go out, and what comes back.

use kube::{Resource, core::Status};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::ClientError;
use crate::object::{Form, Kind, ObjectKey, Scope};

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

/// Reads the answer to a write as a `V`.
pub(super) fn read_answer<V: DeserializeOwned>(
    verb: &'static str,
    kind: &Kind,
    key: &ObjectKey,
    answer: &Value,
) -> Result<V, ClientError> {
    V::deserialize(answer).map_err(|error| ClientError::Request {
        verb,
        kind: kind.clone(),
        key: key.to_string(),
        source: Box::new(kube::Error::SerdeError(error)),
    })
}

/// Whether the API server has refused a write, so that nothing has become of it. What it says with a 5xx is a guess of its own: a request that ran into its
/// deadline may have been carried out.
pub(super) fn is_refusal(error: &ClientError) -> bool {
    let is_sure = |status: &Status| (400..500).contains(&status.code);
    match error {
        ClientError::Request { source, .. } => matches!(**source, kube::Error::BuildRequest(_)),
        error => error.status().is_none_or(is_sure),
    }
}

/// Whole objects of `kind` can be written as `V`s.
///
/// Source: controller-runtime `metadataClient`, which refuses both verbs.
pub(super) fn check_whole<V: Resource>(verb: &'static str, kind: &Kind) -> Result<(), ClientError> {
    if V::metadata_api() || kind.form() == Form::Metadata {
        return Err(ClientError::MetadataOnly { verb, kind: kind.clone() });
    }
    Ok(())
}

/// The key of an object that has to have a name.
pub(super) fn named<K: Resource>(kind: &Kind, object: &K) -> Result<ObjectKey, ClientError> {
    let key = ObjectKey::of(object);
    if key.name().is_empty() {
        return Err(ClientError::Incomplete { kind: kind.clone(), key, field: "metadata.name" });
    }
    Ok(kind.key(&key))
}

/// A namespaced object without a namespace would be sent to the collection of all namespaces, which takes no writes.
pub(super) fn path(kind: &Kind, key: &ObjectKey) -> Result<String, ClientError> {
    if kind.scope() == Scope::Namespaced && key.namespace().is_none() {
        return Err(ClientError::Incomplete {
            kind: kind.clone(),
            key: key.clone(),
            field: "metadata.namespace",
        });
    }
    Ok(kind.collection_path(key.namespace()))
}

pub(super) fn encode<K: Serialize>(kind: &Kind, key: &ObjectKey, object: &K) -> Result<Vec<u8>, ClientError> {
    serde_json::to_vec(object).map_err(|source| ClientError::Encode {
        kind: kind.clone(),
        key: key.clone(),
        source,
    })
}
