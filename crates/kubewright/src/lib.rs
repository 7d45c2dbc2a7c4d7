//! Controllers and operators for Kubernetes, with everything that Go's controller-runtime gives, and more.
//!
//! The modules are the concepts that controller-runtime's authors know, under the same names. In the order in which a change of an
//! object walks through them: [`cache`], [`event`], [`source`], [`predicate`], [`handler`], [`workqueue`], [`controller`], [`reconcile`],
//! [`client`]; and [`manager`], which starts and stops them.
//!
//! # Features
//!
//! - `clap` (on by default): the flags that operators made by kubebuilder have.
//! - `http2`: servers may offer HTTP/2 where their options ask for it.
//! - `tracing-subscriber` (on by default): `log::init`, which writes the logs of an operator to standard error.

pub mod cache;
pub mod client;
pub mod cluster;
pub mod controller;
pub mod controllerutil;
mod error;
pub mod event;
pub mod finalizer;
#[cfg(feature = "clap")]
pub mod flags;
pub mod handler;
pub mod healthz;
pub mod http_server;
pub mod leader_election;
#[cfg(feature = "tracing-subscriber")]
pub mod log;
pub mod manager;
pub mod metrics;
pub mod object;
pub mod predicate;
pub mod prelude;
pub mod reconcile;
pub mod recorder;
#[cfg(test)]
#[path = "../tests/scripted/mod.rs"]
mod scripted;
pub mod signals;
pub mod source;
pub mod webhook;
pub mod workqueue;

pub use error::{BoxError, chain as error_chain};
// The crates whose types stand in signatures here, under their own names.
pub use {k8s_openapi, kube, prometheus, serde_json, tokio, tokio_util, tracing};
