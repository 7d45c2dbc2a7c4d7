//! Any value: its type, then everything else.

use super::{Old, outcome::Outcome};
use crate::{
    error::FieldError,
    schema::{
        go,
        node::{Node, NodeId, Rules, Schema, Type},
    },
    value::{NO_PATH, Path, Value},
};

/// Holds values against a schema.
#[derive(Clone, Copy)]
pub(super) struct Validator<'a> {
    pub(super) schema: &'a Schema,
    /// The field in which the value at the root stands. Sentences do not name it; Go's validator does not know it.
    pub(super) base: &'a str,
}

impl Validator<'_> {
    pub(super) fn root(&self, id: NodeId, value: &Value, old: Old<'_>) -> Vec<FieldError> {
        self.ratcheted(id, value, old, &Path::Root).problems
    }

    /// Checks a value. What is wrong with one that was there before is passed over.
    ///
    /// Source: apiextensions `validation.ratchetingValueValidator.Validate`.
    pub(super) fn ratcheted(&self, id: NodeId, value: &Value, old: Old<'_>, path: &Path<'_>) -> Outcome {
        let mut outcome = self.check(id, value, old, path);
        if !outcome.is_valid() && old == Some(value) {
            outcome.problems.clear();
        }
        outcome
    }

    /// Source: kube-openapi `validate.SchemaValidator.Validate`.
    pub(super) fn check(&self, id: NodeId, value: &Value, old: Old<'_>, path: &Path<'_>) -> Outcome {
        let node = self.schema.node(id);
        let rules = node.rules.as_deref().unwrap_or(&NO_RULES);
        let mut outcome = Outcome::default();
        if value.is_null() {
            outcome.merge(self.type_of(node, rules, value, path));
            outcome.merge(self.listed(rules, value, path));
            return outcome;
        }
        if !node.types.is_empty() || rules.format.is_some() {
            outcome.merge_check(self.type_of(node, rules, value, path));
        }
        outcome.merge_check(self.junctors(rules, value, path));
        match value {
            Value::String(text) => {
                outcome.merge_check(self.text(rules, text, path));
                if let Some((name, check)) =
                    rules.format.as_ref().and_then(|format| Some((&format.name, format.check?)))
                {
                    let problem = (!check(text)).then(|| self.wrong_type(path, name, text));
                    outcome.merge_check(problem.into());
                }
            }
            Value::Number(number) => outcome.merge_check(self.number(node, rules, number, path)),
            Value::Array(items) => outcome.merge_check(self.array(node, rules, items, old, path)),
            _ => {}
        }
        outcome.merge_check(self.listed(rules, value, path));
        if let Value::Object(fields) = value {
            outcome.merge_check(self.object(node, rules, fields, old, path));
        }
        outcome.matches += 1;
        outcome
    }

    /// Source: kube-openapi `validate.typeValidator.Validate`.
    fn type_of(&self, node: &Node, rules: &Rules, value: &Value, path: &Path<'_>) -> Outcome {
        let good = Outcome { problems: Vec::new(), matches: 1 };
        let wanted = || node.types.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(",");
        let (found, found_format) = match value {
            Value::Null if node.types.is_empty() || node.nullable => return good,
            Value::Null => return Some(self.wrong_type(path, &wanted(), "null")).into(),
            Value::Bool(_) => (Type::Boolean, ""),
            Value::Number(number) if number.is_i64() => (Type::Integer, "int64"),
            Value::Number(_) => (Type::Number, "float64"),
            Value::String(_) => (Type::String, ""),
            Value::Array(_) => (Type::Array, ""),
            Value::Object(_) => (Type::Object, ""),
        };
        let takes = |kind| node.types.contains(&kind);
        let fits = takes(found)
            || (found == Type::Integer && takes(Type::Number))
            || (found == Type::Number && takes(Type::Integer) && value.as_f64().is_some_and(go::is_integral));
        let is_sequence = matches!(found, Type::String | Type::Array);
        match &rules.format {
            Some(format) if !is_sequence && !fits && format.name != found_format => {
                Some(self.wrong_type(path, &format.name, found_format)).into()
            }
            Some(_) if is_sequence && !takes(Type::Number) && !takes(Type::Integer) => good,
            _ if fits => good,
            _ => Some(self.wrong_type(path, &wanted(), found.name())).into(),
        }
    }

    /// The name of the field at a place.
    pub(super) fn field(&self, path: &Path<'_>) -> String {
        match (self.base, path) {
            ("", _) => path.field(),
            (base, Path::Root) => base.to_owned(),
            (base, _) => format!("{base}.{path}"),
        }
    }

    /// A problem that Go's validator tells without a field.
    pub(super) fn without_field(&self, text: &str) -> FieldError {
        let field = if self.base.is_empty() { NO_PATH } else { self.base };
        FieldError::invalid(field, Some(&"".into()), text)
    }

    pub(super) fn wrong_type(&self, path: &Path<'_>, wanted: &str, found: &str) -> FieldError {
        let found = Value::from(found);
        let text = format!("{path} in body must be of type {wanted}: {found}");
        FieldError::type_invalid(&self.field(path), &found, &text)
    }
}

/// Asks nothing.
static NO_RULES: Rules = Rules {
    format: None,
    maximum: None,
    minimum: None,
    multiple_of: None,
    max_length: None,
    min_length: None,
    pattern: None,
    max_items: None,
    min_items: None,
    unique_items: false,
    max_properties: None,
    min_properties: None,
    required: Vec::new(),
    values: Vec::new(),
    all_of: Vec::new(),
    any_of: Vec::new(),
    one_of: Vec::new(),
    not: None,
};
