//! Updates that changed what matters.

use super::{Predicate, Verdict};
use crate::event::{Event, Observed};

/// Passes updates that changed one part of the object; indifferent to every other event.
#[derive(Clone, Copy, Debug)]
pub struct Changed {
    part: Part,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    ResourceVersion,
    Generation,
    Labels,
    Annotations,
}

/// Updates that changed anything: drops the unchanged objects of a resync.
///
/// Source: controller-runtime `predicate.ResourceVersionChangedPredicate`.
pub fn resource_version_changed() -> Changed {
    Changed { part: Part::ResourceVersion }
}

/// Updates that changed `metadata.generation`: the spec of kinds that have a status. Drops changes of status, labels, annotations, finalizers
/// and owner references. Kinds without a generation never pass; use [`resource_version_changed`] for them. Setting `deletionTimestamp`
/// raises the generation of kinds that have one.
///
/// Source: controller-runtime `predicate.GenerationChangedPredicate`.
pub fn generation_changed() -> Changed {
    Changed { part: Part::Generation }
}

/// Updates that changed `metadata.labels`.
///
/// Source: controller-runtime `predicate.LabelChangedPredicate`.
pub fn labels_changed() -> Changed {
    Changed { part: Part::Labels }
}

/// Updates that changed `metadata.annotations`.
///
/// Source: controller-runtime `predicate.AnnotationChangedPredicate`.
pub fn annotations_changed() -> Changed {
    Changed { part: Part::Annotations }
}

impl Changed {
    fn has_changed<K>(self, old: &Observed<K>, new: &Observed<K>) -> bool {
        // Another uid is another object under the same name: everything about it is new.
        old.uid() != new.uid()
            || match self.part {
                Part::ResourceVersion => old.resource_version() != new.resource_version(),
                Part::Generation => old.generation() != new.generation(),
                Part::Labels => old.labels() != new.labels(),
                Part::Annotations => !annotations(old).eq(annotations(new)),
            }
    }
}

/// No annotations are an empty map, whichever way an object says so.
fn annotations<K>(object: &Observed<K>) -> impl Iterator<Item = (&String, &String)> {
    object.metadata().annotations.iter().flatten()
}

impl<K> Predicate<K> for Changed {
    fn judge(&self, event: &Event<K>) -> Verdict {
        match event {
            Event::Update { object_old, object_new } => self.has_changed(object_old, object_new).into(),
            _ => Verdict::Indifferent,
        }
    }
}
