//! Holding values against a schema.
//!
//! Source: kube-openapi `validation/validate`, down to the order and the words of what it finds.

mod container;
mod junctor;
mod outcome;
mod scalar;
#[cfg(test)]
mod tests;
mod value;

use self::value::Validator;
use super::node::{Node, NodeId, Schema};
use crate::{error::FieldError, value::Value};

impl Schema {
    /// What is wrong with a new object.
    ///
    /// Source: apiextensions `validation.ValidateCustomResource`.
    pub(crate) fn validate(&self, object: &Value) -> Vec<FieldError> {
        self.validator("").root(Self::ROOT, object, None)
    }

    /// What is wrong with an object that takes the place of `old`, but for what is wrong with parts that do not change.
    ///
    /// Source: apiextensions `validation.ValidateCustomResourceUpdate` with the ratcheting of 1.33 and later.
    pub(crate) fn validate_update(&self, new: &Value, old: &Value) -> Vec<FieldError> {
        self.validator("").root(Self::ROOT, new, Some(old))
    }

    /// What is wrong with the status of an object, as [`validate_update`](Self::validate_update).
    ///
    /// Source: apiextensions `customresource.customResourceValidator.ValidateStatusUpdate`.
    pub(crate) fn validate_status(&self, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let Some(status) = self.node(Self::ROOT).property("status") else { return Vec::new() };
        self.validator("status").root(status, new, old)
    }

    /// What is wrong with a value at one place of the schema; `base` names the field where it is written down.
    pub(super) fn validate_at(&self, id: NodeId, value: &Value, base: &str) -> Vec<FieldError> {
        self.validator(base).root(id, value, None)
    }

    fn validator<'a>(&'a self, base: &'a str) -> Validator<'a> {
        Validator { schema: self, base }
    }
}

/// An object before a write, as far as it says something about the value at hand.
type Old<'a> = Option<&'a Value>;

/// The item of an old list that a new item takes the place of: the one with the same keys.
///
/// Source: apiserver `cel/common.CorrelatedObject.Index`.
fn old_item<'a>(node: &Node, item: &Value, old: Old<'a>) -> Old<'a> {
    use super::{node::ListType, unique::keys_of};
    let ListType::Map(keys) = &node.list else { return None };
    let wanted = keys_of(item, keys);
    old?.as_array()?.iter().find(|candidate| keys_of(candidate, keys) == wanted)
}
