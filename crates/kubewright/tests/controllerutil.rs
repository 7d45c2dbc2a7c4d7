//! Owner references, finalizers, create or update: the rows of controller-runtime's `pkg/controller/controllerutil`.
//!
//! | rows without a test | why |
//! |---|---|
//! | an owner or object whose kind the scheme does not know, or that is no object at all | kinds are types |
//! | `CreateOrUpdate` and `CreateOrPatch` of a nil object, or one that is no pointer | the object is a value |

#![allow(clippy::unwrap_used, reason = "these are tests, though not each function is marked as one")]

mod common;

#[path = "controllerutil/create_or_update.rs"]
mod create_or_update;
#[path = "controllerutil/finalizers.rs"]
mod finalizers;
#[path = "controllerutil/foreign.rs"]
mod foreign;
#[path = "controllerutil/owner.rs"]
mod owner;
#[path = "controllerutil/status.rs"]
mod status;
