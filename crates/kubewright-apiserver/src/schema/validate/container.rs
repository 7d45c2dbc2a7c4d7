//! Lists and objects.

use super::{Old, old_item, outcome::Outcome, value::Validator};
use crate::{
    error::FieldError,
    schema::{
        node::{Additional, Node, Rules},
        prune::META_FIELDS,
    },
    value::{Map, Path, Value},
};

impl Validator<'_> {
    /// Source: kube-openapi `validate.schemaSliceValidator.Validate`.
    pub(super) fn array(
        &self,
        node: &Node,
        rules: &Rules,
        items: &[Value],
        old: Old<'_>,
        path: &Path<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(of_items) = node.items {
            for (index, item) in items.iter().enumerate() {
                let old = old.and_then(|old| old_item(node, item, Some(old)));
                outcome.merge(self.ratcheted(of_items, item, old, &path.index(index)));
            }
        }
        let size = count(items.len());
        if let Some(min) = rules.min_items
            && size < min
        {
            outcome.add(self.too_few(path, size, min, "items"));
        }
        if let Some(max) = rules.max_items
            && size > max
        {
            outcome.add(FieldError::too_many(&self.field(path), size, max));
        }
        let repeats = |(index, item): (usize, &Value)| items[..index].contains(item);
        if rules.unique_items && items.iter().enumerate().any(repeats) {
            let detail = format!("{path} in body shouldn't contain duplicates");
            outcome.add(FieldError::invalid(&self.field(path), Some(&"".into()), &detail));
        }
        outcome.matches += 1;
        outcome
    }

    /// Source: kube-openapi `validate.objectValidator.Validate`.
    pub(super) fn object(
        &self,
        node: &Node,
        rules: &Rules,
        fields: &Map,
        old: Old<'_>,
        path: &Path<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let size = count(fields.len());
        if let Some(min) = rules.min_properties
            && size < min
        {
            outcome.add(self.too_few(path, size, min, "properties"));
        }
        if let Some(max) = rules.max_properties
            && size > max
        {
            outcome.add(FieldError::too_many(&self.field(path), size, max));
        }
        let unnamed = || fields.iter().filter(|(name, _)| node.property(name).is_none());
        match node.additional {
            Additional::Never => {
                for (name, _) in unnamed() {
                    let detail = format!("{path}.{name} in body is a forbidden property");
                    outcome.add(FieldError::invalid(&self.field(path), Some(&name.as_str().into()), &detail));
                }
            }
            Additional::Schema(additional) => {
                for (name, value) in unnamed() {
                    let old = old.and_then(|old| old.get(name));
                    outcome.merge(self.ratcheted(additional, value, old, &path.child(name)));
                }
            }
            Additional::Any | Additional::Undefined => {}
        }
        for (name, property) in &node.properties {
            let Some(value) = fields.get(name) else { continue };
            // Both come in the version of the request, so that they never differ.
            let is_compared = !(matches!(path, Path::Root) && META_FIELDS[..2].contains(&&**name));
            let old = old.filter(|_| is_compared).and_then(|old| old.get(name));
            outcome.merge(self.ratcheted(*property, value, old, &path.child(name)));
        }
        for name in &rules.required {
            if !fields.contains_key(name) {
                outcome.add(FieldError::required(&self.field(&path.child(name)), ""));
            }
        }
        outcome
    }

    fn too_few(&self, path: &Path<'_>, size: i64, min: i64, what: &str) -> FieldError {
        let detail = format!("{path} in body should have at least {min} {what}");
        FieldError::invalid(&self.field(path), Some(&size.into()), &detail)
    }
}

fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
