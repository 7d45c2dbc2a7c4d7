//! Which events pass: filters between a watch and its handler.
//!
//! A predicate filters *events*; it does not make the cache smaller. A request that a predicate drops may still be enqueued by another
//! watch, a timer or a retry, so a reconciler checks what it needs by itself.
//!
//! # Differences from Go
//! Upstream's predicates answer yes or no to every type of event, so `Not(GenerationChangedPredicate{})` hides every creation and
//! deletion, though it was meant to speak of updates. Here a predicate may have no opinion ([`Verdict::Indifferent`]): an event that
//! nobody judges passes, and no combination turns indifference into a refusal. An object that stops matching a filter passes as well: its
//! last update is judged by the old state and the new one.

mod changed;
mod combine;
mod filter;

pub use changed::{
    Changed, annotations_changed, generation_changed, labels_changed, resource_version_changed,
};
pub use combine::{And, Not, Or};
pub use filter::{Filter, Selecting, filter, has_label, selector};

use std::marker::PhantomData;

use crate::event::Event;

/// What a predicate says of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The event goes on.
    Pass,
    /// The event ends here.
    Drop,
    /// The predicate does not speak of such events; they go on unless another predicate drops them.
    Indifferent,
}

impl Verdict {
    /// Whether an event with this verdict goes on.
    pub fn passes(self) -> bool {
        self != Self::Drop
    }
}

impl From<bool> for Verdict {
    fn from(passes: bool) -> Self {
        if passes { Self::Pass } else { Self::Drop }
    }
}

/// Decides which events of objects `K` go on to the handler.
///
/// A closure `Fn(&Event<K>) -> bool` is a predicate.
///
/// # Example: only objects that carry a finalizer
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright::{event::Event, predicate::{self, Predicate as _}};
///
/// let with_finalizer = |event: &Event<ConfigMap>| event.object().metadata().finalizers.is_some();
/// let or_new_labels = with_finalizer.or(predicate::labels_changed());
/// let event = Event::Generic { object: ConfigMap::default().into() };
/// assert!(!or_new_labels.judge(&event).passes());
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` does not judge events of `{K}`")]
pub trait Predicate<K>: Send + Sync + 'static {
    /// Judges `event`.
    fn judge(&self, event: &Event<K>) -> Verdict;

    /// Passes what both pass.
    fn and<P: Predicate<K>>(self, other: P) -> And<K, Self, P>
    where
        Self: Sized,
    {
        And(self, other, PhantomData)
    }

    /// Passes what one of them passes.
    fn or<P: Predicate<K>>(self, other: P) -> Or<K, Self, P>
    where
        Self: Sized,
    {
        Or(self, other, PhantomData)
    }

    /// Passes what this one drops, and drops what it passes; where it is indifferent, so is its negation.
    fn not(self) -> Not<K, Self>
    where
        Self: Sized,
    {
        Not(self, PhantomData)
    }
}

impl<K, F: Fn(&Event<K>) -> bool + Send + Sync + 'static> Predicate<K> for F {
    fn judge(&self, event: &Event<K>) -> Verdict {
        self(event).into()
    }
}
