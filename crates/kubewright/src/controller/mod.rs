//! A controller: sources fill a queue, workers take requests from it and reconcile them.
//!
//! - `builder` says what a controller watches and how it behaves.
//! - `host` is what it needs of the manager that runs it.
//! - `run` is its life: queue, sources, sync, workers, stop; `starter` starts sources, `tasks` owns what they and the workers run.
//! - `handle` adds watches while it runs.
//! - `worker` reconciles one request after the other; `outcome` decides what becomes of a request then, `metrics` counts it,
//!   `hot_loop` notices requests that wake themselves, and slows them down.

mod builder;
mod error;
mod handle;
mod host;
mod hot_loop;
mod log_constructor;
mod metrics;
mod options;
mod outcome;
mod run;
mod starter;
mod tasks;
mod watch;
mod worker;

pub use builder::Builder;
pub use error::{BuildError, ControllerError};
pub use handle::{ControllerHandle, WatchHandle};
pub use host::Host;
pub(crate) use host::{Hosted, Report, Running};
use log_constructor::LogConstructor;
pub use options::ControllerOptions;
pub use run::Controller;
pub use watch::{OwnsOptions, WatchOptions};
