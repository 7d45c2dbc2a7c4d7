//! Filling in what clients have left out.

use super::node::{Additional, Node, NodeId, Schema};
use crate::value::{Map, Value};

impl Schema {
    /// Drops the fields that are `null` where the schema knows neither `null` nor a default.
    ///
    /// Source: apiextensions `schema/defaulting.PruneNonNullableNullsWithoutDefaults`.
    pub(crate) fn drop_nulls(&self, object: &mut Map) {
        self.drop_nulls_in(object, Some(Self::ROOT));
    }

    /// Fills in the defaults of what is absent, or `null` and should not be.
    ///
    /// Source: apiextensions `schema/defaulting.Default`.
    pub(crate) fn default(&self, object: &mut Map) {
        self.default_fields(object, Self::ROOT);
    }

    fn drop_nulls_in(&self, fields: &mut Map, node: Option<NodeId>) {
        fields.retain(|name, value| {
            let child = node.and_then(|node| self.node(node).field(name));
            let is_no_value = |child| {
                let child: &Node = self.node(child);
                !child.nullable && child.default.is_none()
            };
            if value.is_null() && child.is_some_and(is_no_value) {
                return false;
            }
            self.drop_nulls_below(value, child);
            true
        });
    }

    fn drop_nulls_below(&self, value: &mut Value, node: Option<NodeId>) {
        match value {
            Value::Object(fields) => self.drop_nulls_in(fields, node),
            Value::Array(items) => {
                let of_items = node.and_then(|node| self.node(node).items);
                for item in items {
                    self.drop_nulls_below(item, of_items);
                }
            }
            _ => {}
        }
    }

    fn default_fields(&self, fields: &mut Map, node: NodeId) {
        let node = self.node(node);
        for (name, child) in &node.properties {
            let child = self.node(*child);
            let Some(default) = &child.default else { continue };
            let present = fields.get(name);
            if present.is_none_or(|value| value.is_null() && !child.nullable) {
                fields.insert((**name).into(), default.clone());
            }
        }
        for (name, value) in fields {
            if let Some(property) = node.property(name) {
                self.default_value(value, property);
            } else if let Additional::Schema(additional) = node.additional {
                self.replace_null(value, additional);
                self.default_value(value, additional);
            }
        }
    }

    fn default_value(&self, value: &mut Value, node: NodeId) {
        match value {
            Value::Object(fields) => self.default_fields(fields, node),
            Value::Array(items) => {
                let Some(of_items) = self.node(node).items else { return };
                for item in items {
                    self.replace_null(item, of_items);
                    self.default_value(item, of_items);
                }
            }
            _ => {}
        }
    }

    fn replace_null(&self, value: &mut Value, node: NodeId) {
        let node = self.node(node);
        if value.is_null() && !node.nullable {
            *value = node.default.clone().unwrap_or_default();
        }
    }
}
