//! One row per resource: its names, scope, verbs, subresources and the few ways in which it differs from others.
//!
//! Built-in rows come from one table, rows of custom resources from their `CustomResourceDefinition`s. In
//! which ways a resource differs is asked of its [strategy](strategy::Strategy); nobody outside this room asks which one it is.

mod age;
mod autoscaler;
mod builtin;
mod column;
mod columns;
mod containers;
mod custom;
mod custom_resource;
mod custom_schema;
mod defaults;
mod defined;
mod definition;
mod event;
mod labels;
mod namespace;
mod pod;
mod reservation;
mod row;
mod rules;
mod scale_fields;
mod served;
mod service;
mod service_address;
mod setup;
mod signing_request;
mod strategy;
mod validation;
mod versions;
mod webhook_validation;

pub(crate) use age::age;
pub(crate) use column::{Cell, Column};
pub(crate) use custom::{CLEANUP, CustomDefinition, DEFINITIONS, definition_name};
pub(crate) use definition::set_condition;
pub(crate) use labels::labels_and_annotations;
pub(crate) use row::{Kind, ScalePaths, Scope, Subresource};
pub(crate) use rules::{DeletionStyle, Generation, NewStatus, Part, Propagation, StatusMetadata};
pub(crate) use served::{Group, GroupVersion, Kinds, Served};
pub(crate) use strategy::Consequence;
