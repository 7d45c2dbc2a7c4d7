//! A controller: sources fill a queue, workers take requests from it and reconcile them.
//!
//! - `builder` says what a controller watches and how it behaves.
//! - `run` is its life: queue, sources, sync, workers, stop.
//! - `worker` reconciles one request after the other; `outcome` decides what becomes of a request then, `metrics` counts it,
//!   `hot_loop` notices requests that wake themselves.

mod builder;
mod error;
mod hot_loop;
mod metrics;
mod options;
mod outcome;
mod run;
mod watch;
mod worker;

pub use builder::Builder;
pub use error::{BuildError, ControllerError};
pub use options::ControllerOptions;
pub use run::Controller;
pub use watch::{OwnsOptions, WatchOptions};
