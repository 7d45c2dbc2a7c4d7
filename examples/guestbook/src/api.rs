//! The kind `Guestbook`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A guestbook that somebody would like to have.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "webapp.example.com",
    version = "v1",
    kind = "Guestbook",
    namespaced,
    status = "GuestbookStatus",
    shortname = "gb",
    category = "all",
    printcolumn = r#"{"name":"Replicas","type":"integer","jsonPath":".spec.replicas"}"#,
    printcolumn = r#"{"name":"Available","type":"integer","jsonPath":".status.availableReplicas"}"#,
    printcolumn = r#"{"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name":"Message","type":"string","jsonPath":".spec.message","priority":1}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct GuestbookSpec {
    /// The image that serves the guestbook.
    pub image: String,
    /// How many pods serve it.
    #[serde(default = "one")]
    pub replicas: i32,
    /// What the first page says.
    #[serde(default)]
    pub message: String,
}

/// How far the guestbook has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GuestbookStatus {
    /// The generation of the spec that this status speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How many pods serve the guestbook now.
    #[serde(default)]
    pub available_replicas: i32,
    /// `Ready` and whatever else there is to say.
    #[serde(default)]
    #[schemars(schema_with = "conditions")]
    pub conditions: Vec<Condition>,
}

fn one() -> i32 {
    1
}

/// Conditions are a map by `type`: two writers of different conditions do not overwrite each other.
fn conditions(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["type", "status", "reason", "message", "lastTransitionTime"],
            "properties": {
                "type": { "type": "string" },
                "status": { "type": "string" },
                "reason": { "type": "string" },
                "message": { "type": "string" },
                "observedGeneration": { "type": "integer", "format": "int64" },
                "lastTransitionTime": { "type": "string", "format": "date-time" },
            },
        },
    })
}
