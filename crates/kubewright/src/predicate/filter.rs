//! Events of objects that have a property.

use std::{fmt, marker::PhantomData};

use kube::core::{Expression, Selector, SelectorExt};

use super::{Predicate, Verdict};
use crate::event::{Event, Observed};

/// Passes events of objects for which `keep` holds. An update passes if it holds for the old state or the new one: an object that
/// leaves the selection is heard of once more. A deletion whose final state is unknown always passes.
///
/// Source: controller-runtime `predicate.NewPredicateFuncs`.
///
/// # Differences from Go
/// Upstream judges updates by the new state alone, and deletions by the last known state even where that may be old.
pub fn filter<K, F>(keep: F) -> Filter<K, F>
where
    F: Fn(&Observed<K>) -> bool + Send + Sync + 'static,
{
    Filter { keep, object: PhantomData }
}

/// Passes events of objects whose labels match `selector`, by the rules of [`filter`].
///
/// Source: controller-runtime `predicate.LabelSelectorPredicate`.
pub fn selector(selector: impl Into<Selector>) -> Selecting {
    Selecting { selector: selector.into() }
}

/// Passes events of objects that have a label of this name, whatever its value, by the rules of [`filter`].
pub fn has_label(name: impl Into<String>) -> Selecting {
    selector(Expression::Exists(name.into()))
}

/// See [`filter`].
pub struct Filter<K, F> {
    keep: F,
    object: PhantomData<fn(&K)>,
}

impl<K, F> fmt::Debug for Filter<K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Filter")
    }
}

impl<K: 'static, F: Fn(&Observed<K>) -> bool + Send + Sync + 'static> Predicate<K> for Filter<K, F> {
    fn judge(&self, event: &Event<K>) -> Verdict {
        judge(event, &self.keep)
    }
}

/// See [`selector`].
#[derive(Clone, Debug)]
pub struct Selecting {
    selector: Selector,
}

impl<K> Predicate<K> for Selecting {
    fn judge(&self, event: &Event<K>) -> Verdict {
        judge(event, |object| self.selector.matches(object.labels()))
    }
}

fn judge<K>(event: &Event<K>, keep: impl Fn(&Observed<K>) -> bool) -> Verdict {
    let passes = match event {
        Event::Delete { delete_state_unknown: true, .. } => true,
        event => keep(event.object()) || event.object_old().is_some_and(keep),
    };
    passes.into()
}
