//! A compiled schema: nodes that refer to each other by number.

use super::{format::Format, pattern::Pattern};
use crate::value::{Path, Value};

/// What the objects of one kind look like in one version.
///
/// Nodes stand in one list and name each other by position, so that a schema may contain itself.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(super) nodes: Vec<Node>,
}

/// The position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeId(pub(super) u32);

impl Schema {
    /// The node of whole objects.
    pub(super) const ROOT: NodeId = NodeId(0);

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
}

/// What values at one place look like.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// What a value may be; anything, when empty.
    pub(super) types: Vec<Type>,
    /// Whether `null` is a value; otherwise it is as good as nothing.
    pub(super) nullable: bool,
    /// What stands in for a value that is absent.
    pub(super) default: Option<Value>,
    /// The fields that have a name, sorted by it.
    pub(super) properties: Vec<(Box<str>, NodeId)>,
    pub(super) additional: Additional,
    pub(super) items: Option<NodeId>,
    pub(super) list: ListType,
    /// `x-kubernetes-preserve-unknown-fields`: what is not named is kept.
    pub(super) preserves_unknown: bool,
    /// `x-kubernetes-embedded-resource`: an object with a kind and metadata.
    pub(super) is_resource: bool,
    /// What is asked of values beyond their shape. Most nodes ask nothing.
    pub(super) rules: Option<Box<Rules>>,
}

impl Node {
    /// The node of a field that has a name.
    pub(super) fn property(&self, name: &str) -> Option<NodeId> {
        let found = self.properties.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some(self.properties[found].1)
    }

    /// The node of any field, if the schema says something about it.
    pub(super) fn field(&self, name: &str) -> Option<NodeId> {
        self.property(name).or(match self.additional {
            Additional::Schema(node) => Some(node),
            _ => None,
        })
    }

    /// The node of any field and where the field is, if the schema says something about it. A field without a name of its own is an entry of a map.
    pub(super) fn place<'p>(&self, name: &'p str, path: &'p Path<'p>) -> Option<(NodeId, Path<'p>)> {
        match (self.property(name), self.additional) {
            (Some(property), _) => Some((property, path.child(name))),
            (None, Additional::Schema(additional)) => Some((additional, path.key(name))),
            (None, _) => None,
        }
    }
}

/// What is known of the fields that have no name in the schema.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Additional {
    /// Nothing is said.
    #[default]
    Undefined,
    Any,
    Never,
    Schema(NodeId),
}

/// What the items of a list are to each other.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum ListType {
    #[default]
    Atomic,
    Set,
    /// Items are told apart by these fields.
    Map(Vec<String>),
}

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Type {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    const ALL: [Self; 6] =
        [Self::Object, Self::Array, Self::String, Self::Integer, Self::Number, Self::Boolean];
}

/// What is asked of values beyond their shape.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) format: Option<Format>,
    pub(super) maximum: Option<Bound>,
    pub(super) minimum: Option<Bound>,
    pub(super) multiple_of: Option<f64>,
    /// In characters, not bytes.
    pub(super) max_length: Option<i64>,
    pub(super) min_length: Option<i64>,
    pub(super) pattern: Option<Pattern>,
    pub(super) max_items: Option<i64>,
    pub(super) min_items: Option<i64>,
    pub(super) unique_items: bool,
    pub(super) max_properties: Option<i64>,
    pub(super) min_properties: Option<i64>,
    pub(super) required: Vec<String>,
    pub(super) values: Vec<Value>,
    pub(super) all_of: Vec<NodeId>,
    pub(super) any_of: Vec<NodeId>,
    pub(super) one_of: Vec<NodeId>,
    pub(super) not: Option<NodeId>,
}

/// The largest or smallest number that is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub(super) value: f64,
    /// Whether the bound itself is refused.
    pub(super) exclusive: bool,
}
