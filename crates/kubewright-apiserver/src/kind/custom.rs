//! Rows made from a `CustomResourceDefinition`.

use std::sync::Arc;

use kube::core::Version;
use tokio_util::sync::CancellationToken;

use super::{
    column::{Cell, Column},
    custom_resource::CustomResources,
    custom_schema::CustomSchema,
    definition,
    labels::labels_and_annotations,
    row::{ALL_VERBS, Kind, ScalePaths, Scope, Subresource},
};
use crate::{
    convert::{ByName, ByWebhook, Converter},
    object::Object,
    value::Value,
    webhook::Caller,
};

/// Where definitions are kept.
pub(crate) const DEFINITIONS: &str = "apiextensions.k8s.io/customresourcedefinitions";

/// The finalizer of a definition whose objects have to go first.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The name of the definition of a resource.
pub(crate) fn definition_name(plural: &str, group: &str) -> String {
    format!("{plural}.{group}")
}

/// A definition, read for its rows.
#[derive(Debug)]
pub(crate) struct CustomDefinition<'a>(pub(crate) &'a Object);

impl CustomDefinition<'_> {
    pub(crate) fn group(&self) -> &str {
        self.0.str_at("/spec/group")
    }

    pub(crate) fn plural(&self) -> &str {
        self.0.str_at("/spec/names/plural")
    }

    /// The status of a condition.
    pub(crate) fn condition(&self, kind: &str) -> Option<&str> {
        let conditions = self.0.at("/status/conditions").and_then(Value::as_array)?;
        conditions.iter().find(|condition| condition["type"] == kind)?["status"].as_str()
    }

    /// Whether the server has nothing to add to its status, or to clear up.
    pub(crate) fn is_settled(&self) -> bool {
        if self.0.is_terminating() {
            return !self.0.finalizers().contains(&CLEANUP);
        }
        let stored = self.0.at("/status/storedVersions").and_then(Value::as_array);
        self.condition("NamesAccepted") == Some("True")
            && self.condition("Established") == Some("True")
            && self.0.at("/status/acceptedNames") == self.0.at("/spec/names")
            && stored.is_some_and(|stored| stored.iter().any(|version| *version == self.storage_version()))
    }

    /// The version in which objects are kept.
    pub(crate) fn storage_version(&self) -> &str {
        let storage = self.versions().iter().find(|version| version["storage"] == Value::Bool(true));
        storage.and_then(|version| version["name"].as_str()).unwrap_or_default()
    }

    /// One row per served version of a definition that was written at `revision`.
    pub(crate) fn kinds(&self, revision: u64, caller: &Arc<Caller>) -> Vec<Kind> {
        let schema = |version: &Value| {
            Arc::new(version.pointer("/schema/openAPIV3Schema").cloned().unwrap_or_default())
        };
        let storage = self.versions().iter().find(|version| version["storage"] == Value::Bool(true));
        let stored = CustomSchema::stored(storage.map(schema).unwrap_or_default(), revision);
        let converter = self.converter(caller);
        self.versions()
            .iter()
            .filter(|version| version["served"] == Value::Bool(true))
            .map(|version| self.kind(version, CustomSchema::other(schema(version), &stored), &converter))
            .collect()
    }

    /// What clients of a version are told if it is deprecated.
    ///
    /// Source: apiextensions `apiserver.defaultDeprecationWarning`.
    fn deprecation(&self, version: &Value) -> Option<String> {
        let is_deprecated = |version: &Value| version["deprecated"] == Value::Bool(true);
        if !is_deprecated(version) {
            return None;
        }
        if let Some(own) = version["deprecationWarning"].as_str() {
            return Some(own.to_owned());
        }
        let (group, kind) = (self.group(), self.0.str_at("/spec/names/kind"));
        let name = |version: &Value| version["name"].as_str().unwrap_or_default().to_owned();
        let priority = |name: &str| Version::parse(name).priority();
        let newer = self.versions().iter().filter(|other| {
            other["served"] == Value::Bool(true)
                && !is_deprecated(other)
                && priority(&name(other)) > priority(&name(version))
        });
        let newest = newer.map(name).max_by(|a, b| priority(a).cmp(&priority(b)));
        let advice = newest.map(|newest| format!("; use {group}/{newest} {kind}")).unwrap_or_default();
        Some(format!("{group}/{} {kind} is deprecated{advice}", name(version)))
    }

    /// How its versions become each other.
    fn converter(&self, caller: &Arc<Caller>) -> Arc<dyn Converter> {
        if self.0.str_at("/spec/conversion/strategy") != "Webhook" {
            return Arc::new(ByName);
        }
        let webhook = self.0.at("/spec/conversion/webhook").cloned().unwrap_or_default();
        let versions = self.versions().iter().filter_map(|version| version["name"].as_str());
        let versions = versions.map(|version| format!("{}/{version}", self.group())).collect();
        Arc::new(ByWebhook::new(&webhook, versions, caller.clone(), labels_and_annotations))
    }

    fn versions(&self) -> &[Value] {
        definition::versions(self.0)
    }

    fn kind(&self, version: &Value, schema: Arc<CustomSchema>, converter: &Arc<dyn Converter>) -> Kind {
        // What is served are the names that were accepted, whatever the definition has asked for since.
        let accepted = self.0.at("/status/acceptedNames").or_else(|| self.0.at("/spec/names"));
        let found = |field: &str| accepted.and_then(|names| names.get(field));
        let name = |field: &str| found(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let names = |field: &str| strings(found(field));
        let version_name = version["name"].as_str().unwrap_or_default();
        let scope =
            if self.0.str_at("/spec/scope") == "Cluster" { Scope::Cluster } else { Scope::Namespaced };
        let subresources = subresources(version);
        let scale = subresources.iter().find_map(|subresource| match subresource {
            Subresource::Scale(paths) => Some(paths.clone()),
            _ => None,
        });
        Kind {
            group: self.group().to_owned(),
            version: version_name.to_owned(),
            kind: name("kind"),
            list_kind: name("listKind"),
            plural: name("plural"),
            singular: name("singular"),
            short_names: names("shortNames"),
            categories: names("categories"),
            scope,
            verbs: ALL_VERBS,
            subresources,
            prefix: format!("{}/{}", self.group(), self.plural()).into(),
            kept_as: format!("{}/{}", self.group(), self.storage_version()),
            converter: converter.clone(),
            registry_path: format!("{}/{}", self.group(), self.plural()),
            field_labels: selectable_fields(version),
            columns: columns(version),
            schema: Some(schema.definition().clone()),
            deprecation: self.deprecation(version),
            strategy: Arc::new(CustomResources::new(schema, scale)),
            is_custom: true,
            definition_uid: self.0.uid().to_owned(),
            retired: CancellationToken::new(),
        }
    }
}

