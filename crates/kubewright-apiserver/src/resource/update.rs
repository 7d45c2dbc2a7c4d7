//! Update, and the loop that patches share with it.

use http::StatusCode;

use super::{admission, call::Call, create, effects, metadata, validation};
use crate::{
    admission::Operation,
    error::{FieldError, Named, Status},
    kind::Kind,
    object::{Document, Draft, Object},
    server::Shared,
    storage::{Key, Mismatch},
    wire::{Reply, WriteOptions},
};

/// Which part of an object a write is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Everything but the status.
    Main,
    Status,
    /// A namespace's `spec.finalizers`.
    Finalize,
}

/// `PUT`: replaces an object or one part of it.
pub(super) async fn update(call: &Call, part: Part) -> Result<Reply, Status> {
    let options = WriteOptions::of_update(&call.context.query)?;
    let mut sent = call.decode()?;
    check_place(call, &mut sent)?;
    let missing = call.shared.store.get(&call.kind.prefix, &call.key()).is_none();
    if missing && part == Part::Main && call.kind.strategy.create_on_update {
        return create_instead(call, sent, options).await;
    }
    let document = modify(call, part, options, |seen| {
        check_uid(call, seen, &sent)?;
        Ok(sent.clone())
    })
    .await?;
    Ok(Reply::object(StatusCode::OK, &call.kind, document))
}

/// Reads the object, lets `change` make a new one of what the client sees, and commits it; again from the start
/// when somebody else was faster, unless the client has said which version it means.
///
/// Source: apiserver `registry.Store.Update` over `storage.Interface.GuaranteedUpdate`.
pub(super) async fn modify(
    call: &Call,
    part: Part,
    options: WriteOptions,
    mut change: impl FnMut(&Object) -> Result<Object, Status>,
) -> Result<Document, Status> {
    let (shared, kind) = (&call.shared, &call.kind);
    let key = call.key();
    loop {
        let current = call.read()?;
        let old = Object::decode(&current)?;
        let mut seen = old.clone();
        kind.to_shown(&mut seen);
        let mut new = change(&seen)?;
        check_place(call, &mut new)?;
        kind.to_storage(&mut new);
        admission::mutate(call, Operation::Update, &call.info.name, options.dry_run, Some(&old), &mut new)
            .await?;
        check_place(call, &mut new)?;
        check_version(call, &old, &new)?;
        metadata::before_update(kind, &old, &mut new, part);
        let mut problems = validation::validate(kind, &new, Some(&old));
        problems.extend((kind.strategy.validate)(&new, Some(&old)));
        metadata::refuse(kind, new.name(), &problems)?;
        admission::validate(call, Operation::Update, &call.info.name, options.dry_run, Some(&old), &new)
            .await?;
        let reservation = effects::reserve(shared, kind, Some(&old), &mut new)?;
        let draft = new.encode()?;
        if options.dry_run {
            return Ok(draft.at(current.revision()));
        }
        match commit(shared, kind, &key, &current, &new, &draft) {
            Ok(document) => {
                reservation.keep();
                return Ok(document);
            }
            Err(Mismatch { current: None }) => return Err(Status::not_found(kind, &call.info.name)),
            Err(Mismatch { current: Some(_) }) => {}
        }
    }
}

/// Stores `new` in place of `old`, or removes it when nothing holds the deletion up any longer.
pub(super) fn commit(
    shared: &Shared,
    kind: &Kind,
    key: &Key,
    current: &Document,
    new: &Object,
    draft: &Draft,
) -> Result<Document, Mismatch> {
    if is_released(kind, new) {
        shared.store.remove(&kind.prefix, key, current.revision())?;
        effects::removed(shared, kind, new);
        // Clients expect an updated object where an update has succeeded.
        return Ok(draft.at(current.revision()));
    }
    let document = shared.store.replace(&kind.prefix, key, current.revision(), draft)?;
    effects::stored(shared, kind, key, &document);
    Ok(document)
}

