//! Update, which may create.

use http::StatusCode;

use super::{cluster::Cluster, effects, metadata, resource::Resource, validation};
use crate::{
    admission::Operation,
    error::{FieldError, Named, Status},
    kind::{Kind, Part},
    object::{Document, Draft, Object},
    options::WriteOptions,
    storage::{Key, Mismatch},
    value::Value,
};

/// What becomes of a write to an object that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is refused.
    Refuse,
    /// It makes the object if the kind allows that.
    Create,
}

/// An object that was written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) document: Document,
    /// Whether it was not there before.
    pub(crate) created: bool,
}

impl Resource<'_> {
    /// Reads the object, lets `change` make a new one of what the client sees, and commits it; again from the start
    /// when somebody else was faster, unless the client has said which version it means.
    ///
    /// `change` gets nothing if there is no object and this write may make one.
    ///
    /// Source: apiserver `registry.Store.Update` over `storage.Interface.GuaranteedUpdate`.
    pub(crate) async fn update(
        &self,
        part: Part,
        missing: Missing,
        options: &WriteOptions,
        mut change: impl FnMut(Option<&Object>) -> Result<Object, Status>,
    ) -> Result<Written, Status> {
        let (cluster, kind) = (self.cluster, self.kind);
        let (key, name) = (self.key(), &self.info.name);
        let may_create =
            missing == Missing::Create && part == Part::Main && kind.strategy.rules().create_on_update;
        let asked = self.ask(Operation::Update, name, options.to_value(), options.dry_run);
        loop {
            let Some(current) = cluster.store.get(&kind.prefix, &key) else {
                if !may_create {
                    return Err(Status::not_found(kind, name));
                }
                let document = self.create_instead(change(None)?, options).await?;
                return Ok(Written { document, created: true });
            };
            let old = kind.read(&current).await?;
            let mut new = change(Some(&old))?;
            self.check_place(&mut new)?;
            if missing == Missing::Create {
                self.drop_repeated_owners(&mut new, false);
            }
            asked.mutate(Some(&old), &mut new).await?;
            self.drop_repeated_owners(&mut new, true);
            self.check_place(&mut new)?;
            self.check_version(&old, &new)?;
            metadata::before_update(kind, &old, &mut new, part);
            self.stamp(&mut new, Some(&old));
            let mut problems = validation::validate(kind, &new, Some(&old));
            problems.extend(kind.strategy.validate(&new, Some(&old), part));
            metadata::refuse(kind, new.name(), &problems)?;
            self.warn(&new, Some(&old));
            asked.validate(Some(&old), &new).await?;
            let reservation = kind.strategy.reserve(kind, Some(&old), &mut new)?;
            let last = is_released(kind, &new).then(|| new.clone());
            let draft = kind.keep(new).await?;
            if options.dry_run {
                let document = kind.show(draft.at(current.revision())).await?;
                return Ok(Written { document, created: false });
            }
            match commit(cluster, kind, &key, &current, last.as_ref(), &draft) {
                Ok(document) => {
                    reservation.keep();
                    return Ok(Written { document: kind.show(document).await?, created: false });
                }
                // Whoever has seen the object does not mean to make another one.
                Err(Mismatch { current: None }) => return Err(Status::not_found(kind, name)),
                Err(Mismatch { current: Some(_) }) => {}
            }
        }
    }

    async fn create_instead(&self, mut sent: Object, options: &WriteOptions) -> Result<Document, Status> {
        self.check_place(&mut sent)?;
        if !sent.meta("resourceVersion").is_empty() {
            // The client means an object that it has seen, and which is gone.
            return Err(Status::not_found(self.kind, &self.info.name));
        }
        self.create(sent, options).await
    }

    /// The object in the request is the one in the path.
    pub(crate) fn check_place(&self, new: &mut Object) -> Result<(), Status> {
        let name = &self.info.name;
        if new.name().is_empty() {
            new.metadata_mut().insert("name".into(), name.clone().into());
        } else if new.name() != name {
            let text = format!(
                "the name of the object ({}) does not match the name on the URL ({name})",
                new.name()
            );
            return Err(Status::bad_request(text));
        }
        self.check_namespace(new)
    }

    /// A replacement that names an object means this one, whatever version it has.
    ///
    /// Source: apiserver `storage.Preconditions.Check`, in whose words `Key` is where etcd keeps the object.
    pub(crate) fn check_uid(&self, old: &Object, sent: &Object) -> Result<(), Status> {
        if sent.uid().is_empty() || sent.uid() == old.uid() {
            return Ok(());
        }
        let cause = format!(
            "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {}, UID in object meta: {}",
            registry_key(self.kind, &self.key()),
            sent.uid(),
            old.uid()
        );
        Err(Status::conflict(self.kind, &self.info.name, &cause))
    }

    /// A write that says which version it was made of was made of the current one.
    fn check_version(&self, old: &Object, new: &Object) -> Result<(), Status> {
        let given = new.meta("resourceVersion");
        if given.is_empty() || given == "0" {
            return if self.kind.strategy.rules().unconditional_update {
                Ok(())
            } else {
                Err(no_resource_version(self.kind, &self.info.name))
            };
        }
        if given.parse::<u64>().is_err() {
            let text = format!("strconv.ParseUint: parsing {given:?}: invalid syntax");
            return Err(Status::new(StatusCode::INTERNAL_SERVER_ERROR, "", text));
        }
        if given == old.meta("resourceVersion") {
            Ok(())
        } else {
            Err(Status::modified(self.kind, &self.info.name))
        }
    }
}

/// Stores `draft` in place of `current`, or removes the object when nothing holds its deletion up any longer: then `last` is what it was.
fn commit(
    cluster: &Cluster,
    kind: &Kind,
    key: &Key,
    current: &Document,
    last: Option<&Object>,
    draft: &Draft,
) -> Result<Document, Mismatch> {
    if let Some(last) = last {
        cluster.store.remove(&kind.prefix, key, current.revision())?;
        effects::removed(cluster, kind, last);
        // Clients expect an updated object where an update has succeeded.
        return Ok(draft.at(current.revision()));
    }
    let document = cluster.store.replace(&kind.prefix, key, current.revision(), draft)?;
    effects::stored(cluster, kind, key, &document);
    Ok(document)
}

/// Whether an object that is being deleted may go: no finalizer, no grace, and nothing else that holds it.
pub(super) fn is_released(kind: &Kind, object: &Object) -> bool {
    let grace = object.metadata().get("deletionGracePeriodSeconds").and_then(Value::as_i64);
    object.is_terminating()
        && object.finalizers().is_empty()
        && grace.unwrap_or_default() == 0
        && !kind.strategy.is_held(object)
}

/// Where the real server keeps an object in etcd.
pub(super) fn registry_key(kind: &Kind, key: &Key) -> String {
    format!("/registry/{}/{key}", kind.registry_path)
}

/// Upstream names the resource, not the kind, in this one.
fn no_resource_version(kind: &Kind, name: &str) -> Status {
    let error =
        FieldError::invalid("metadata.resourceVersion", Some(&0.into()), "must be specified for an update");
    let mut status = Status::invalid(kind, name, &[error]);
    status.message = status.message.replacen(&kind.qualified_kind(), &kind.qualified_resource(), 1);
    status.with("kind", kind.plural.as_str())
}