fn subresources(version: &Value) -> Vec<Subresource> {
    let mut subresources = Vec::new();
    if version.pointer("/subresources/status").is_some_and(|status| !status.is_null()) {
        subresources.push(Subresource::Status);
    }
    if let Some(scale) = version.pointer("/subresources/scale").filter(|scale| !scale.is_null()) {
        let path = |field: &str| scale[field].as_str().map(pointer);
        subresources.push(Subresource::Scale(ScalePaths {
            replicas: path("specReplicasPath").unwrap_or_default(),
            status_replicas: path("statusReplicasPath").unwrap_or_default(),
            selector: path("labelSelectorPath"),
        }));
    }
    subresources
}

fn selectable_fields(version: &Value) -> Vec<(String, String)> {
    let fields = version["selectableFields"].as_array().map(Vec::as_slice).unwrap_or_default();
    let paths = fields.iter().filter_map(|field| field["jsonPath"].as_str());
    paths.map(|path| (path.trim_start_matches('.').to_owned(), pointer(path))).collect()
}

/// Source: apiextensions `customresource/tableconvertor.New`; without columns of its own, a kind shows its age.
fn columns(version: &Value) -> Vec<Column> {
    let own = version["additionalPrinterColumns"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut columns = vec![Column::of_name()];
    if own.is_empty() {
        columns.push(Column::of_age());
    }
    columns.extend(own.iter().map(|column| {
        let text = |field: &str| column[field].as_str().unwrap_or_default();
        Column {
            description: text("description").to_owned(),
            format: text("format").to_owned(),
            priority: column["priority"].as_i64().unwrap_or_default(),
            ..Column::new(text("name"), text("type"), Cell::Path(text("jsonPath").to_owned()))
        }
    }));
    columns
}

/// `.spec.replicas` as a JSON pointer.
fn pointer(path: &str) -> String {
    path.replace('.', "/")
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
