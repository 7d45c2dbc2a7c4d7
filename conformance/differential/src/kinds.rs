//! What requests are made about: kinds, and a body of each that every server takes.

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};

/// A kind that both servers have.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Kind {
    pub(crate) api_version: String,
    pub(crate) name: String,
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
    pub(crate) subresources: Vec<String>,
    #[serde(skip)]
    pub(crate) is_custom: bool,
    /// All but `apiVersion`, `kind` and `metadata`.
    pub(crate) content: Value,
    /// A merge patch that changes the content, and is allowed to.
    pub(crate) change: Value,
    /// A merge patch that its rules or its schema refuse.
    pub(crate) wrong: Value,
}

impl Kind {
    /// The path of its objects in a namespace, which is left out for kinds without.
    pub(crate) fn collection(&self, namespace: &str) -> String {
        let root = if self.api_version.contains('/') { "/apis" } else { "/api" };
        let namespace = if self.namespaced { format!("/namespaces/{namespace}") } else { String::new() };
        format!("{root}/{}{namespace}/{}", self.api_version, self.plural)
    }
}

/// The built-in kinds.
pub(crate) fn built_in() -> anyhow::Result<Vec<Kind>> {
    serde_json::from_str(include_str!("kinds.json")).context("kinds.json")
}

/// A custom resource of a group of its own.
pub(crate) fn custom(group: &str, random: &mut fastrand::Rng) -> (Kind, Value) {
    let namespaced = random.bool();
    let mut subresources = Vec::new();
    let mut declared = json!({});
    if random.bool() {
        subresources.push("status".to_owned());
        declared["status"] = json!({});
    }
    if random.bool() {
        subresources.push("scale".to_owned());
        declared["scale"] =
            json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
    }
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage, "subresources": declared,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
        })
    };
    let mut versions = vec![version("v1", true)];
    if random.bool() {
        versions.push(version("v2", false));
    }
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group, "scope": if namespaced { "Namespaced" } else { "Cluster" }, "versions": versions,
            "names": {"plural": "widgets", "kind": "Widget"},
        },
    });
    let version = if versions.len() == 2 && random.bool() { "v2" } else { "v1" };
    let kind = Kind {
        api_version: format!("{group}/{version}"),
        name: "Widget".into(),
        plural: "widgets".into(),
        namespaced,
        subresources,
        is_custom: true,
        content: json!({"spec": {"size": 1, "replicas": 1}}),
        change: json!({"spec": {"size": 2}}),
        wrong: json!({"spec": {"replicas": -1}}),
    };
    (kind, definition)
}
