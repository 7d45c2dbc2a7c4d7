//! The loop of a controller that settles one place at a time: changes say which places to look at, and what cannot be
//! settled now is looked at again.

use std::{collections::BTreeSet, fmt::Debug};

use kube::{Client, Error};
use tokio::{sync::mpsc, task::JoinSet, time::sleep};
use tracing::debug;

use super::follow::{CHANGES, Change, Metadata, RETRY, Resource, follow};

/// What a controller does with the places that it looks after.
pub(super) trait Settle: Sync {
    /// What is settled as a whole, such as a namespace or one object.
    type Place: Ord + Debug + Send + Sync;

    /// The resources whose changes matter.
    fn resources(&self) -> Vec<Resource>;

    /// Which place a change of an object concerns, whether it was written or deleted.
    fn place_of(&self, resource: &Resource, object: &Metadata) -> Option<Self::Place>;

    /// Brings a place to where it belongs, which may have gone in the meantime. False when something is left to do.
    fn settle(&self, place: &Self::Place) -> impl Future<Output = Result<bool, Error>> + Send;
}

/// Runs until it is dropped.
pub(super) async fn run(client: Client, controller: impl Settle) {
    let (sender, mut receiver) = mpsc::channel(CHANGES);
    // Dropped with the controller, and the watches with it.
    let mut watches = JoinSet::new();
    for resource in controller.resources() {
        watches.spawn(follow(client.clone(), resource, sender.clone()));
    }
    let mut pending = BTreeSet::new();
    loop {
        tokio::select! {
            biased;
            Some((resource, change)) = receiver.recv() => match change {
                Change::Listed(objects) => {
                    pending.extend(objects.iter().filter_map(|object| controller.place_of(&resource, object)));
                }
                Change::Applied(object) | Change::Deleted(object) => {
                    pending.extend(controller.place_of(&resource, &object));
                }
            },
            () = sleep(RETRY), if !pending.is_empty() => {}
        }
        // Changes first: many of one place are settled together.
        if !receiver.is_empty() {
            continue;
        }
        for place in std::mem::take(&mut pending) {
            match controller.settle(&place).await {
                Ok(true) => {}
                Ok(false) => _ = pending.insert(place),
                // One that fails is no reason to keep the others waiting.
                Err(error) => {
                    debug!(%error, ?place, "failed to settle; trying again");
                    pending.insert(place);
                }
            }
        }
    }
}
