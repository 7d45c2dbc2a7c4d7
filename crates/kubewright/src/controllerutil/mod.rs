//! What nearly every reconciler does: owner references, finalizers, create or update, status and its conditions.

pub mod conditions;
mod create_or_update;
mod difference;
mod edit;
mod finalizers;
mod metadata;
mod mutate;
mod owner;
mod status;
mod typed;
mod write;

pub(crate) use difference::graft;
pub(crate) use edit::Original;
pub(crate) use typed::pair as typed_pair;
pub(crate) use write::patch;

pub use create_or_update::{CreateOrUpdateError, OperationResult, create_or_patch, create_or_update};
pub use finalizers::{
    add_finalizer, contains_finalizer, ensure_finalizer, release_finalizer, remove_finalizer,
};
pub use mutate::MutateResult;
pub use owner::{
    OwnerError, OwnerOptions, has_controller_reference, has_owner_reference, remove_controller_reference,
    remove_owner_reference, set_controller_reference, set_controller_reference_with, set_owner_reference,
    set_owner_reference_with,
};
pub use status::update_status;
