//! Delete.

use http::StatusCode;
use jiff::Timestamp;

use super::{cluster::Cluster, effects, metadata, resource::Resource, update};
use crate::{
    admission::Operation,
    error::Status,
    kind::{DeletionStyle, Kind, Propagation},
    object::{Document, Object},
    options::{DeleteOptions, Preconditions},
    storage::{Key, Mismatch},
    value::Value,
};

impl Resource<'_> {
    /// Deletes an object that webhooks let go.
    pub(crate) async fn delete(
        &self,
        key: &Key,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<Deletion, Status> {
        match self.delete_admitted(key, name, options).await? {
            Deletion::Pending(document) => Ok(Deletion::Pending(self.kind.show(document).await?)),
            Deletion::Done(document) if options.ignore_read_error => Ok(Deletion::Done(document)),
            Deletion::Done(document) => Ok(Deletion::Done(self.kind.show(document).await?)),
        }
    }

    async fn delete_admitted(
        &self,
        key: &Key,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<Deletion, Status> {
        let (cluster, kind) = (self.cluster, self.kind);
        if !cluster.admission.is_any() {
            return delete_object(cluster, kind, key, name, options);
        }
        check_mortal(kind, name)?;
        let asked = self.ask(Operation::Delete, name, options.to_value(), options.dry_run);
        loop {
            let current =
                cluster.store.get(&kind.prefix, key).ok_or_else(|| Status::not_found(kind, name))?;
            let old = match Object::decode(&current) {
                // Nobody can judge what nobody can read.
                Err(_) if options.ignore_read_error => {
                    return delete_object(cluster, kind, key, name, options);
                }
                read => kind.convert(read?, &kind.api_version()).await?,
            };
            check_preconditions(kind, &old, &options.preconditions)?;
            asked.delete(&old).await?;
            // What they have judged is what goes.
            let mut judged = options.clone();
            judged.preconditions.resource_version = Some(old.meta("resourceVersion").to_owned());
            match delete_object(cluster, kind, key, name, &judged) {
                Err(status) if status.code == StatusCode::CONFLICT && self.has_moved(key, &current) => {}
                result => return result,
            }
        }
    }

    fn has_moved(&self, key: &Key, since: &Document) -> bool {
        let now = self.cluster.store.get(&self.kind.prefix, key);
        now.is_some_and(|now| now.revision() != since.revision())
    }
}

/// How far a deletion has come.
#[derive(Debug)]
pub(crate) enum Deletion {
    /// Finalizers or the grace period hold it up.
    Pending(Document),
    /// The object is gone; this was it.
    Done(Document),
}

/// Deletes an object, or marks it as being deleted.
///
/// Source: apiserver `registry.Store.Delete`, `rest.BeforeDelete`.
pub(super) fn delete_object(
    cluster: &Cluster,
    kind: &Kind,
    key: &Key,
    name: &str,
    options: &DeleteOptions,
) -> Result<Deletion, Status> {
    check_mortal(kind, name)?;
    let mut preconditions = options.preconditions.clone();
    loop {
        let current = cluster.store.get(&kind.prefix, key).ok_or_else(|| Status::not_found(kind, name))?;
        let old = match Object::decode(&current) {
            Err(_) if options.ignore_read_error => {
                return remove_unread(cluster, kind, key, &current, options);
            }
            old => old?,
        };
        check_readable(kind, key, &old, options)?;
        check_preconditions(kind, &old, &preconditions)?;
        let new = marked(cluster.clock.now(), kind, &old, options);
        let released = update::is_released(kind, &new);
        // Whoever watches an object that may need time to stop sees that it is to go before it goes.
        let goes = released && (!is_graceful(kind) || new == old);
        let draft = new.encode()?;
        if options.dry_run {
            return Ok(if !released {
                Deletion::Pending(draft.at(current.revision()))
            } else if goes {
                Deletion::Done(current)
            } else {
                Deletion::Done(draft.at(current.revision()))
            });
        }
        let result = if goes {
            cluster.store.remove(&kind.prefix, key, current.revision()).map(Deletion::Done)
        } else {
            cluster.store.replace(&kind.prefix, key, current.revision(), &draft).map(Deletion::Pending)
        };
        match result {
            Ok(Deletion::Done(document)) => {
                effects::removed(cluster, kind, &old);
                return Ok(Deletion::Done(document));
            }
            Ok(Deletion::Pending(document)) => {
                effects::stored(cluster, kind, key, &document);
                if !released {
                    return Ok(Deletion::Pending(document));
                }
                // The mark has moved the version; the object is still the one that was meant.
                preconditions = Preconditions { uid: Some(old.uid().to_owned()), resource_version: None };
            }
            Err(Mismatch { current: None }) => return Err(Status::not_found(kind, name)),
            Err(Mismatch { current: Some(_) }) => {}
        }
    }
}

/// Some objects may not be deleted.
fn check_mortal(kind: &Kind, name: &str) -> Result<(), Status> {
    match kind.strategy.refuses_deletion(name) {
        Some(cause) => Err(Status::forbidden(kind, name, cause)),
        None => Ok(()),
    }
}

/// The object as it is while its deletion waits: with the finalizers of the policy, and marked.
fn marked(now: Timestamp, kind: &Kind, old: &Object, options: &DeleteOptions) -> Object {
    let mut new = old.clone();
    let finalizers = finalizers(kind, old, options);
    new.set_finalizers(&finalizers);
    kind.strategy.prepare_for_delete(&mut new, old, now);
    let grace = kind.strategy.grace_period(old, options.grace_period_seconds);
    let before = old.metadata().get("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    if !old.is_terminating() {
        metadata::mark_deleted(&mut new, now, grace);
    } else if grace.is_some_and(|grace| grace < before) {
        // A second deletion can only shorten the grace period.
        let generation = old.generation();
        metadata::mark_deleted(&mut new, now, grace);
        if generation > 0 {
            new.metadata_mut().insert("generation".into(), generation.into());
        }
    }
    new
}

/// Source: apiserver `registry.deletionFinalizersForGarbageCollection`.
fn finalizers(kind: &Kind, old: &Object, options: &DeleteOptions) -> Vec<String> {
    let present = old.finalizers();
    let mut others: Vec<String> = present
        .iter()
        .filter(|name| !matches!(**name, ORPHAN | FOREGROUND))
        .map(|name| (*name).to_owned())
        .collect();
    let Some(default) = kind.strategy.rules().propagation else { return others };
    let standing = if present.contains(&FOREGROUND) {
        Some(Propagation::Foreground)
    } else if present.contains(&ORPHAN) {
        Some(Propagation::Orphan)
    } else {
        None
    };
    match options.propagation.or(standing).unwrap_or(default) {
        Propagation::Background => {}
        Propagation::Foreground => others.push(FOREGROUND.to_owned()),
        Propagation::Orphan => others.push(ORPHAN.to_owned()),
    }
    others
}

fn is_graceful(kind: &Kind) -> bool {
    kind.strategy.rules().deletion == DeletionStyle::Graceful
}

/// Removes an object that nobody can read: there are no finalizers to be seen.
fn remove_unread(
    cluster: &Cluster,
    kind: &Kind,
    key: &Key,
    current: &Document,
    options: &DeleteOptions,
) -> Result<Deletion, Status> {
    if options.dry_run {
        return Ok(Deletion::Done(current.clone()));
    }
    let removed = cluster.store.remove(&kind.prefix, key, current.revision());
    removed.map(Deletion::Done).map_err(|_| Status::modified(kind, key.name()))
}

/// An object that can be read is deleted by looking at it.
///
/// Source: apiserver `registry.corruptObjectDeleter`.
fn check_readable(kind: &Kind, key: &Key, old: &Object, options: &DeleteOptions) -> Result<(), Status> {
    if !options.ignore_read_error {
        return Ok(());
    }
    let cause = format!(
        "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage",
        update::registry_key(kind, key)
    );
    Err(Status::conflict(kind, old.name(), &cause))
}

pub(super) fn check_preconditions(
    kind: &Kind,
    old: &Object,
    preconditions: &Preconditions,
) -> Result<(), Status> {
    // Upstream names the kind, not the resource, in these.
    let conflict = |cause: String| {
        let dot = if kind.group.is_empty() { "" } else { "." };
        let mut status = Status::conflict(kind, old.name(), &cause).with("kind", kind.kind.as_str());
        status.message = format!(
            "Operation cannot be fulfilled on {}{dot}{} \"{}\": {cause}",
            kind.kind,
            kind.group,
            old.name()
        );
        Err(status)
    };
    if let Some(uid) = &preconditions.uid
        && uid != old.uid()
    {
        return conflict(format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
            old.uid()
        ));
    }
    let version = old.meta("resourceVersion");
    if let Some(wanted) = &preconditions.resource_version
        && wanted != version
    {
        return conflict(format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({version}). The object might have been modified"
        ));
    }
    Ok(())
}

