//! What the tests of several rooms use.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file is a crate that uses a part of it"
)]

pub mod events;
pub mod http;
pub mod logs;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright::{kube::core::ObjectMeta, prelude::*};
use tokio::sync::watch;

/// A ConfigMap in the namespace `default`.
pub fn config_map(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            namespace: Some("default".into()),
            name: Some(name.into()),
            ..ObjectMeta::default()
        },
        data: Some(data.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()),
        ..ConfigMap::default()
    }
}

/// A Secret in the namespace `default`.
pub fn secret(name: &str) -> Secret {
    Secret {
        metadata: ObjectMeta {
            namespace: Some("default".into()),
            name: Some(name.into()),
            ..ObjectMeta::default()
        },
        ..Secret::default()
    }
}

pub fn key(name: &str) -> Request {
    Request::new("default", name)
}

/// Counts the reconciles of each request, and lets a test wait for them.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    counts: watch::Sender<BTreeMap<Request, usize>>,
}

impl Counter {
    pub fn count(&self, request: &Request) {
        self.counts.send_modify(|counts| *counts.entry(request.clone()).or_default() += 1);
    }

    pub fn of(&self, request: &Request) -> usize {
        self.counts.borrow().get(request).copied().unwrap_or(0)
    }

    pub async fn wait_for(&self, request: &Request, at_least: usize) {
        let mut counts = self.counts.subscribe();
        let reached = counts.wait_for(|counts| counts.get(request).is_some_and(|count| *count >= at_least));
        let waited = tokio::time::timeout(std::time::Duration::from_secs(60), reached).await;
        assert!(
            waited.is_ok(),
            "waited in vain for {at_least} reconciles of {request}: {:?}",
            self.counts.borrow()
        );
    }
}

impl Reconciler for Counter {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
        self.count(&request);
        Ok(Action::await_change())
    }
}

/// What happened, in order.
#[derive(Clone, Debug, Default)]
pub struct Journal(watch::Sender<Vec<String>>);

impl Journal {
    pub fn write(&self, line: impl Into<String>) {
        self.0.send_modify(|lines| lines.push(line.into()));
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    pub async fn wait_for(&self, line: &str) {
        let mut lines = self.0.subscribe();
        let written = lines.wait_for(|lines| lines.iter().any(|it| it == line));
        let waited = tokio::time::timeout(std::time::Duration::from_secs(60), written).await;
        assert!(waited.is_ok(), "waited in vain for {line:?}: {:?}", self.lines());
    }
}
