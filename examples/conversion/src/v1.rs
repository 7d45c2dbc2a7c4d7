//! The version that is stored.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is to be kept safe, and when.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Backup", namespaced, derive = "PartialEq")]
pub struct BackupSpec {
    /// The volume.
    pub volume: String,
    /// Minute, hour, day of the month, month, day of the week, as in a crontab.
    pub schedule: String,
}
