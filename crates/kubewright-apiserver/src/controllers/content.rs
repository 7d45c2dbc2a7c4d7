//! What is left in a namespace that is being deleted, and how its conditions say so.
//!
//! Source: kube-controller-manager `namespace/deletion/status_condition_utils.go`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kube::ResourceExt;
use serde_json::{Value, json};

use super::follow::{Metadata, Resource};
use crate::clock::rfc3339;

/// What an attempt to empty a namespace has left, and what went wrong.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Why the resources are not all known.
    pub(super) discovery_failure: Option<String>,
    /// What failed, one text per resource.
    pub(super) failures: Vec<String>,
    /// How many objects are left, by `plural.group`.
    remaining: BTreeMap<String, usize>,
    /// How many of them wait, by finalizer.
    finalizers: BTreeMap<String, usize>,
}

impl Content {
    /// Takes note of the objects of a resource that are still there.
    pub(super) fn add(&mut self, resource: &Resource, objects: &[Metadata]) {
        if objects.is_empty() {
            return;
        }
        let name = format!("{}.{}", resource.api.plural, resource.api.group);
        *self.remaining.entry(name).or_default() += objects.len();
        for finalizer in objects.iter().flat_map(|object| object.finalizers()) {
            *self.finalizers.entry(finalizer.clone()).or_default() += 1;
        }
    }

    /// Whether it is certain that nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.discovery_failure.is_none() && self.failures.is_empty() && self.remaining.is_empty()
    }

    /// The conditions of the namespace. The time of one that `present` says already stays.
    pub(super) fn conditions(&self, present: &[Value], now: Timestamp) -> Vec<Value> {
        let condition = |(kind, problem, fine): Condition| {
            let (status, (reason, message)) = match problem {
                Some(problem) => ("True", problem),
                None => ("False", (fine.0, fine.1.to_owned())),
            };
            let known = present.iter().find(|known| known["type"] == kind && known["status"] == status);
            let since = match known {
                Some(known) => known["lastTransitionTime"].clone(),
                None => rfc3339(now).into(),
            };
            json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since})
        };
        self.verdicts().into_iter().map(condition).collect()
    }

    fn verdicts(&self) -> [Condition; 5] {
        let counts = |map: &BTreeMap<String, usize>, word: &str| {
            let texts: Vec<_> =
                map.iter().map(|(name, count)| format!("{name} {word} {count} resource instances")).collect();
            texts.join(", ")
        };
        let problem = |wrong: bool, reason, message: String| wrong.then_some((reason, message));
        [
            (
                "NamespaceDeletionDiscoveryFailure",
                self.discovery_failure.clone().map(|error| ("DiscoveryFailed", error)),
                ("ResourcesDiscovered", "All resources successfully discovered"),
            ),
            (
                "NamespaceDeletionGroupVersionParsingFailure",
                None,
                ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
            ),
            (
                "NamespaceDeletionContentFailure",
                problem(
                    !self.failures.is_empty(),
                    "ContentDeletionFailed",
                    format!(
                        "Failed to delete all resource types, {} remaining: {}",
                        self.failures.len(),
                        self.failures.join(", ")
                    ),
                ),
                ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
            ),
            (
                "NamespaceContentRemaining",
                problem(
                    !self.remaining.is_empty(),
                    "SomeResourcesRemain",
                    format!("Some resources are remaining: {}", counts(&self.remaining, "has")),
                ),
                ("ContentRemoved", "All content successfully removed"),
            ),
            (
                "NamespaceFinalizersRemaining",
                problem(
                    !self.finalizers.is_empty(),
                    "SomeFinalizersRemain",
                    format!(
                        "Some content in the namespace has finalizers remaining: {}",
                        counts(&self.finalizers, "in")
                    ),
                ),
                ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
            ),
        ]
    }
}

/// The type of a condition; reason and message where it holds, and those where it does not.
type Condition = (&'static str, Option<(&'static str, String)>, (&'static str, &'static str));

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::ApiResource;

    use super::*;

    #[test]
    fn conditions_say_what_is_left_and_keep_their_times() {
        let mut content = Content::default();
        let resource = Resource { api: ApiResource::erase::<ConfigMap>(&()), namespaced: true };
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": ["x/y"]}});
        content.add(&resource, &[serde_json::from_value(object).unwrap()]);
        let first = content.conditions(&[], Timestamp::UNIX_EPOCH);
        let texts: Vec<_> = first
            .iter()
            .map(|it| (it["status"].as_str().unwrap(), it["message"].as_str().unwrap()))
            .collect();
        assert_eq!(texts[2], ("False", "All content successfully deleted, may be waiting on finalization"));
        assert_eq!(texts[3], ("True", "Some resources are remaining: configmaps. has 1 resource instances"));
        let finalizers =
            "Some content in the namespace has finalizers remaining: x/y in 1 resource instances";
        assert_eq!(texts[4], ("True", finalizers));
        assert_eq!(content.conditions(&first, Timestamp::MAX), first);
    }
}
