//! The row itself.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{column::Column, strategy::Strategy};
use crate::{
    convert::Converter,
    error::{Named, strconv},
    selector::FieldLabel,
    storage::Prefix,
    value::Value,
};

/// One resource at one version.
#[derive(Debug, Clone)]
#[allow(clippy::struct_field_names, reason = "`kind` is Kubernetes' word, for the row's name as well")]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) scope: Scope,
    /// What clients may do with it, in the order of discovery documents.
    pub(crate) verbs: &'static [&'static str],
    pub(crate) subresources: Vec<Subresource>,
    /// Where the objects are kept. Versions of one resource share it.
    pub(crate) prefix: Prefix,
    /// The `apiVersion` in which objects are kept.
    pub(crate) kept_as: String,
    /// How what is kept becomes what is shown at this version.
    pub(crate) converter: Arc<dyn Converter>,
    pub(crate) strategy: Arc<dyn Strategy>,
    /// Where the real server keeps the objects in etcd, below `/registry`. Some messages show it.
    pub(crate) registry_path: String,
    /// The field labels that selectors may name besides `metadata.name` and `metadata.namespace`, each with the
    /// pointer to its value in the stored object.
    pub(crate) field_labels: Vec<(String, String)>,
    pub(crate) columns: Vec<Column>,
    /// The schema of a custom resource as its definition gives it.
    pub(crate) schema: Option<Arc<Value>>,
    /// What clients of this version are told if it is deprecated.
    pub(crate) deprecation: Option<String>,
    /// Whether the row comes from a `CustomResourceDefinition`. Their lists repeat kind and version in each item.
    pub(crate) is_custom: bool,
    /// The UID of the definition that it comes from; empty for a built-in one.
    pub(crate) definition_uid: String,
    /// Fires when the row is replaced or withdrawn; watches of it end.
    pub(crate) retired: CancellationToken,
}

impl Kind {
    /// `v1`, `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// What a label stands for that field selectors may name.
    ///
    /// # Errors
    /// What upstream says of other labels: kinds without labels of their own, and Jobs, have words of their own.
    ///
    /// Source: the field label conversions of kubernetes `pkg/apis`, apimachinery
    /// `runtime.DefaultMetaV1FieldSelectorConversion`, apiextensions `conversion.crConverter.ConvertFieldLabel`.
    pub(crate) fn field_label(&self, label: &str) -> Result<FieldLabel, String> {
        let has_default = !self.is_custom && self.field_labels.is_empty();
        match label {
            "metadata.name" => return Ok(FieldLabel::text("/metadata/name")),
            "metadata.namespace" if self.is_namespaced() || has_default => {
                return Ok(FieldLabel::text("/metadata/namespace"));
            }
            _ => {}
        }
        match self.field_labels.iter().find(|(known, _)| known == label) {
            Some((_, pointer)) if self.is_custom => Ok(FieldLabel::text(pointer)),
            // A struct in Go has a value where JSON has none.
            Some((_, pointer)) => {
                let absent = match pointer.as_str() {
                    "/spec/unschedulable" | "/spec/hostNetwork" => "false",
                    "/status/succeeded" | "/status/replicas" => "0",
                    _ => "",
                };
                Ok(FieldLabel { pointer: pointer.clone(), absent })
            }
            None if has_default => {
                let known = r#"only "metadata.name", "metadata.namespace""#;
                Err(format!("{} is not a known field selector: {known}", strconv::quote(label)))
            }
            None if self.kind == "Job" && !self.is_custom => {
                Err(format!("field label {} not supported for Job", strconv::quote(label)))
            }
            None => Err(format!("field label not supported: {label}")),
        }
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name() == name)
    }

    pub(crate) fn has_status(&self) -> bool {
        self.subresources.iter().any(|subresource| matches!(subresource, Subresource::Status))
    }
}

impl Named for Kind {
    fn group(&self) -> &str {
        &self.group
    }

    fn plural(&self) -> &str {
        &self.plural
    }

    fn kind(&self) -> &str {
        &self.kind
    }
}

/// Whether objects of a kind live in a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Namespaced,
    Cluster,
}

/// A part of an object with a path of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subresource {
    /// Writes of the status leave the rest alone.
    Status,
    /// The number of replicas as `autoscaling/v1` Scale.
    Scale(ScalePaths),
    /// The only way to change a namespace's `spec.finalizers`.
    Finalize,
    /// Says whether a request for a certificate is granted.
    Approval,
    /// Gives a pod its node.
    Binding,
    /// Deletes a pod unless a disruption budget keeps it.
    Eviction,
    /// Makes a token for a service account.
    Token,
}

/// Where a kind keeps its replicas, as JSON pointers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    pub(crate) replicas: String,
    pub(crate) status_replicas: String,
    pub(crate) selector: Option<String>,
}

impl Subresource {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Scale(_) => "scale",
            Self::Finalize => "finalize",
            Self::Approval => "approval",
            Self::Binding => "binding",
            Self::Eviction => "eviction",
            Self::Token => "token",
        }
    }

    /// The group, version and kind of what is written to it, where that is another one than that of the resource.
    pub(crate) fn other_kind(&self) -> Option<[&'static str; 3]> {
        match self {
            Self::Status | Self::Finalize | Self::Approval => None,
            Self::Scale(_) => Some(["autoscaling", "v1", "Scale"]),
            Self::Binding => Some(["", "v1", "Binding"]),
            Self::Eviction => Some(["policy", "v1", "Eviction"]),
            Self::Token => Some(["authentication.k8s.io", "v1", "TokenRequest"]),
        }
    }

    /// What clients may do with it.
    pub(crate) fn verbs(&self) -> &'static [&'static str] {
        match self {
            Self::Status | Self::Scale(_) | Self::Approval => &["get", "patch", "update"],
            Self::Finalize => &["update"],
            Self::Binding | Self::Eviction | Self::Token => &["create"],
        }
    }
}

/// What clients may do with most resources.
pub(super) const ALL_VERBS: &[&str] =
    &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// What they may do with namespaces, which are deleted one by one.
pub(super) const ALL_BUT_DELETE_COLLECTION: &[&str] =
    &["create", "delete", "get", "list", "patch", "update", "watch"];
