//! What nearly every operator imports.

pub use crate::{
    BoxError,
    client::{Client, Optional as _},
    controller::Controller,
    handler,
    manager::Manager,
    predicate::{self, Predicate as _},
    reconcile::{Action, Context, Reconciler, Request},
    signals,
    source::{self, Source},
    workqueue::Queue,
};
