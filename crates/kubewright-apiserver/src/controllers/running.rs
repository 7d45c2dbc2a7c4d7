//! Which controllers run, and how they stop.

use std::sync::Arc;

use kube::Client;
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{garbage_collector, namespace::NamespaceEnd, publisher, settle, workload::Workload};
use crate::clock::Clock;

/// Which controllers run beside the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is the switch of one controller")]
pub struct Controllers {
    /// Deletes, in the order that the policy asks for, what has lost its owners. Default: on.
    pub garbage_collector: bool,
    /// Empties namespaces that are being deleted, and lets them go. Default: on.
    pub namespaces: bool,
    /// Keeps the `default` ServiceAccount and the `kube-root-ca.crt` ConfigMap in every namespace. Default: on.
    pub namespace_defaults: bool,
    /// Declares every Deployment available, as if its pods ran. Default: on.
    pub workloads: bool,
}

impl Default for Controllers {
    fn default() -> Self {
        Self { garbage_collector: true, namespaces: true, namespace_defaults: true, workloads: true }
    }
}

/// Running controllers. Dropping the handle stops them at once.
#[derive(Debug)]
#[must_use = "dropping the handle stops the controllers"]
pub struct RunningControllers {
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

impl RunningControllers {
    pub(crate) fn start(
        client: &Client,
        clock: &Arc<dyn Clock>,
        root_certificate: watch::Receiver<String>,
        controllers: Controllers,
    ) -> Self {
        let mut running = Self { cancel: CancellationToken::new(), tasks: JoinSet::new() };
        if controllers.garbage_collector {
            running.spawn(garbage_collector::run(client.clone()));
        }
        if controllers.namespaces {
            let controller = NamespaceEnd { client: client.clone(), clock: clock.clone() };
            running.spawn(settle::run(client.clone(), controller));
        }
        if controllers.namespace_defaults {
            running.spawn(publisher::run(client.clone(), root_certificate));
        }
        if controllers.workloads {
            let controller = Workload { client: client.clone(), clock: clock.clone() };
            running.spawn(settle::run(client.clone(), controller));
        }
        running
    }

    /// Stops the controllers, and returns once they have ended.
    pub async fn shutdown(mut self) {
        self.cancel.cancel();
        while self.tasks.join_next().await.is_some() {}
    }

    /// A controller may be dropped at any await: the next one finds the same objects and goes on.
    fn spawn(&mut self, controller: impl Future<Output = ()> + Send + 'static) {
        let cancel = self.cancel.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = controller => {}
            }
        });
    }
}
