//! What the definition of a kind says its objects look like.

use std::sync::{Arc, OnceLock};

use crate::{
    error::FieldError,
    schema::{Schema, prune_metadata},
    value::{Map, Path, Value},
};

/// The schema of one version of a custom resource. It is compiled when the first object needs it.
#[derive(Debug)]
pub(super) struct CustomSchema {
    definition: Arc<Value>,
    compiled: OnceLock<Schema>,
    /// From which revision on what is stored is as this schema wants it; `None` when objects are stored in another
    /// version, whose schema says something else.
    in_force_since: Option<u64>,
    /// The schema of the version that is stored, if it is another one.
    stored: Option<Arc<Self>>,
}

impl CustomSchema {
    /// The schema of the version in which objects are stored, of a definition that was written at `revision`.
    pub(super) fn stored(definition: Arc<Value>, revision: u64) -> Arc<Self> {
        let compiled = OnceLock::new();
        Arc::new(Self { definition, compiled, in_force_since: Some(revision), stored: None })
    }

    /// The schema of another version.
    pub(super) fn other(definition: Arc<Value>, stored: &Arc<Self>) -> Arc<Self> {
        if definition == stored.definition {
            return stored.clone();
        }
        let compiled = OnceLock::new();
        Arc::new(Self { definition, compiled, in_force_since: None, stored: Some(stored.clone()) })
    }

    /// As the definition says it.
    pub(super) fn definition(&self) -> &Arc<Value> {
        &self.definition
    }

    pub(super) fn compiled(&self) -> &Schema {
        self.compiled.get_or_init(|| Schema::compile(&self.definition))
    }

    /// Whether an object that was stored at `revision` is as this schema wants it.
    pub(super) fn is_in_force(&self, revision: u64) -> bool {
        self.in_force_since.is_some_and(|since| revision > since)
    }

    /// Drops what the schema does not know, and says where it was.
    ///
    /// # Errors
    /// As [`Schema::coerce_embedded`].
    ///
    /// Source: apiextensions `apiserver.unstructuredSchemaCoercer.apply`.
    pub(super) fn coerce(&self, object: &mut Map) -> Result<Vec<String>, FieldError> {
        let mut unknown = match object.get_mut("metadata") {
            Some(Value::Object(metadata)) => prune_metadata(metadata, &Path::Root.child("metadata")),
            _ => Vec::new(),
        };
        let schema = self.compiled();
        unknown.extend(schema.prune(object));
        schema.drop_nulls(object);
        unknown.extend(schema.coerce_embedded(object)?);
        Ok(unknown)
    }

    /// Drops what the stored version does not know.
    pub(super) fn prune_for_storage(&self, object: &mut Map) {
        if let Some(stored) = &self.stored {
            stored.compiled().prune(object);
        }
    }
}
