//! What nearly every operator imports.

pub use crate::{
    client::{Client, Optional as _},
    controller::Controller,
    handler,
    manager::Manager,
    predicate::{self, Predicate as _},
    reconcile::{Action, BoxError, Context, Reconciler, Request},
    signals,
    source::{self, Source},
    workqueue::Queue,
};
