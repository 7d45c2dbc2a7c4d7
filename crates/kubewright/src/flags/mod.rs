//! The flags that operators scaffolded by kubebuilder have, for a `clap` command line of one's own.
//!
//! Names and defaults are kubebuilder's, so manifests made for an operator in Go start one in Rust. A flag is here once what it sets is: each
//! one does something. It comes with the feature `clap`.
//!
//! # Example: an operator's command line
//! ```no_run
//! use clap::Parser;
//! use kubewright::{flags::{LogFlags, ManagerFlags}, leader_election::LeaderElection, prelude::*};
//!
//! #[derive(Parser)]
//! struct Args {
//!     #[command(flatten)]
//!     manager: ManagerFlags,
//!     #[command(flatten)]
//!     log: LogFlags,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let args = Args::parse();
//! args.log.init();
//! let election = LeaderElection::new("greeter.example.com");
//! let manager = args.manager.apply(Manager::builder(), election).await?.build().await?;
//! manager.start(signals::shutdown()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Differences from Go
//! Flags have two dashes. There is `--enable-http2` with the feature `http2` alone, and no `--zap-stacktrace-level`, since an error says its
//! causes and has no stack trace.

mod duration;
#[cfg(feature = "tracing-subscriber")]
mod log;
mod manager;
mod metrics;
mod webhook;

#[cfg(feature = "tracing-subscriber")]
pub use self::log::LogFlags;
pub use self::{
    manager::{FlagsError, ManagerFlags},
    metrics::MetricsFlags,
    webhook::WebhookFlags,
};
