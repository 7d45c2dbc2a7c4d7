//! Aggregated discovery: everything in two documents.

use crate::{
    kind::{Group, Kind, Scope, Served},
    value::{Value, json},
};

/// The versions of the aggregated document, which differ in nothing but their name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V2,
    V2Beta1,
}

impl Version {
    /// The first form that the client accepts; `None` when that is the old one.
    ///
    /// Clients of 1.27 to 1.29 ask for `v2beta1` alone, and cannot read anything else.
    pub(super) fn negotiate(clauses: impl Iterator<Item = String>) -> Option<Self> {
        for clause in clauses {
            let parameter = |name: &str| {
                clause
                    .split(';')
                    .skip(1)
                    .filter_map(|part| part.trim().split_once('='))
                    .find_map(|(key, value)| (key == name).then_some(value))
            };
            match (parameter("as"), parameter("g"), parameter("v")) {
                (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2")) => {
                    return Some(Self::V2);
                }
                (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2beta1")) => {
                    return Some(Self::V2Beta1);
                }
                (None, ..) => return None,
                _ => {}
            }
        }
        None
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::V2 => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            Self::V2Beta1 => "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        }
    }

    fn api_version(self) -> &'static str {
        match self {
            Self::V2 => "apidiscovery.k8s.io/v2",
            Self::V2Beta1 => "apidiscovery.k8s.io/v2beta1",
        }
    }
}

/// The core group.
pub(super) fn core(served: &Served, version: Version) -> Value {
    list(version, served.groups().iter().filter(|group| group.name.is_empty()))
}

/// All other groups.
pub(super) fn groups(served: &Served, version: Version) -> Value {
    list(version, served.groups().iter().filter(|group| !group.name.is_empty()))
}

fn list<'a>(version: Version, groups: impl Iterator<Item = &'a Group>) -> Value {
    let items: Vec<Value> = groups.map(group).collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": version.api_version(), "metadata": {}, "items": items})
}

fn group(group: &Group) -> Value {
    let versions: Vec<Value> = group
        .versions
        .iter()
        .map(|version| {
            let resources: Vec<Value> = version.kinds.iter().map(|kind| resource(kind)).collect();
            json!({"version": version.version, "freshness": "Current", "resources": resources})
        })
        .collect();
    let metadata = if group.name.is_empty() { json!({}) } else { json!({"name": group.name}) };
    json!({"metadata": metadata, "versions": versions})
}

fn resource(kind: &Kind) -> Value {
    let response_kind = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
    let mut value = json!({
        "resource": kind.plural,
        "responseKind": response_kind,
        "scope": match kind.scope { Scope::Namespaced => "Namespaced", Scope::Cluster => "Cluster" },
        "singularResource": kind.singular,
        "verbs": kind.verbs,
    });
    if !kind.short_names.is_empty() {
        value["shortNames"] = kind.short_names.clone().into();
    }
    if !kind.categories.is_empty() {
        value["categories"] = kind.categories.clone().into();
    }
    if !kind.subresources.is_empty() {
        let subresources = kind.subresources.iter().map(|subresource| {
            let response_kind = match subresource.other_kind() {
                Some([group, version, kind]) => json!({"group": group, "version": version, "kind": kind}),
                None => response_kind.clone(),
            };
            json!({"subresource": subresource.name(), "responseKind": response_kind, "verbs": subresource.verbs()})
        });
        value["subresources"] = subresources.collect();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept: &str, expected: Option<Version>) {
        assert_eq!(Version::negotiate(accept.split(',').map(str::to_owned)), expected, "{accept}");
    }

    #[test]
    fn old_clients_get_what_they_can_read() {
        const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        const V2_BETA_1: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
        check(&format!("{V2},{V2_BETA_1},application/json"), Some(Version::V2));
        check(&format!("{V2_BETA_1},application/json"), Some(Version::V2Beta1));
        check("application/json", None);
        check("application/json, */*", None);
        check("", None);
    }
}
