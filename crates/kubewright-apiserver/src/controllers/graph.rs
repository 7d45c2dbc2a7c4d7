//! Who owns whom: a plain graph by UID.

use std::collections::{BTreeSet, HashMap};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;

use super::follow::{Metadata, Resource};

/// An object's UID.
pub(super) type Uid = String;

/// The objects that have been seen, by UID, with their owners and dependents.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: HashMap<Uid, Node>,
    dependents: HashMap<Uid, BTreeSet<Uid>>,
}

/// What the graph knows of an object.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) resource: Resource,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) owners: Vec<OwnerReference>,
    pub(super) deleting: bool,
}

impl Graph {
    pub(super) fn get(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// Takes note of an object. Gives back the UIDs that have to be looked at again.
    pub(super) fn apply(&mut self, resource: &Resource, object: &Metadata) -> Vec<Uid> {
        let Some(uid) = object.uid() else { return Vec::new() };
        let node = Node {
            resource: resource.clone(),
            namespace: object.namespace(),
            name: object.name_any(),
            owners: object.owner_references().to_vec(),
            deleting: object.metadata.deletion_timestamp.is_some(),
        };
        let before = self.nodes.get(&uid).map(|known| known.owners.clone()).unwrap_or_default();
        self.unlink(&uid);
        for owner in &node.owners {
            self.dependents.entry(owner.uid.clone()).or_default().insert(uid.clone());
        }
        // An owner that this one no longer holds up may have nothing left to wait for.
        let mut affected = released(&before, &node.owners);
        if !node.owners.is_empty() || node.deleting {
            affected.push(uid.clone());
        }
        if node.deleting {
            affected.extend(self.dependents_of(&uid));
            // An owner that waits for this one may have one less to wait for.
            affected.extend(node.owners.iter().map(|owner| owner.uid.clone()));
        }
        self.nodes.insert(uid, node);
        affected
    }

    /// Forgets an object. Gives back the UIDs that have to be looked at again.
    pub(super) fn remove(&mut self, uid: &str) -> Vec<Uid> {
        self.unlink(uid);
        let owners = self.nodes.remove(uid).map(|node| node.owners).unwrap_or_default();
        let mut affected = self.dependents_of(uid);
        affected.extend(owners.into_iter().map(|owner| owner.uid));
        affected
    }

    /// Takes note of all objects of a resource; those that are not among them are gone.
    pub(super) fn replace(&mut self, resource: &Resource, objects: &[Metadata]) -> Vec<Uid> {
        let present: BTreeSet<Uid> = objects.iter().filter_map(ResourceExt::uid).collect();
        let gone: Vec<Uid> = self
            .nodes
            .iter()
            .filter(|(uid, node)| node.resource == *resource && !present.contains(*uid))
            .map(|(uid, _)| uid.clone())
            .collect();
        let mut affected: Vec<Uid> = gone.iter().flat_map(|uid| self.remove(uid)).collect();
        affected.extend(objects.iter().flat_map(|object| self.apply(resource, object)));
        affected
    }

    pub(super) fn dependents_of(&self, owner: &str) -> Vec<Uid> {
        self.dependents.get(owner).into_iter().flatten().cloned().collect()
    }

    /// The dependents that hold a foreground deletion of their owner up.
    pub(super) fn blocking_dependents(&self, owner: &str) -> Vec<Uid> {
        let holds_up = |uid: &Uid| self.nodes.get(uid).is_some_and(|node| blocks(&node.owners, owner));
        self.dependents_of(owner).into_iter().filter(holds_up).collect()
    }

    fn unlink(&mut self, uid: &str) {
        let owners = self.nodes.get(uid).map(|node| node.owners.as_slice()).unwrap_or_default();
        for owner in owners {
            if let Some(dependents) = self.dependents.get_mut(&owner.uid) {
                dependents.remove(uid);
                if dependents.is_empty() {
                    self.dependents.remove(&owner.uid);
                }
            }
        }
    }
}

/// The owners that were held up by the references `before`, and are not by those of `after`.
///
/// Source: kube-controller-manager `garbagecollector.GraphBuilder.addUnblockedOwnersToDeleteQueue`.
fn released(before: &[OwnerReference], after: &[OwnerReference]) -> Vec<Uid> {
    let uids = before.iter().map(|reference| reference.uid.clone());
    uids.filter(|uid| blocks(before, uid) && !blocks(after, uid)).collect()
}

/// Whether the references hold a foreground deletion of `owner` up.
fn blocks(references: &[OwnerReference], owner: &str) -> bool {
    references.iter().any(|reference| reference.uid == owner && reference.block_owner_deletion == Some(true))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::ApiResource;
    use serde_json::{Value, json};

    use super::*;

    fn resource() -> Resource {
        Resource { api: ApiResource::erase::<ConfigMap>(&()), namespaced: true }
    }

    fn object(uid: &str, owner: Option<&str>, more: &Value) -> Metadata {
        let mut metadata = json!({"name": uid, "namespace": "n", "uid": uid});
        if let Some(owner) = owner {
            metadata["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "K", "name": owner, "uid": owner, "blockOwnerDeletion": true}]);
        }
        for (field, value) in more.as_object().unwrap() {
            metadata[field] = value.clone();
        }
        serde_json::from_value(json!({"apiVersion": "v1", "kind": "K", "metadata": metadata})).unwrap()
    }

    #[test]
    fn an_owner_that_goes_concerns_its_dependents() {
        let mut graph = Graph::default();
        assert!(graph.apply(&resource(), &object("owner", None, &json!({}))).is_empty());
        assert_eq!(graph.apply(&resource(), &object("child", Some("owner"), &json!({}))), ["child"]);
        assert_eq!(graph.blocking_dependents("owner"), ["child"]);
        assert_eq!(graph.remove("owner"), ["child"]);
    }

    #[test]
    fn a_dependent_that_goes_concerns_its_owner() {
        let mut graph = Graph::default();
        graph.apply(&resource(), &object("owner", None, &json!({})));
        graph.apply(&resource(), &object("child", Some("owner"), &json!({})));
        assert_eq!(graph.remove("child"), ["owner"]);
        assert!(graph.dependents_of("owner").is_empty());
    }

    #[test]
    fn what_a_list_does_not_show_is_gone() {
        let mut graph = Graph::default();
        graph.apply(&resource(), &object("owner", None, &json!({})));
        graph.apply(&resource(), &object("child", Some("owner"), &json!({})));
        let affected = graph.replace(&resource(), &[object("child", Some("owner"), &json!({}))]);
        assert!(affected.contains(&"child".to_owned()));
        assert!(graph.get("owner").is_none());
    }

    /// Applies a child with the references `before` and then `after`: `a` and `b`, with a `!` where they block.
    /// `after` of `-` means that the child is being deleted. Who has to be looked at then?
    #[track_caller]
    fn check(before: &str, after: &str, expected: &[&str]) {
        let child = |text: &str| {
            let reference = |word: &str| {
                let name = word.trim_end_matches('!');
                json!({"apiVersion": "v1", "kind": "K", "name": name, "uid": name, "blockOwnerDeletion": word.ends_with('!')})
            };
            let words = text.split_whitespace();
            let references: Vec<Value> = words.filter(|word| *word != "-").map(reference).collect();
            let mut more = json!({"ownerReferences": references});
            if text.contains('-') {
                more["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
            }
            object("child", None, &more)
        };
        let mut graph = Graph::default();
        graph.apply(&resource(), &child(before));
        let mut affected = graph.apply(&resource(), &child(after));
        affected.sort();
        affected.dedup();
        assert_eq!(affected, expected, "{before:?} to {after:?}");
    }

    #[test]
    fn a_transition_concerns_the_child_and_the_owners_it_releases() {
        check("", "", &[]);
        check("", "a!", &["child"]);
        check("a!", "a!", &["child"]);
        check("a!", "a! b!", &["child"]);
        check("a! b!", "b!", &["a", "child"]);
        check("a b!", "b!", &["child"]);
        check("a!", "a", &["a", "child"]);
        check("a", "a!", &["child"]);
        check("a!", "", &["a"]);
        check("a! b!", "", &["a", "b"]);
        check("a!", "b!", &["a", "child"]);
        check("a", "- a", &["a", "child"]);
        check("a! b!", "- b", &["a", "b", "child"]);
    }

    #[test]
    fn owners_that_are_taken_off_are_forgotten() {
        let mut graph = Graph::default();
        graph.apply(&resource(), &object("child", Some("owner"), &json!({})));
        graph.apply(&resource(), &object("child", None, &json!({})));
        assert!(graph.dependents_of("owner").is_empty());
    }
}
