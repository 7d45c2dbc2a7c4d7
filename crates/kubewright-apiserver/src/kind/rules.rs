//! The ways in which resources differ that are no more than a choice.

use super::validation::Validate;
use crate::{name::NameRule, object::Object};

/// What a resource has chosen, and functions for what is filled in and checked.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) generation: Generation,
    /// What a write to `/status` may change in the metadata.
    pub(crate) status_metadata: StatusMetadata,
    /// Whether an update may come without a resource version.
    pub(crate) unconditional_update: bool,
    /// Whether an update of a missing object creates it.
    pub(crate) create_on_update: bool,
    /// What becomes of the status that a create brings.
    pub(crate) new_status: NewStatus,
    pub(crate) deletion: DeletionStyle,
    /// What becomes of the dependents when the client does not say; `None`: the garbage collector has no say.
    pub(crate) propagation: Option<Propagation>,
    pub(crate) name_rule: NameRule,
    /// Whether it takes finalizers that belong to no domain.
    ///
    /// Source: those that validate with apimachinery's `ValidateObjectMeta`, not with that of `core/validation`.
    pub(crate) any_finalizer: bool,
    /// Fills in what the client has left out. Runs on every write.
    pub(crate) default: fn(&mut Object),
    /// Sets what only the server may set at birth, such as `status.phase`.
    pub(crate) prepare_for_create: fn(&mut Object),
    /// Takes over from the old object what the client may leave out, such as a Service's address.
    pub(crate) prepare_for_update: fn(&mut Object, &Object),
    /// Checks a new object, with the one it replaces.
    pub(crate) validate: Validate,
}

impl Default for Rules {
    /// A kind with a name, and nothing else to say about it.
    fn default() -> Self {
        Self {
            generation: Generation::None,
            status_metadata: StatusMetadata::Written,
            unconditional_update: true,
            create_on_update: false,
            new_status: NewStatus::Dropped,
            deletion: DeletionStyle::Status,
            propagation: Some(Propagation::Background),
            name_rule: NameRule::DnsSubdomain,
            any_finalizer: false,
            default: |_| {},
            prepare_for_create: |_| {},
            prepare_for_update: |_, _| {},
            validate: |_, _| Vec::new(),
        }
    }
}

/// What makes `metadata.generation` go up. It starts at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    /// There is none.
    None,
    /// Any change of `spec`.
    Spec,
    /// Any change of `spec` or of the annotations (Deployments).
    SpecAndAnnotations,
    /// Any change outside `metadata`, and outside `status` when that is a subresource (custom resources).
    Content,
}

/// What a write to `/status` may change in the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusMetadata {
    /// Everything but what the server owns.
    Written,
    /// Everything but the labels.
    LabelsKept,
    /// Nothing.
    Kept,
}

/// Which part of an object a write is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything but the status.
    Main,
    Status,
    /// A namespace's `spec.finalizers`.
    Finalize,
    /// The conditions by which a request for a certificate is approved or denied.
    Approval,
}

/// What becomes of the status that a create brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewStatus {
    /// It is for the controllers to say.
    Dropped,
    /// It stays: Nodes report themselves.
    Kept,
}

/// How a deletion goes that nothing holds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeletionStyle {
    /// It answers with a Status.
    Status,
    /// It answers with the object.
    Object,
    /// As [`Object`](Self::Object); before it goes the object is marked, and gets the time that it needs to stop.
    Graceful,
}

/// What becomes of the dependents of a deleted object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are deleted after it.
    Background,
    /// They are deleted before it.
    Foreground,
    /// They stay.
    Orphan,
}
