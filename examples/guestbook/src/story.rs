//! Tells a person what happens, object by object.

use std::{
    collections::BTreeMap,
    io::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use kubewright::prelude::*;
use tokio::sync::watch;

/// Tells what happens to each guestbook, on standard output, and knows which of them are ready.
#[derive(Clone, Debug)]
pub struct Story {
    is_told: bool,
    guestbooks: watch::Sender<BTreeMap<Request, bool>>,
    last: Arc<Mutex<BTreeMap<Request, String>>>,
}

impl Story {
    /// A story that is printed.
    pub fn printed() -> Self {
        Self { is_told: true, guestbooks: watch::Sender::default(), last: Arc::default() }
    }

    /// A story that only knows.
    pub fn silent() -> Self {
        Self { is_told: false, ..Self::printed() }
    }

    /// Waits until every one of `requests` is ready.
    pub async fn all_ready(&self, requests: &[Request]) {
        let mut guestbooks = self.guestbooks.subscribe();
        let ready = guestbooks
            .wait_for(|known| requests.iter().all(|request| known.get(request) == Some(&true)))
            .await;
        // The sender is part of `self`, so it is still there.
        drop(ready);
    }

    /// Those of `requests` that are not ready.
    pub fn unready(&self, requests: &[Request]) -> Vec<String> {
        let known = self.guestbooks.borrow();
        requests.iter().filter(|request| known.get(request) != Some(&true)).map(ToString::to_string).collect()
    }

    pub(crate) fn did(&self, request: &Request, what: &str) {
        self.tell(request, what.to_owned());
    }

    pub(crate) fn has(&self, request: &Request, message: &str, available: i32, wanted: i32, ready: bool) {
        self.tell(
            request,
            if ready {
                format!("is ready: {available} of {wanted} replicas say {message:?}")
            } else {
                format!("waits for its pods: {available} of {wanted} available")
            },
        );
        self.guestbooks.send_modify(|known| {
            known.insert(request.clone(), ready);
        });
    }

    pub(crate) fn gone(&self, request: &Request) {
        if self.guestbooks.send_if_modified(|known| known.remove(request).is_some()) {
            self.tell(request, "is gone, and its children with it".to_owned());
        }
    }

    /// Says nothing twice in a row.
    fn tell(&self, request: &Request, what: String) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_told && last.get(request) != Some(&what) {
            // A closed pipe ends the telling, not the operator.
            let _ = writeln!(std::io::stdout().lock(), "  {:<16} {what}", request.to_string());
        }
        last.insert(request.clone(), what);
    }
}
