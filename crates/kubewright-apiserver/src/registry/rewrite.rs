//! What the server changes in an object on its own, or because a request to a subresource means it.

use super::{cluster::Cluster, effects};
use crate::{
    error::Status,
    kind::Kind,
    object::{Document, Object},
    storage::{Key, Mismatch},
};

/// Changes a stored object, again from the start when somebody else was faster. Nobody is asked whether the change is
/// good.
///
/// # Errors
/// 404 without the object, and what `change` says.
pub(super) fn rewrite(
    cluster: &Cluster,
    kind: &Kind,
    key: &Key,
    dry_run: bool,
    mut change: impl FnMut(&mut Object) -> Result<(), Status>,
) -> Result<Document, Status> {
    loop {
        let current = cluster.store.get(&kind.prefix, key);
        let current = current.ok_or_else(|| Status::not_found(kind, key.name()))?;
        let mut object = Object::decode(&current)?;
        change(&mut object)?;
        kind.strategy.set_defaults(&mut object);
        let draft = object.encode()?;
        if dry_run {
            return Ok(draft.at(current.revision()));
        }
        match cluster.store.replace(&kind.prefix, key, current.revision(), &draft) {
            Ok(document) => {
                effects::stored(cluster, kind, key, &document);
                return Ok(document);
            }
            Err(Mismatch { current: None }) => return Err(Status::not_found(kind, key.name())),
            Err(Mismatch { current: Some(_) }) => {}
        }
    }
}
