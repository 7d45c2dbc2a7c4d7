//! Create.

use http::StatusCode;

use super::{
    effects, metadata, namespace,
    resource::{Resource, no_such_path},
    validation,
};
use crate::{
    admission::Operation,
    error::Status,
    kind::{DEFINITIONS, Kind, Part, definition_name},
    object::{Document, Object},
    options::WriteOptions,
    storage::{Guard, Key, NotCreated},
};

impl Resource<'_> {
    /// Makes an object of what a client has sent.
    ///
    /// Source: apiserver `registry/generic/registry.Store.Create`.
    pub(crate) async fn create(
        &self,
        mut object: Object,
        options: &WriteOptions,
    ) -> Result<Document, Status> {
        let (cluster, kind) = (self.cluster, self.kind);
        // What is no version is none, and a dry run stores nothing that could have one.
        let version = object.meta("resourceVersion").parse::<u64>().unwrap_or_default();
        if version != 0 && !options.dry_run {
            let text = "resourceVersion should not be set on objects to be created";
            return Err(Status::new(StatusCode::INTERNAL_SERVER_ERROR, "", text));
        }
        self.check_namespace(&mut object)?;
        self.drop_repeated_owners(&mut object, false);
        self.admit(object.name())?;
        let asked_name = object.name().to_owned();
        let asked = self.ask(Operation::Create, &asked_name, options.for_create(), options.dry_run);
        asked.mutate(None, &mut object).await?;
        self.drop_repeated_owners(&mut object, true);
        self.check_namespace(&mut object)?;
        metadata::before_create(cluster, kind, &mut object);
        self.stamp(&mut object, None);
        let base = object.meta("generateName").to_owned();
        let generated = object.name().is_empty() && !base.is_empty();
        for attempt in 1..=MAX_NAME_ATTEMPTS {
            if generated {
                let name = cluster.identity.generate_name(&base);
                object.metadata_mut().insert("name".into(), name.into());
                // Defaults may depend on the name (namespaces carry it as a label).
                kind.strategy.set_defaults(&mut object);
            }
            let mut problems = validation::validate(kind, &object, None);
            problems.extend(kind.strategy.validate(&object, None, Part::Main));
            metadata::refuse(kind, object.name(), &problems)?;
            self.warn(&object, None);
            asked.validate(None, &object).await?;
            // Only what gets another name when this one is taken is needed again.
            let attempted = if generated { object.clone() } else { std::mem::take(&mut object) };
            match self.commit_new(attempted, options.dry_run).await {
                Ok(document) => return kind.show(document).await,
                Err(Refusal::Taken(_)) if generated && attempt < MAX_NAME_ATTEMPTS => {}
                Err(Refusal::Taken(status)) if generated => return Err(no_unique_name(status)),
                Err(Refusal::Taken(status) | Refusal::Other(status)) => return Err(status),
            }
        }
        Err(Status::internal_error("no attempt to make the object was left"))
    }

    /// Stores the object, unless its namespace or its definition has begun to go.
    async fn commit_new(&self, mut object: Object, dry_run: bool) -> Result<Document, Refusal> {
        let (cluster, kind) = (self.cluster, self.kind);
        let name = object.name().to_owned();
        let key = Key::new(self.namespace(), &name);
        if let Some(present) = cluster.store.get(&kind.prefix, &key) {
            return Err(taken(kind, &name, &present));
        }
        let reservation = kind.strategy.reserve(kind, None, &mut object)?;
        let draft = kind.keep(object).await?;
        if dry_run {
            return Ok(draft.without_revision());
        }
        let stored = loop {
            // Looked at again whenever somebody has written to them in between.
            let guards = self.admit(&name)?;
            match cluster.store.create(&kind.prefix, &key, &draft, &guards) {
                Ok(document) => break document,
                Err(NotCreated::Taken(present)) => return Err(taken(kind, &name, &present)),
                Err(NotCreated::Moved) => {}
            }
        };
        reservation.keep();
        effects::stored(cluster, kind, &key, &stored);
        Ok(stored)
    }

    /// Whether the namespace and the definition take new objects, and what must not change until the commit.
    fn admit(&self, name: &str) -> Result<Vec<Guard>, Status> {
        let mut guards = Vec::new();
        if self.kind.is_namespaced() {
            guards.push(namespace::check_accepts(self.cluster, self.kind, self.namespace(), name)?);
        }
        if self.kind.is_custom {
            guards.push(self.check_definition(name)?);
        }
        Ok(guards)
    }

    /// No new objects of a kind whose definition is being deleted, or is gone.
    fn check_definition(&self, name: &str) -> Result<Guard, Status> {
        let definition = definition_name(&self.kind.plural, &self.kind.group);
        let served = self.cluster.served();
        // One of the same name may have taken the place of the one that the request has found.
        let found = served.definition(&definition).filter(|found| found.uid == self.kind.definition_uid);
        let found = found.ok_or_else(no_such_path)?;
        if found.terminating {
            let cause = "create not allowed while custom resource definition is terminating";
            return Err(Status::forbidden(self.kind, name, cause));
        }
        Ok(Guard { prefix: DEFINITIONS, key: Key::new("", &definition), revision: found.revision })
    }
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

/// Source: apiserver `registry.maxNameGenerationCreateAttempts`.
const MAX_NAME_ATTEMPTS: usize = 8;
