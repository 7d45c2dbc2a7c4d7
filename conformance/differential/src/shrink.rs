//! The shortest story that still parts the two servers.

use crate::{
    script::Script,
    verdict::{Difference, Servers},
};

/// Drops steps, one by one and from the end, as long as the servers still part at an unknown place.
///
/// Each try is told under names of its own, since objects of the last one are still there.
pub(crate) async fn shrink(servers: &Servers, script: &Script, found: Difference) -> (Script, Difference) {
    let mut tries = 0;
    let mut shortest = (script.clone(), found);
    if let Some(step) = shortest.1.step {
        shortest.0.steps.truncate(step + 1);
    }
    let mut at = shortest.0.steps.len();
    while at > 0 && tries < MAX_TRIES {
        at -= 1;
        tries += 1;
        let mut shorter = shortest.0.clone();
        shorter.steps.remove(at);
        let told = shorter.renamed(&format!("{}s{tries}", script.namespace()));
        // A story that cannot be told to its end is no shorter one.
        let Ok(verdict) = servers.judge(&told).await else { continue };
        if let Some(difference) = verdict.difference.filter(|it| it.known.is_none()) {
            shortest = (shorter, difference);
        }
    }
    shortest
}

const MAX_TRIES: usize = 60;
