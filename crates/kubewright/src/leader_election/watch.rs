//! Changes of a lease, as early as they can be known.

use std::time::Duration;

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api,
    api::{WatchEvent, WatchParams},
};
use tokio::time::{Instant, sleep_until};

use super::LeaderElectionRecord;
use crate::error;

/// A watch of one lease that is opened again whenever it ends, for as long as somebody reads it.
pub(super) struct LeaseWatch {
    api: Api<Lease>,
    name: String,
    /// From the request on; dropped when it ends.
    open: Option<BoxStream<'static, kube::Result<WatchEvent<Lease>>>>,
    next: Instant,
    pause: Duration,
    refused: bool,
}

impl LeaseWatch {
    pub(super) fn changes(api: Api<Lease>, name: String) -> BoxStream<'static, LeaderElectionRecord> {
        let watch = Self { api, name, open: None, next: Instant::now(), pause: FIRST_PAUSE, refused: false };
        stream::unfold(watch, |mut watch| async { Some((watch.change().await, watch)) }).boxed()
    }

    async fn change(&mut self) -> LeaderElectionRecord {
        loop {
            let Some(open) = &mut self.open else {
                sleep_until(self.next).await;
                self.next = Instant::now() + self.pause;
                self.open = Some(self.request());
                continue;
            };
            match open.next().await {
                Some(Ok(WatchEvent::Added(lease) | WatchEvent::Modified(lease))) => {
                    self.pause = FIRST_PAUSE;
                    return LeaderElectionRecord::of(&lease);
                }
                // Whoever deletes a lease does not stop its holder.
                Some(Ok(WatchEvent::Deleted(_) | WatchEvent::Bookmark(_))) => {}
                Some(Ok(WatchEvent::Error(status))) => self.failed(&kube::Error::Api(status)),
                Some(Err(failure)) => self.failed(&failure),
                None => self.open = None,
            }
        }
    }

    fn request(&self) -> BoxStream<'static, kube::Result<WatchEvent<Lease>>> {
        let (api, name) = (self.api.clone(), self.name.clone());
        let params = WatchParams::default().fields(&format!("metadata.name={name}")).timeout(LASTS_SECONDS);
        // What the API server has in its cache is enough, and it begins with it.
        let events = async move { api.watch(&params, "0").await };
        let until = Instant::now() + Duration::from_secs(u64::from(LASTS_SECONDS)) + GRACE;
        stream::once(events)
            .flat_map(|opened| match opened {
                Ok(events) => events.boxed(),
                Err(failure) => stream::once(async { Err(failure) }).boxed(),
            })
            .take_until(sleep_until(until))
            .boxed()
    }

    /// Polls go on, so this costs some seconds of a fail-over and nothing else.
    fn failed(&mut self, failure: &kube::Error) {
        let forbidden = matches!(failure, kube::Error::Api(status) if status.is_forbidden());
        let chain = error::chain(failure);
        if forbidden && !self.refused {
            self.refused = true;
            tracing::warn!(
                lease = self.name,
                error = chain,
                "no right to watch leases.coordination.k8s.io: this replica polls, and takes over a few seconds later"
            );
        } else {
            tracing::debug!(lease = self.name, error = chain, "watch of lease ended");
        }
        self.open = None;
        self.next = self.next.max(Instant::now() + self.pause);
        self.pause = LONGEST_PAUSE.min(self.pause * 2);
    }
}

/// Not longer, so that a connection that broke without a word is noticed.
const LASTS_SECONDS: u32 = 60;
const GRACE: Duration = Duration::from_secs(5);
/// Between two requests at least, however the first ended.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
