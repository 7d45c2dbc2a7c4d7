//! Controllers that a cluster has beside its API server: garbage collection, the end of namespaces, what every
//! namespace has, and a stand-in for what runs workloads.
//!
//! They are clients of the first door like anybody else, and nothing else in this crate knows of them. Go's envtest
//! has none: there, nothing is collected and namespaces never go.

mod content;
mod follow;
mod garbage_collector;
mod graph;
mod namespace;
mod publisher;
mod running;
mod settle;
mod workload;

pub use running::{Controllers, RunningControllers};
