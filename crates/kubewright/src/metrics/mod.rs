//! What a process tells Prometheus about itself.
//!
//! Everything that kubewright measures is in the process-wide [`registry`], under controller-runtime's names and labels, so that
//! existing dashboards and alerts work unchanged.

mod registry;
mod text;

pub use self::registry::{Registry, registry};
