//! The life of a controller, row by row of controller-runtime's own suites (`pkg/internal/controller`, `pkg/controller`).
//!
//! Rows without a test here:
//! - "ctx cancel during `WaitForSync`", "blocking Start times out": in `controller_start.rs`.
//! - "goroutine leak": a controller owns its tasks in a `JoinSet` and joins it; `stopping_ends_every_task` holds it to that.
//! - "no races when concurrent with itself", "only once when concurrent": `start` takes the controller by value.
//! - "startWatches reset": the sources are moved into their tasks.
//! - "rate limiter and queue default", "priority queue by default": there is one queue; `tests/workqueue*` hold it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

#[path = "controller/hot_loop.rs"]
mod hot_loop;
#[path = "controller/life.rs"]
mod life;
#[path = "controller/metrics.rs"]
mod metrics;
#[path = "controller/outcome.rs"]
mod outcome;
#[path = "controller/priority.rs"]
mod priority;
#[path = "controller/scripted.rs"]
mod scripted;

use std::time::Duration;

use kubewright::controller::ControllerOptions;

#[test]
fn the_defaults_are_upstreams() {
    let options = ControllerOptions::default();
    assert_eq!(options.max_concurrent_reconciles.get(), 1);
    assert_eq!(options.cache_sync_timeout, Duration::from_secs(120));
    assert_eq!(options.reconciliation_timeout, None);
    assert!(options.recover_panic && options.needs_leader_election && !options.enable_warmup);
}
