//! The rows that are served at this moment.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use kube::core::Version;
use parking_lot::RwLock;

use super::{builtin, row::Kind};

/// The rows that are served now. Clones of the inner [`Registry`] stay as they were when they were taken.
#[derive(Debug)]
pub(crate) struct Kinds(RwLock<Arc<Registry>>);

impl Kinds {
    /// The built-in kinds.
    pub(crate) fn new() -> Self {
        let builtin = builtin::kinds().into_iter().map(Arc::new).collect();
        Self(RwLock::new(Arc::new(Registry::new(builtin, BTreeMap::new()))))
    }

    pub(crate) fn current(&self) -> Arc<Registry> {
        self.0.read().clone()
    }

    /// Serves the rows of a definition in place of those it had before. Without rows the definition is forgotten.
    pub(crate) fn set_custom(&self, definition: &str, kinds: Vec<Kind>) {
        let mut current = self.0.write();
        let mut custom = current.custom.clone();
        let kinds = kinds.into_iter().map(Arc::new).collect();
        let before = custom.insert(definition.to_owned(), kinds).unwrap_or_default();
        custom.retain(|_, kinds| !kinds.is_empty());
        *current = Arc::new(Registry::new(current.builtin.clone(), custom));
        for kind in before {
            kind.retired.cancel();
        }
    }
}

/// A fixed set of rows with its indexes.
#[derive(Debug)]
pub(crate) struct Registry {
    builtin: Vec<Arc<Kind>>,
    custom: BTreeMap<String, Vec<Arc<Kind>>>,
    groups: Vec<Group>,
    by_resource: HashMap<(String, String, String), Arc<Kind>>,
}

/// A group with its versions, the preferred one first.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) versions: Vec<GroupVersion>,
}

/// The kinds of one version of a group.
#[derive(Debug)]
pub(crate) struct GroupVersion {
    pub(crate) version: String,
    pub(crate) kinds: Vec<Arc<Kind>>,
}

impl Registry {
    fn new(builtin: Vec<Arc<Kind>>, custom: BTreeMap<String, Vec<Arc<Kind>>>) -> Self {
        let all = || builtin.iter().chain(custom.values().flatten());
        let key = |kind: &Kind| (kind.group.clone(), kind.version.clone(), kind.plural.clone());
        let by_resource = all().map(|kind| (key(kind), kind.clone())).collect();
        let groups = group(&builtin, custom.values().flatten());
        Self { builtin, custom, groups, by_resource }
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.by_resource.get(&(group.to_owned(), version.to_owned(), plural.to_owned()))
    }

    /// The groups in the order of discovery: the core, built-in ones, then custom ones by name.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub(crate) fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The rows that a definition has now.
    pub(crate) fn custom(&self, definition: &str) -> &[Arc<Kind>] {
        self.custom.get(definition).map(Vec::as_slice).unwrap_or_default()
    }

    /// All kinds, custom ones with the names of the definitions they come from.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Option<&str>, &Arc<Kind>)> {
        let custom =
            self.custom.iter().flat_map(|(name, kinds)| kinds.iter().map(|kind| (Some(name.as_str()), kind)));
        self.builtin.iter().map(|kind| (None, kind)).chain(custom)
    }
}

impl Group {
    pub(crate) fn version(&self, version: &str) -> Option<&GroupVersion> {
        self.versions.iter().find(|candidate| candidate.version == version)
    }
}

fn group<'a>(builtin: &'a [Arc<Kind>], custom: impl Iterator<Item = &'a Arc<Kind>>) -> Vec<Group> {
    let mut customs: Vec<&Arc<Kind>> = custom.collect();
    customs.sort_by(|a, b| (&a.group, &a.plural).cmp(&(&b.group, &b.plural)));
    let mut groups: Vec<Group> = Vec::new();
    for kind in builtin.iter().chain(customs) {
        let index = groups.iter().position(|group| group.name == kind.group).unwrap_or_else(|| {
            groups.push(Group { name: kind.group.clone(), versions: Vec::new() });
            groups.len() - 1
        });
        let versions = &mut groups[index].versions;
        match versions.iter_mut().find(|version| version.version == kind.version) {
            Some(version) => version.kinds.push(kind.clone()),
            None => versions.push(GroupVersion { version: kind.version.clone(), kinds: vec![kind.clone()] }),
        }
    }
    for group in &mut groups {
        group.versions.sort_by(|a, b| by_priority(&a.version, &b.version));
    }
    groups
}

/// Stable versions before betas before alphas, newer before older.
///
/// Source: apimachinery `version.CompareKubeAwareVersionStrings`.
fn by_priority(a: &str, b: &str) -> Ordering {
    Version::parse(b).priority().cmp(&Version::parse(a).priority())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{kind::CustomDefinition, object::Object};

    fn definition() -> Object {
        let version = |name: &str, served: bool, storage: bool| {
            json!({"name": name, "served": served, "storage": storage,
                "schema": {"openAPIV3Schema": {"type": "object"}}, "subresources": {"status": {}}})
        };
        let versions =
            [version("v1alpha1", true, false), version("v1", true, true), version("v2", false, false)];
        let value = json!({"spec": {"group": "example.com", "scope": "Namespaced", "versions": versions,
            "names": {"plural": "widgets", "kind": "Widget", "listKind": "WidgetList", "singular": "widget"}}});
        Object(value.as_object().cloned().unwrap())
    }

    #[test]
    fn rows_of_a_definition_come_and_go() {
        let kinds = Kinds::new();
        kinds.set_custom("widgets.example.com", CustomDefinition(&definition()).kinds());
        let with = kinds.current();
        assert!(with.find("example.com", "v1", "widgets").is_some());
        assert!(with.find("example.com", "v2", "widgets").is_none(), "not served");
        let versions: Vec<_> =
            with.group("example.com").unwrap().versions.iter().map(|v| &*v.version).collect();
        assert_eq!(versions, ["v1", "v1alpha1"]);
        assert_eq!(with.groups().last().unwrap().name, "example.com");

        kinds.set_custom("widgets.example.com", Vec::new());
        assert!(kinds.current().group("example.com").is_none());
        assert!(with.custom("widgets.example.com")[0].retired.is_cancelled());
    }
}
