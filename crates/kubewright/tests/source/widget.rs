//! A kind of one's own, without a derive macro.

use std::borrow::Cow;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright::{
    k8s_openapi::NamespaceResourceScope,
    kube::{
        Resource,
        core::{ObjectMeta, TypeMeta},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Widget {
    #[serde(flatten)]
    types: TypeMeta,
    pub(crate) metadata: ObjectMeta,
    pub(crate) size: i64,
}

impl Widget {
    pub(crate) fn new(name: &str, size: i64) -> Self {
        let (namespace, name) = (Some("default".to_owned()), Some(name.to_owned()));
        let types = TypeMeta { api_version: "example.com/v1".into(), kind: "Widget".into() };
        Self { types, metadata: ObjectMeta { namespace, name, ..ObjectMeta::default() }, size }
    }

    /// The definition lets `size` be anything; the Rust type does not.
    pub(crate) fn definition() -> CustomResourceDefinition {
        let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        serde_json::from_value(json!({
            "metadata": { "name": "widgets.example.com" },
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": { "plural": "widgets", "kind": "Widget" },
                "versions": [
                    { "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } },
                ],
            },
        }))
        .unwrap()
    }
}

impl Resource for Widget {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Widget".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "example.com".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "widgets".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
