//! What the managers of an environment say when they end by themselves.

use std::{collections::BTreeMap, error::Error};

use kubewright::error_chain;
use tokio::sync::watch;

/// The failures that no test has been told yet. Cheap to clone; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failures {
    untold: watch::Sender<Untold>,
}

#[derive(Debug, Default)]
struct Untold {
    tickets: u64,
    by_ticket: BTreeMap<Ticket, String>,
}

/// One manager of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

impl Failures {
    pub(crate) fn ticket(&self) -> Ticket {
        let mut ticket = 0;
        self.untold.send_modify(|untold| {
            untold.tickets += 1;
            ticket = untold.tickets;
        });
        Ticket(ticket)
    }

    pub(crate) fn report(&self, ticket: Ticket, error: &dyn Error) {
        let text = error_chain(error);
        self.untold.send_modify(|untold| drop(untold.by_ticket.insert(ticket, text)));
    }

    /// The test knows.
    pub(crate) fn forget(&self, ticket: Ticket) {
        self.untold.send_modify(|untold| drop(untold.by_ticket.remove(&ticket)));
    }

    /// Waits until there is one.
    pub(crate) async fn any(&self) -> String {
        let mut untold = self.untold.subscribe();
        match untold.wait_for(|untold| !untold.by_ticket.is_empty()).await {
            Ok(untold) => untold.by_ticket.values().cloned().collect::<Vec<_>>().join("; "),
            // `self` has the sender.
            Err(_) => std::future::pending().await,
        }
    }
}
