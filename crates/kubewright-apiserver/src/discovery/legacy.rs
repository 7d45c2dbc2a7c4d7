//! Discovery in one document per group and version.

use http::Response;

use super::json_of;
use crate::{
    kind::{Group, Kind, Served},
    value::{Value, json},
    wire::Body,
};

/// `/api`.
pub(super) fn core() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// `/apis`.
pub(super) fn groups(served: &Served) -> Value {
    let groups: Vec<Value> =
        served.groups().iter().filter(|group| !group.name.is_empty()).map(group_value).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`.
pub(crate) fn group(served: &Served, name: &str) -> Option<Response<Body>> {
    let found = served.group(name).filter(|group| !group.name.is_empty())?;
    let mut value = group_value(found);
    value["kind"] = "APIGroup".into();
    value["apiVersion"] = "v1".into();
    Some(json_of(&value))
}

/// `/api/v1` and `/apis/GROUP/VERSION`.
pub(crate) fn resources(served: &Served, group: &str, version: &str) -> Option<Response<Body>> {
    let found = served.group(group)?.version(version)?;
    let resources: Vec<Value> = found.kinds.iter().flat_map(|kind| resource(kind)).collect();
    Some(json_of(&json!({
        "kind": "APIResourceList", "apiVersion": "v1",
        "groupVersion": group_version(group, version), "resources": resources,
    })))
}

fn group_value(group: &Group) -> Value {
    let versions: Vec<Value> = group
        .versions
        .iter()
        .map(|version| json!({"groupVersion": group_version(&group.name, &version.version), "version": version.version}))
        .collect();
    json!({"name": group.name, "preferredVersion": versions.first(), "versions": versions})
}

fn resource(kind: &Kind) -> Vec<Value> {
    let mut own = json!({
        "name": kind.plural, "singularName": kind.singular, "namespaced": kind.is_namespaced(),
        "kind": kind.kind, "verbs": kind.verbs,
    });
    if !kind.short_names.is_empty() {
        own["shortNames"] = kind.short_names.clone().into();
    }
    if !kind.categories.is_empty() {
        own["categories"] = kind.categories.clone().into();
    }
    let subresources = kind.subresources.iter().map(|subresource| {
        let mut value = json!({
            "name": format!("{}/{}", kind.plural, subresource.name()), "singularName": "",
            "namespaced": kind.is_namespaced(), "kind": kind.kind, "verbs": subresource.verbs(),
        });
        if let Some([group, version, other]) = subresource.other_kind() {
            value["kind"] = other.into();
            if (group, version) != (kind.group.as_str(), kind.version.as_str()) {
                value["group"] = group.into();
                value["version"] = version.into();
            }
        }
        value
    });
    std::iter::once(own).chain(subresources).collect()
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
