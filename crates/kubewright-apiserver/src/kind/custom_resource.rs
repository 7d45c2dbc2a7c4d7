//! What custom resources have in common, and the schema that each has of its own.

use std::sync::Arc;

use super::{
    custom_schema::CustomSchema,
    row::ScalePaths,
    rules::{Generation, Part, Rules, StatusMetadata},
    scale_fields,
    strategy::{Consequence, Strategy},
};
use crate::{
    error::{FieldError, strconv},
    object::Object,
    value::Value,
};

/// The custom resources of one version of a definition.
#[derive(Debug)]
pub(super) struct CustomResources {
    rules: Rules,
    schema: Arc<CustomSchema>,
    scale: Option<ScalePaths>,
}

impl CustomResources {
    /// Source: apiextensions `customresource/strategy.go` and `status_strategy.go`.
    pub(super) fn new(schema: Arc<CustomSchema>, scale: Option<ScalePaths>) -> Self {
        let rules = Rules {
            generation: Generation::Content,
            status_metadata: StatusMetadata::Kept,
            unconditional_update: false,
            any_finalizer: true,
            ..Rules::default()
        };
        Self { rules, schema, scale }
    }

    /// What is wrong with a whole object.
    ///
    /// Source: apiextensions `customresource.customResourceStrategy.Validate` and `ValidateUpdate`.
    fn whole(&self, new: &Object, old: Option<&Object>) -> Vec<FieldError> {
        let schema = self.schema.compiled();
        let value = |object: &Object| Value::Object(object.0.clone());
        let mut problems = match old {
            None => schema.validate(&value(new)),
            Some(old) => schema.validate_update(&value(new), &value(old)),
        };
        if let Some(scale) = &self.scale {
            problems.extend(scale_fields::of_spec(scale, new));
            problems.extend(scale_fields::of_status(scale, new));
        }
        problems.extend(schema.validate_embedded(&new.0));
        problems
    }

    /// What is wrong with the status of an object.
    ///
    /// Source: apiextensions `customresource.statusStrategy.ValidateUpdate`.
    fn status(&self, new: &Object, old: Option<&Object>) -> Vec<FieldError> {
        let mut problems = Vec::new();
        if let Some(status) = new.0.get("status") {
            let before = old.and_then(|old| old.0.get("status"));
            problems.extend(self.schema.compiled().validate_status(status, before));
        }
        if let Some(scale) = &self.scale {
            problems.extend(scale_fields::of_status(scale, new));
        }
        problems
    }

    /// A list that had duplicates before may have others.
    fn duplicates(&self, new: &Object, old: Option<&Object>) -> Vec<FieldError> {
        let schema = self.schema.compiled();
        let found = schema.duplicates(&new.0);
        // Hardly an object has any: the old one is not looked at for nothing.
        let had_some = || old.is_some_and(|old| !schema.duplicates(&old.0).is_empty());
        if found.is_empty() || had_some() { Vec::new() } else { found }
    }
}

impl Strategy for CustomResources {
    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn coerce(&self, object: &mut Object) -> Result<Vec<String>, String> {
        self.schema.coerce(&mut object.0).map_err(|error| error.to_string())
    }

    fn set_defaults(&self, object: &mut Object) {
        self.schema.compiled().default(&mut object.0);
    }

    fn validate(&self, new: &Object, old: Option<&Object>, part: Part) -> Vec<FieldError> {
        let mut problems = if part == Part::Status { self.status(new, old) } else { self.whole(new, old) };
        problems.extend(self.duplicates(new, old));
        problems
    }

    /// Finalizers that are new and belong to no domain.
    ///
    /// Source: apiextensions `customresource.generateWarningsFromObj`.
    fn warnings(&self, new: &Object, old: Option<&Object>) -> Vec<String> {
        let before = old.map(Object::finalizers).unwrap_or_default();
        let mut added: Vec<_> = new.finalizers().into_iter().filter(|it| !before.contains(it)).collect();
        added.sort_unstable();
        added.dedup();
        added.retain(|it| !it.contains('/') && !STANDARD_FINALIZERS.contains(it));
        let warning = |name: &str| {
            let path = if name.contains('.') { " including a path (/)" } else { "" };
            format!(
                "metadata.finalizers: {}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers",
                strconv::quote(name)
            )
        };
        added.into_iter().map(warning).collect()
    }

    fn prepare_for_storage(&self, object: &mut Object) {
        self.schema.prune_for_storage(&mut object.0);
    }

    fn is_up_to_date(&self, revision: u64) -> bool {
        self.schema.is_in_force(revision)
    }

    fn consequence(&self) -> Consequence {
        Consequence::Outlived
    }
}

const STANDARD_FINALIZERS: &[&str] = &["orphan", "foregroundDeletion", "kubernetes"];
