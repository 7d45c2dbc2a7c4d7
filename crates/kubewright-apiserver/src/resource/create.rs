//! Create.

use http::StatusCode;

use super::{
    admission,
    call::{Call, no_such_path},
    effects, metadata, namespace, validation,
};
use crate::{
    admission::Operation,
    error::Status,
    kind::{DEFINITIONS, Kind, definition_name},
    object::{Document, Object},
    storage::{Guard, Key, NotCreated},
    wire::{Reply, WriteOptions},
};

/// `POST`: makes an object.
pub(super) async fn create(call: &Call) -> Result<Reply, Status> {
    let options = WriteOptions::of_create(&call.context.query)?;
    let object = call.decode()?;
    let document = create_object(call, object, options).await?;
    Ok(Reply::object(StatusCode::CREATED, &call.kind, document))
}

/// Makes an object of what a client has sent.
///
/// Source: apiserver `registry/generic/registry.Store.Create`.
pub(super) async fn create_object(
    call: &Call,
    mut object: Object,
    options: WriteOptions,
) -> Result<Document, Status> {
    let (shared, kind) = (&call.shared, &call.kind);
    // What is no version is none, and a dry run stores nothing that could have one.
    let version = object.meta("resourceVersion").parse::<u64>().unwrap_or_default();
    if version != 0 && !options.dry_run {
        let text = "resourceVersion should not be set on objects to be created";
        return Err(Status::new(StatusCode::INTERNAL_SERVER_ERROR, "", text));
    }
    check_namespace(call, &mut object)?;
    admit(call, object.name())?;
    kind.to_storage(&mut object);
    let asked_name = object.name().to_owned();
    admission::mutate(call, Operation::Create, &asked_name, options.dry_run, None, &mut object).await?;
    check_namespace(call, &mut object)?;
    metadata::before_create(shared, kind, &mut object);
    let base = object.meta("generateName").to_owned();
    let generated = object.name().is_empty() && !base.is_empty();
    for attempt in 1..=MAX_NAME_ATTEMPTS {
        if generated {
            let name = shared.identity.generate_name(&base);
            object.metadata_mut().insert("name".into(), name.into());
            // Defaults may depend on the name (namespaces carry it as a label).
            (kind.strategy.default)(&mut object);
        }
        let mut problems = validation::validate(kind, &object, None);
        problems.extend((kind.strategy.validate)(&object, None));
        metadata::refuse(kind, object.name(), &problems)?;
        admission::validate(call, Operation::Create, &asked_name, options.dry_run, None, &object).await?;
        match commit(call, &mut object, options) {
            Ok(document) => return Ok(document),
            Err(Refusal::Taken(_)) if generated && attempt < MAX_NAME_ATTEMPTS => {}
            Err(Refusal::Taken(status)) if generated => return Err(no_unique_name(status)),
            Err(Refusal::Taken(status) | Refusal::Other(status)) => return Err(status),
        }
    }
    Err(Status::internal_error("no attempt to make the object was left"))
}

/// Why the object was not stored.
enum Refusal {
    Taken(Status),
    Other(Status),
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self::Other(status)
    }
}

/// Stores the object, unless its namespace or its definition has begun to go.
fn commit(call: &Call, object: &mut Object, options: WriteOptions) -> Result<Document, Refusal> {
    let (shared, kind) = (&call.shared, &call.kind);
    let key = Key::new(call.namespace(), object.name());
    if let Some(present) = shared.store.get(&kind.prefix, &key) {
        return Err(taken(kind, object.name(), &present));
    }
    let reservation = effects::reserve(shared, kind, None, object)?;
    let draft = object.encode().map_err(Status::from)?;
    if options.dry_run {
        return Ok(draft.without_revision());
    }
    let stored = loop {
        // Looked at again whenever somebody has written to them in between.
        let guards = match admit(call, object.name()) {
            Ok(guards) => guards,
            Err(status) => break Err(Refusal::Other(status)),
        };
        match shared.store.create(&kind.prefix, &key, &draft, &guards) {
            Ok(document) => break Ok(document),
            Err(NotCreated::Taken(present)) => break Err(taken(kind, object.name(), &present)),
            Err(NotCreated::Moved) => {}
        }
    };
    if let Ok(document) = &stored {
        reservation.keep();
        effects::stored(shared, kind, &key, document);
    }
    stored
}

/// Whether the namespace and the definition take new objects, and what must not change until the commit.
fn admit(call: &Call, name: &str) -> Result<Vec<Guard>, Status> {
    let mut guards = Vec::new();
    if call.kind.is_namespaced() {
        guards.push(namespace::check_accepts(&call.shared, &call.kind, call.namespace(), name)?);
    }
    if call.kind.is_custom {
        guards.push(check_definition(call, name)?);
    }
    Ok(guards)
}

fn taken(kind: &Kind, name: &str, present: &Document) -> Refusal {
    let mut status = Status::already_exists(kind, name);
    if Object::decode(present).is_ok_and(|present| present.is_terminating()) {
        status.message = format!("object is being deleted: {}", status.message);
    }
    Refusal::Taken(status)
}

fn no_unique_name(mut status: Status) -> Status {
    status.message.push_str(", the server was not able to generate a unique name for the object");
    status.with("retryAfterSeconds", 1)
}

/// The namespace in the object is that of the path, or not given.
pub(super) fn check_namespace(call: &Call, object: &mut Object) -> Result<(), Status> {
    let (given, wanted) = (object.namespace().to_owned(), call.namespace());
    if wanted.is_empty() {
        object.metadata_mut().remove("namespace");
    } else {
        object.metadata_mut().insert("namespace".into(), wanted.into());
    }
    if given.is_empty() || given == wanted || wanted.is_empty() {
        Ok(())
    } else {
        let text = "the namespace of the provided object does not match the namespace sent on the request";
        Err(Status::bad_request(text))
    }
}

/// No new objects of a kind whose definition is being deleted, or is gone.
fn check_definition(call: &Call, name: &str) -> Result<Guard, Status> {
    let definition = definition_name(&call.kind.plural, &call.kind.group);
    let registry = call.shared.registry();
    // One of the same name may have taken the place of the one that the request has found.
    let found = registry.definition(&definition).filter(|found| found.uid == call.kind.definition_uid);
    let found = found.ok_or_else(no_such_path)?;
    if found.terminating {
        let cause = "create not allowed while custom resource definition is terminating";
        return Err(Status::forbidden(&call.kind, name, cause));
    }
    Ok(Guard { prefix: DEFINITIONS, key: Key::new("", &definition), revision: found.revision })
}

/// Source: apiserver `registry.maxNameGenerationCreateAttempts`.
const MAX_NAME_ATTEMPTS: usize = 8;
