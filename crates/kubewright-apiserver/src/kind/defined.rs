//! A definition as the registry has read it off the store.

use std::sync::Arc;

use super::{custom::CustomDefinition, row::Kind};
use crate::{
    object::{Document, Object},
    value::Value,
    webhook::Caller,
};

/// What the registry knows of a definition.
#[derive(Debug)]
pub(crate) struct Defined {
    /// The revision at which it was read.
    pub(crate) revision: u64,
    pub(crate) uid: String,
    pub(crate) terminating: bool,
    /// Whether the server has nothing to add to its status, or to clear up.
    pub(crate) settled: bool,
    /// One row per served version; none before its names were accepted.
    pub(crate) kinds: Vec<Arc<Kind>>,
    generation: i64,
    accepted_names: Option<Value>,
}

impl Defined {
    /// Reads a definition. Rows that `before` has made of the same definition stay, and watches of them go on.
    pub(super) fn read(document: &Document, before: Option<&Self>, caller: &Arc<Caller>) -> Self {
        let Ok(object) = Object::decode(document) else { return Self::unreadable(document.revision()) };
        let definition = CustomDefinition(&object);
        let mut defined = Self {
            revision: document.revision(),
            uid: object.uid().to_owned(),
            terminating: object.is_terminating(),
            settled: definition.is_settled(),
            kinds: Vec::new(),
            generation: object.generation(),
            accepted_names: object.at("/status/acceptedNames").cloned(),
        };
        if definition.condition("Established") == Some("True") {
            defined.kinds = match before.filter(|before| before.serves_as(&defined)) {
                Some(before) => before.kinds.clone(),
                None => definition.kinds(document.revision(), caller).into_iter().map(Arc::new).collect(),
            };
        }
        defined
    }

    /// Nothing is known of a definition that cannot be read, and so nothing is served or done.
    fn unreadable(revision: u64) -> Self {
        Self {
            revision,
            uid: String::new(),
            terminating: false,
            settled: true,
            kinds: Vec::new(),
            generation: 0,
            accepted_names: None,
        }
    }

    /// Whether both make the same rows. A deletion counts as a generation, and changes no row.
    fn serves_as(&self, other: &Self) -> bool {
        let generation =
            if other.terminating && !self.terminating { other.generation - 1 } else { other.generation };
        !self.kinds.is_empty()
            && self.uid == other.uid
            && self.generation == generation
            && self.accepted_names == other.accepted_names
    }
}
