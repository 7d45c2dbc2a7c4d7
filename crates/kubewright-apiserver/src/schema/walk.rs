//! Every value of an object that a schema says something about.

use super::node::{Node, NodeId, Schema};
use crate::value::{Map, Path, Value};

impl Schema {
    /// Shows `visit` every value below an object, with its node and its place: each before what it holds.
    pub(super) fn walk(&self, object: &Map, visit: &mut dyn FnMut(&Value, &Node, &Path<'_>)) {
        self.walk_fields(object, Self::ROOT, &Path::Root, visit);
    }

    fn walk_fields(
        &self,
        fields: &Map,
        id: NodeId,
        path: &Path<'_>,
        visit: &mut dyn FnMut(&Value, &Node, &Path<'_>),
    ) {
        let node = self.node(id);
        for (name, value) in fields {
            if let Some((child, path)) = node.place(name, path) {
                self.walk_value(value, child, &path, visit);
            }
        }
    }

    fn walk_value(
        &self,
        value: &Value,
        id: NodeId,
        path: &Path<'_>,
        visit: &mut dyn FnMut(&Value, &Node, &Path<'_>),
    ) {
        let node = self.node(id);
        visit(value, node, path);
        match value {
            Value::Object(fields) => self.walk_fields(fields, id, path, visit),
            Value::Array(items) => {
                let Some(of_items) = node.items else { return };
                for (index, item) in items.iter().enumerate() {
                    self.walk_value(item, of_items, &path.index(index), visit);
                }
            }
            _ => {}
        }
    }
}
