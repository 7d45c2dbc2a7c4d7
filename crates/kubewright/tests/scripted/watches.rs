//! The watches that are open.

use futures::channel::mpsc::UnboundedSender;
use serde_json::{Value, json};

use super::{
    history::{History, Key},
    plan::Plan,
};

/// What a body sends next.
pub enum Piece {
    Bytes(Vec<u8>),
    /// The connection breaks, or ends.
    Cut {
        clean: bool,
    },
}

/// One open watch.
pub struct Watch {
    pub pieces: UnboundedSender<Piece>,
    pub plan: Plan,
    pub plural: String,
    pub namespace: String,
    /// Everything up to here has been sent.
    pub at: u64,
}

impl Watch {
    /// Sends what happened up to `version`, where its replica is. False once nobody reads any more.
    pub fn advance(&mut self, history: &History, version: u64) -> bool {
        for change in history.between(self.at, version) {
            if concerns(&change.key, &self.plural, &self.namespace) {
                self.send(&json!({ "type": change.event_type, "object": &*change.object }));
            }
        }
        self.at = self.at.max(version);
        !self.pieces.is_closed()
    }

    /// Sends a bookmark; a watch that is ahead of its replica gets none, as from kube-apiserver.
    pub fn bookmark(&self, version: u64) {
        if self.plan.bookmarks && (version >= self.at || self.plan.low_bookmarks) {
            self.send(&bookmark(version, false));
        }
    }

    pub fn send(&self, event: &Value) {
        if !self.plan.silent {
            self.put(Piece::Bytes(format!("{event}\n").into_bytes()));
        }
    }

    pub fn put(&self, piece: Piece) {
        // A reader that is gone is forgotten at the next change.
        let _ = self.pieces.unbounded_send(piece);
    }
}

pub fn concerns(key: &Key, plural: &str, namespace: &str) -> bool {
    key.0 == plural && (namespace.is_empty() || key.1 == namespace)
}

pub fn bookmark(version: u64, initial_events_end: bool) -> Value {
    let mut object = json!({ "metadata": { "resourceVersion": version.to_string() } });
    if initial_events_end {
        object["metadata"]["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
    }
    json!({ "type": "BOOKMARK", "object": object })
}