/// Finalizers of the garbage collector.
pub(crate) const ORPHAN: &str = "orphan";
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// Deletion without conditions, for the server's own use.
pub(super) fn in_background() -> DeleteOptions {
    DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() }
}

#[cfg(test)]
mod tests {
    use crate::value::json;

    use super::*;
    use crate::kind::Kinds;

    #[track_caller]
    fn check(plural: &str, group: &str, present: &[&str], asked: Option<Propagation>, expected: &[&str]) {
        let kind = Kinds::new().current().find(group, "v1", plural).unwrap().clone();
        let value = json!({"metadata": {"finalizers": present}});
        let old = Object(value.as_object().cloned().unwrap());
        let options = DeleteOptions { propagation: asked, ..DeleteOptions::default() };
        assert_eq!(finalizers(&kind, &old, &options), expected);
    }

    #[test]
    fn finalizers_follow_the_policy() {
        use Propagation::{Background, Foreground, Orphan};
        check("pods", "", &[], None, &[]);
        check("pods", "", &["x"], Some(Foreground), &["x", FOREGROUND]);
        check("pods", "", &[ORPHAN, "x"], Some(Background), &["x"]);
        check("pods", "", &[FOREGROUND], Some(Orphan), &[ORPHAN]);
        check("pods", "", &[FOREGROUND], None, &[FOREGROUND]);
        check("jobs", "batch", &[], None, &[ORPHAN]);
        check("jobs", "batch", &[], Some(Background), &[]);
        check("events", "", &["x"], Some(Orphan), &["x"]);
    }
}
