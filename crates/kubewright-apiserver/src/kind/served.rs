//! The rows that are served at this moment.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use kube::core::Version;

use super::{builtin, custom::DEFINITIONS, defined::Defined, row::Kind};
use crate::{
    object::Document,
    storage::{Derived, Key, Snapshot, Store},
    webhook::Caller,
};

/// The rows that are served now. They are read off the definitions in the store, and never told.
#[derive(Debug)]
pub(crate) struct Kinds {
    served: Derived<Arc<Served>>,
    /// By whom objects are converted that webhooks convert.
    caller: Arc<Caller>,
}

impl Kinds {
    /// The built-in kinds, and nobody to call.
    #[cfg(test)]
    pub(crate) fn new() -> Self {
        Self::calling(Arc::new(Caller::new(Arc::new(crate::identity::Identity::seeded(1)))))
    }

    /// The built-in kinds. `caller` asks the webhooks of kinds that come.
    pub(crate) fn calling(caller: Arc<Caller>) -> Self {
        let builtin = builtin::kinds().into_iter().map(Arc::new).collect();
        Self { served: Derived::new(Arc::new(Served::new(builtin, BTreeMap::new(), &[]))), caller }
    }

    /// The rows as they were when somebody last caught up.
    #[cfg(test)]
    pub(crate) fn current(&self) -> Arc<Served> {
        self.served.current()
    }

    /// The rows of everything that the store holds at this moment, or a later one.
    pub(crate) fn caught_up(&self, store: &Store) -> Arc<Served> {
        let replaced = |before: &Arc<Served>, after: &Arc<Served>| before.retire(after, store);
        let read = |before: &Arc<Served>, snapshot: &Snapshot| Arc::new(before.next(snapshot, &self.caller));
        self.served.caught_up(store, DEFINITIONS, read, replaced)
    }
}

/// A fixed set of rows with its indexes.
#[derive(Debug)]
pub(crate) struct Served {
    builtin: Vec<Arc<Kind>>,
    definitions: BTreeMap<String, Arc<Defined>>,
    groups: Vec<Group>,
    by_resource: HashMap<(String, String, String), Arc<Kind>>,
    /// The documents of everything, which others make.
    pub(crate) documents: [Memo; 2],
}

/// A group with its versions, the preferred one first.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) versions: Vec<Arc<GroupVersion>>,
}

/// The kinds of one version of a group.
#[derive(Debug)]
pub(crate) struct GroupVersion {
    pub(crate) version: String,
    pub(crate) kinds: Vec<Arc<Kind>>,
    /// The document of them, which others make.
    pub(crate) document: Memo,
}

/// What is made when somebody asks for it, and kept for the next one.
#[derive(Debug, Default)]
pub(crate) struct Memo(OnceLock<Bytes>);

impl Memo {
    pub(crate) fn get(&self, make: impl FnOnce() -> Bytes) -> Bytes {
        self.0.get_or_init(make).clone()
    }
}

impl Served {
    fn new(builtin: Vec<Arc<Kind>>, definitions: BTreeMap<String, Arc<Defined>>, before: &[Group]) -> Self {
        let custom = || definitions.values().flat_map(|defined| &defined.kinds);
        let all = || builtin.iter().chain(custom());
        let key = |kind: &Kind| (kind.group.clone(), kind.version.clone(), kind.plural.clone());
        let by_resource = all().map(|kind| (key(kind), kind.clone())).collect();
        let groups = group(&builtin, custom(), before);
        Self { builtin, definitions, groups, by_resource, documents: Default::default() }
    }

    /// The rows with the definitions of `snapshot`; those that have not changed stay what they are.
    fn next(&self, snapshot: &Snapshot, caller: &Arc<Caller>) -> Self {
        let read = |(key, document): (&Key, &Document)| {
            let known = self.definitions.get(key.as_str());
            let defined = match known {
                Some(known) if known.revision == document.revision() => known.clone(),
                known => Arc::new(Defined::read(document, known.map(AsRef::as_ref), caller)),
            };
            (key.to_string(), defined)
        };
        Self::new(self.builtin.clone(), snapshot.objects.iter().map(read).collect(), &self.groups)
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.by_resource.get(&(group.to_owned(), version.to_owned(), plural.to_owned()))
    }

    /// Whether the group has kinds that every server has.
    pub(crate) fn is_builtin(&self, group: &str) -> bool {
        self.builtin.iter().any(|kind| kind.group == group)
    }

    /// The groups in the order of discovery: the core, built-in ones, then custom ones by name.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub(crate) fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// What is known of a definition.
    pub(crate) fn definition(&self, name: &str) -> Option<&Arc<Defined>> {
        self.definitions.get(name)
    }

