//! Dropping what a schema does not name.

use super::node::{Additional, NodeId, Schema};
use crate::value::{Map, Path, Value};

impl Schema {
    /// Drops the fields of an object that the schema does not name, and says where they were, sorted.
    ///
    /// The kind and the metadata of the object and of those that are embedded in it are left alone.
    ///
    /// Source: apiextensions `schema/pruning.PruneWithOptions`.
    pub(crate) fn prune(&self, object: &mut Map) -> Vec<String> {
        let mut pruner = Pruner { schema: self, dropped: Vec::new() };
        let root = self.node(Self::ROOT);
        pruner.fields(object, Some(Self::ROOT), Unknown::of(root.preserves_unknown), true, &Path::Root);
        pruner.dropped.sort();
        pruner.dropped
    }

    /// Drops the same from a value that need not be an object.
    pub(super) fn prune_value(&self, value: &mut Value) {
        Pruner { schema: self, dropped: Vec::new() }.value(value, Some(Self::ROOT), &Path::Root);
    }
}

struct Pruner<'a> {
    schema: &'a Schema,
    dropped: Vec<String>,
}

/// What becomes of a field that nothing is said about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Dropped,
    Kept,
}

impl Unknown {
    fn of(preserves: bool) -> Self {
        if preserves { Self::Kept } else { Self::Dropped }
    }
}

impl Pruner<'_> {
    /// Without a node nothing is known: what is an object becomes an empty one.
    fn value(&mut self, value: &mut Value, node: Option<NodeId>, path: &Path<'_>) {
        let preserves = node.is_some_and(|node| self.schema.node(node).preserves_unknown);
        self.within(value, node, Unknown::of(preserves), path);
    }

    fn within(&mut self, value: &mut Value, node: Option<NodeId>, unknown: Unknown, path: &Path<'_>) {
        match value {
            Value::Object(fields) => {
                let is_resource = node.is_some_and(|node| self.schema.node(node).is_resource);
                self.fields(fields, node, unknown, is_resource, path);
            }
            Value::Array(items) => {
                let of_items = node.and_then(|node| self.schema.node(node).items);
                for (index, item) in items.iter_mut().enumerate() {
                    match (unknown, of_items) {
                        // What is kept is kept all the way down, until a schema says more.
                        (Unknown::Kept, None) => {}
                        (Unknown::Kept, Some(_)) => {
                            self.within(item, of_items, Unknown::Kept, &path.index(index));
                        }
                        (Unknown::Dropped, _) => self.value(item, of_items, &path.index(index)),
                    }
                }
            }
            _ => {}
        }
    }

    fn fields(
        &mut self,
        fields: &mut Map,
        node: Option<NodeId>,
        unknown: Unknown,
        is_resource: bool,
        path: &Path<'_>,
    ) {
        let schema = self.schema;
        let node = node.map(|node| schema.node(node));
        fields.retain(|name, value| {
            if is_resource && META_FIELDS.contains(&name.as_str()) {
                return true;
            }
            let known = match node {
                None => None,
                Some(node) => match (node.property(name), node.additional) {
                    (Some(property), _) => Some(Some(property)),
                    (None, Additional::Schema(additional)) => Some(Some(additional)),
                    (None, Additional::Any | Additional::Never) => Some(None),
                    (None, Additional::Undefined) => None,
                },
            };
            match (known, unknown) {
                (Some(child), _) => self.value(value, child, &path.child(name)),
                (None, Unknown::Kept) => {}
                (None, Unknown::Dropped) => {
                    self.dropped.push(path.child(name).to_string());
                    return false;
                }
            }
            true
        });
    }
}

/// What every object has, also one that is embedded.
pub(super) const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];