/// Whether an object that is being deleted may go: no finalizer, no grace, and an empty namespace.
pub(super) fn is_released(kind: &Kind, object: &Object) -> bool {
    let grace = object.metadata().get("deletionGracePeriodSeconds").and_then(serde_json::Value::as_i64);
    let holds = |pointer: &str| {
        object.at(pointer).and_then(serde_json::Value::as_array).is_some_and(|list| !list.is_empty())
    };
    object.is_terminating()
        && object.finalizers().is_empty()
        && grace.unwrap_or_default() == 0
        && !(kind.is("", "namespaces") && holds("/spec/finalizers"))
}

/// The object in the request is the one in the path.
fn check_place(call: &Call, new: &mut Object) -> Result<(), Status> {
    if new.name().is_empty() {
        new.metadata_mut().insert("name".into(), call.info.name.clone().into());
    } else if new.name() != call.info.name {
        let text = format!(
            "the name of the object ({}) does not match the name on the URL ({})",
            new.name(),
            call.info.name
        );
        return Err(Status::bad_request(text));
    }
    create::check_namespace(call, new)
}

/// A replacement that names an object means this one, whatever version it has.
///
/// Source: apiserver `storage.Preconditions.Check`, in whose words `Key` is where etcd keeps the object.
fn check_uid(call: &Call, old: &Object, sent: &Object) -> Result<(), Status> {
    if sent.uid().is_empty() || sent.uid() == old.uid() {
        return Ok(());
    }
    let cause = format!(
        "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {}, UID in object meta: {}",
        registry_key(&call.kind, &call.key()),
        sent.uid(),
        old.uid()
    );
    Err(Status::conflict(&call.kind, &call.info.name, &cause))
}

/// A write that says which version it was made of was made of the current one.
fn check_version(call: &Call, old: &Object, new: &Object) -> Result<(), Status> {
    let given = new.meta("resourceVersion");
    if given.is_empty() || given == "0" {
        return if call.kind.strategy.unconditional_update {
            Ok(())
        } else {
            Err(no_resource_version(&call.kind, &call.info.name))
        };
    }
    if given.parse::<u64>().is_err() {
        let text = format!("strconv.ParseUint: parsing {given:?}: invalid syntax");
        return Err(Status::new(StatusCode::INTERNAL_SERVER_ERROR, "", text));
    }
    if given == old.meta("resourceVersion") {
        Ok(())
    } else {
        Err(Status::modified(&call.kind, &call.info.name))
    }
}

/// Where the real server keeps an object in etcd.
///
/// Source: the storage of each kind in kubernetes `pkg/registry`.
pub(super) fn registry_key(kind: &Kind, key: &Key) -> String {
    let place = match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "services") => "services/specs",
        ("", "endpoints") => "services/endpoints",
        ("", "nodes") => "minions",
        ("networking.k8s.io", "ingresses") => "ingress",
        ("apiextensions.k8s.io", _) => &kind.prefix,
        _ if kind.is_custom => &kind.prefix,
        (_, plural) => plural,
    };
    format!("/registry/{place}/{key}")
}

async fn create_instead(call: &Call, sent: Object, options: WriteOptions) -> Result<Reply, Status> {
    if !sent.meta("resourceVersion").is_empty() {
        // The client means an object that it has seen, and which is gone.
        return Err(Status::not_found(&call.kind, &call.info.name));
    }
    let document = create::create_object(call, sent, options).await?;
    Ok(Reply::object(StatusCode::CREATED, &call.kind, document))
}

/// Upstream names the resource, not the kind, in this one.
fn no_resource_version(kind: &Kind, name: &str) -> Status {
    let error =
        FieldError::invalid("metadata.resourceVersion", Some(&0.into()), "must be specified for an update");
    let mut status = Status::invalid(kind, name, &[error]);
    status.message = status.message.replacen(&kind.qualified_kind(), &kind.qualified_resource(), 1);
    status.with("kind", kind.plural.as_str())
}
