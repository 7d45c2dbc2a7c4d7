//! What a process tells Prometheus about itself.
//!
//! Everything that kubewright measures is in the process-wide [`registry`], under controller-runtime's names and labels, so that
//! existing dashboards and alerts work unchanged.

mod conditions;
mod filters;
mod format;
mod open_metrics;
mod process;
mod registry;
mod rest_client;
mod server;
mod text;

pub(crate) use self::server::MetricsServer;
pub use self::{
    conditions::ConditionGauges,
    registry::{Registry, registry},
    rest_client::{Measured, RestClientMetrics},
    server::{MetricsAccess, MetricsServerOptions},
};
