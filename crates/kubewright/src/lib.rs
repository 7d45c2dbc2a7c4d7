//! placeholder

pub mod metrics;
pub mod workqueue;
