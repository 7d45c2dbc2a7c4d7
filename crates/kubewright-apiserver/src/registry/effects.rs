//! What a write to one kind means for the server itself.

use super::{bootstrap::bootstrap, cluster::Cluster, definition};
use crate::{
    kind::{Consequence, Kind},
    object::{Document, Object},
    storage::Key,
};

/// An object was written.
pub(super) fn stored(cluster: &Cluster, kind: &Kind, key: &Key, document: &Document) {
    if let Some(time_to_live) = kind.strategy.time_to_live() {
        cluster.expiry.renew(key, document, time_to_live);
    }
    if kind.strategy.consequence() == Consequence::Settle {
        definition::changed(cluster);
    }
}

/// An object was removed.
pub(super) fn removed(cluster: &Cluster, kind: &Kind, object: &Object) {
    kind.strategy.release(object);
    match kind.strategy.consequence() {
        Consequence::None => {}
        Consequence::Restore => bootstrap(cluster),
        Consequence::Settle => definition::changed(cluster),
        Consequence::Outlived => definition::instance_removed(cluster, &kind.group, &kind.plural),
    }
}
