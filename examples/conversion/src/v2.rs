//! The version in which a schedule has fields.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is to be kept safe, and when.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v2", kind = "Backup", namespaced, derive = "PartialEq")]
pub struct BackupSpec {
    /// The volume.
    pub volume: String,
    /// When.
    pub schedule: Schedule,
}

/// When, in the words of a crontab. What is left out is any: `*`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Schedule {
    /// 0 to 59.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minute: Option<String>,
    /// 0 to 23.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hour: Option<String>,
    /// 1 to 31.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_of_month: Option<String>,
    /// 1 to 12.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month: Option<String>,
    /// 0 to 6, from Sunday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_of_week: Option<String>,
}
