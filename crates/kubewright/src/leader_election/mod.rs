//! Who of several processes leads.
//!
//! A manager without an [`Elector`] leads from its start. With one, what needs leader election runs only between
//! [`acquire`](Elector::acquire) and [`lost`](Elector::lost). The elector of production is the [`LeaseElector`]: replicas compete for one `Lease`, by the
//! protocol of client-go, so that replicas written in Go and in Rust may compete for the same one.
//!
//! # Example: one of several replicas leads
//! ```
//! use std::time::Duration;
//!
//! use kubewright::leader_election::LeaderElection;
//! # use kubewright::prelude::*;
//! # use kubewright_testing::TestEnv;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! # let env = TestEnv::start().await;
//! let mut election = LeaderElection::new("guestbook.example.com");
//! election.namespace = Some("default".into());
//!
//! let manager = env.manager().leader_election(election).build().await?;
//! let leadership = manager.leadership().cloned().expect("a lease was asked for just above");
//! let running = env.run(manager);
//! running.elected().await;
//!
//! // Right before a write that must not happen twice:
//! assert!(leadership.check().is_ok());
//! running.stop().await?;
//! assert!(leadership.check().is_err());
//! # Ok(())
//! # }
//! ```

mod candidate;
mod error;
mod leadership;
mod lease_elector;
mod lock;
mod metrics;
mod options;
mod record;
mod seam;
#[cfg(test)]
mod simulation;
mod turn;
mod watch;

pub(crate) use self::seam::{Alone, DynElector};
pub use self::{
    error::{LeaderElectionError, LockError},
    leadership::{Leadership, NotLeading},
    lease_elector::LeaseElector,
    lock::{LeaseLock, Lock},
    options::LeaderElection,
    record::LeaderElectionRecord,
    seam::Elector,
};
