//! The keys that are queued.

use std::sync::Arc;

/// Names an object as controllers do: 32 bytes, and a clone counts two references.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectKey {
    namespace: Option<Arc<str>>,
    name: Arc<str>,
}

/// `count` objects in 200 namespaces, whose names are shared.
pub(crate) fn object(count: usize) -> Vec<ObjectKey> {
    let namespaces: Vec<Arc<str>> = (0..200).map(|number| format!("team-{number:03}").into()).collect();
    (0..count)
        .map(|number| ObjectKey {
            namespace: Some(namespaces[number % namespaces.len()].clone()),
            name: format!("svc-{number:08}").into(),
        })
        .collect()
}

/// The smallest useful key.
pub(crate) fn number(count: usize) -> Vec<u64> {
    (0..count as u64).collect()
}