    /// All definitions, by name.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&str, &Arc<Defined>)> {
        self.definitions.iter().map(|(name, defined)| (name.as_str(), defined))
    }

    /// All kinds, custom ones with the names of the definitions they come from.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Option<&str>, &Arc<Kind>)> {
        let custom = self
            .definitions
            .iter()
            .flat_map(|(name, defined)| defined.kinds.iter().map(|kind| (Some(name.as_str()), kind)));
        self.builtin.iter().map(|kind| (None, kind)).chain(custom)
    }

    /// Ends the watches of the rows that `next` no longer has, and withdraws where they were kept.
    fn retire(&self, next: &Self, store: &Store) {
        let stays = |kind: &Arc<Kind>| {
            next.definitions.values().any(|defined| defined.kinds.iter().any(|next| Arc::ptr_eq(kind, next)))
        };
        for kind in self.definitions.values().flat_map(|defined| &defined.kinds) {
            if !stays(kind) {
                kind.retired.cancel();
                if !next.all().any(|(_, next)| next.prefix == kind.prefix) {
                    store.withdraw(&kind.prefix);
                }
            }
        }
    }
}

impl Group {
    pub(crate) fn version(&self, version: &str) -> Option<&Arc<GroupVersion>> {
        self.versions.iter().find(|candidate| candidate.version == version)
    }
}

/// The rows by group and version. Versions that are what they were `before` stay, with what was made of them.
fn group<'a>(
    builtin: &'a [Arc<Kind>],
    custom: impl Iterator<Item = &'a Arc<Kind>>,
    before: &[Group],
) -> Vec<Group> {
    let mut customs: Vec<&Arc<Kind>> = custom.collect();
    customs.sort_by(|a, b| (&a.group, &a.plural).cmp(&(&b.group, &b.plural)));
    let mut groups: Vec<(&str, Vec<GroupVersion>)> = Vec::new();
    for kind in builtin.iter().chain(customs) {
        let index = groups.iter().position(|(name, _)| *name == kind.group).unwrap_or_else(|| {
            groups.push((&kind.group, Vec::new()));
            groups.len() - 1
        });
        let versions = &mut groups[index].1;
        match versions.iter_mut().find(|version| version.version == kind.version) {
            Some(version) => version.kinds.push(kind.clone()),
            None => versions.push(GroupVersion {
                version: kind.version.clone(),
                kinds: vec![kind.clone()],
                document: Memo::default(),
            }),
        }
    }
    let known: HashMap<&str, &Group> = before.iter().map(|group| (group.name.as_str(), group)).collect();
    let built = groups.into_iter().map(|(name, mut versions)| {
        versions.sort_by(|a, b| by_priority(&a.version, &b.version));
        let known = known.get(name);
        let same = |version: GroupVersion| {
            let known = known.and_then(|group| group.version(&version.version));
            known.filter(|known| known.is_of(&version.kinds)).cloned().unwrap_or_else(|| Arc::new(version))
        };
        Group { name: name.to_owned(), versions: versions.into_iter().map(same).collect() }
    });
    built.collect()
}

impl GroupVersion {
    fn is_of(&self, kinds: &[Arc<Kind>]) -> bool {
        self.kinds.len() == kinds.len() && self.kinds.iter().zip(kinds).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// Stable versions before betas before alphas, newer before older.
///
/// Source: apimachinery `version.CompareKubeAwareVersionStrings`.
fn by_priority(a: &str, b: &str) -> Ordering {
    Version::parse(b).priority().cmp(&Version::parse(a).priority())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{object::Object, storage::Limits, value::json};

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
    fn rows_of_a_definition_come_and_go_with_what_the_store_holds() {
        let (kinds, store) =
            (Kinds::new(), Store::new(Limits { events_per_prefix: 10, log_bytes: 1 << 20 }, 1));
        let key = Key::new("", "widgets.example.com");
        let mut object = definition();
        let stored = store.create(&DEFINITIONS.into(), &key, &object.encode().unwrap(), &[]).unwrap();
        assert!(kinds.caught_up(&store).group("example.com").is_none(), "nobody has accepted its names");
        object.0.insert("status".into(), json!({"conditions": [{"type": "Established", "status": "True"}]}));
        let stored =
            store.replace(&DEFINITIONS.into(), &key, stored.revision(), &object.encode().unwrap()).unwrap();
        let with = kinds.caught_up(&store);
        assert!(with.find("example.com", "v1", "widgets").is_some());
        assert!(with.find("example.com", "v2", "widgets").is_none(), "not served");
        let versions: Vec<_> =
            with.group("example.com").unwrap().versions.iter().map(|v| &*v.version).collect();
        assert_eq!(versions, ["v1", "v1alpha1"]);
        assert_eq!(with.groups().last().unwrap().name, "example.com");
        let row = &with.definition("widgets.example.com").unwrap().kinds[0];

        object.metadata_mut().insert("labels".into(), json!({"a": "b"}));
        let stored =
            store.replace(&DEFINITIONS.into(), &key, stored.revision(), &object.encode().unwrap()).unwrap();
        let same = kinds.caught_up(&store);
        assert!(Arc::ptr_eq(row, &same.definition("widgets.example.com").unwrap().kinds[0]));

        store.remove(&DEFINITIONS.into(), &key, stored.revision()).unwrap();
        assert!(kinds.caught_up(&store).group("example.com").is_none());
        assert!(row.retired.is_cancelled());
    }
}
