//! From a schema as it is written down to one that works.

use super::{
    definition::{self, Definition},
    format::Format,
    node::{Additional, Bound, ListType, Node, NodeId, Rules, Schema, Type},
    pattern::Pattern,
};
use crate::value::Value;

impl Schema {
    /// Compiles a structural schema. What is no schema says nothing.
    ///
    /// Source: apiextensions `schema.NewStructural`, `validation.ConvertJSONSchemaProps`.
    pub(crate) fn compile(definition: &Value) -> Self {
        let mut compiler = Compiler { nodes: Vec::new() };
        match Definition::of(definition) {
            Some(definition) => compiler.add(definition),
            None => compiler.reserve(),
        };
        Self { nodes: compiler.nodes }
    }
}

struct Compiler {
    nodes: Vec<Node>,
}

impl Compiler {
    fn add(&mut self, definition: Definition<'_>) -> NodeId {
        // The place of a node comes before those of its children.
        let id = self.reserve();
        let node = self.node(definition);
        self.nodes[id.0 as usize] = node;
        id
    }

    fn reserve(&mut self) -> NodeId {
        // Each node has taken some bytes of a body, which is limited to a few megabytes.
        let id = NodeId(
            u32::try_from(self.nodes.len()).expect("a schema has fewer nodes than its text has bytes"),
        );
        self.nodes.push(Node::default());
        id
    }

    fn node(&mut self, definition: Definition<'_>) -> Node {
        let types = types(definition);
        Node {
            nullable: definition.flag("nullable"),
            default: definition.value("default").cloned(),
            // They come sorted, as the map that they are in is.
            properties: definition.properties().map(|(name, child)| (name.into(), self.add(child))).collect(),
            additional: match definition.additional() {
                None => Additional::Undefined,
                Some(definition::Additional::Flag(true)) => Additional::Any,
                Some(definition::Additional::Flag(false)) => Additional::Never,
                Some(definition::Additional::Schema(child)) => Additional::Schema(self.add(child)),
            },
            items: definition.child("items").map(|items| self.add(items)),
            list: match definition.text("x-kubernetes-list-type") {
                "set" => ListType::Set,
                "map" => {
                    ListType::Map(definition.texts("x-kubernetes-list-map-keys").map(str::to_owned).collect())
                }
                _ => ListType::Atomic,
            },
            preserves_unknown: definition.flag("x-kubernetes-preserve-unknown-fields"),
            is_resource: definition.flag("x-kubernetes-embedded-resource"),
            rules: self.rules(definition, &types).map(Box::new),
            types,
        }
    }

    fn rules(&mut self, definition: Definition<'_>, types: &[Type]) -> Option<Rules> {
        let asks = |field: &&str| definition.value(field).is_some_and(|value| *value != Value::Bool(false));
        RULES.iter().find(|field| asks(field))?;
        let bound = |field: &str, exclusive: &str| {
            Some(Bound { value: definition.number(field)?, exclusive: definition.flag(exclusive) })
        };
        let mut all = |field: &str| definition.children(field).map(|child| self.add(child)).collect();
        let (all_of, any_of, one_of) = (all("allOf"), all("anyOf"), all("oneOf"));
        Some(Rules {
            format: Format::find(definition.text("format"), types),
            maximum: bound("maximum", "exclusiveMaximum"),
            minimum: bound("minimum", "exclusiveMinimum"),
            multiple_of: definition.number("multipleOf"),
            max_length: definition.integer("maxLength"),
            min_length: definition.integer("minLength"),
            pattern: Some(definition.text("pattern")).filter(|text| !text.is_empty()).map(Pattern::new),
            max_items: definition.integer("maxItems"),
            min_items: definition.integer("minItems"),
            unique_items: definition.flag("uniqueItems"),
            max_properties: definition.integer("maxProperties"),
            min_properties: definition.integer("minProperties"),
            required: definition.texts("required").map(str::to_owned).collect(),
            values: definition.values("enum").to_vec(),
            all_of,
            any_of,
            one_of,
            not: definition.child("not").map(|not| self.add(not)),
        })
    }
}

fn types(definition: Definition<'_>) -> Vec<Type> {
    if definition.flag("x-kubernetes-int-or-string") {
        return vec![Type::Integer, Type::String];
    }
    Type::parse(definition.kind()).into_iter().collect()
}

/// The fields of a schema that are rules.
const RULES: &[&str] = &[
    "format",
    "maximum",
    "minimum",
    "multipleOf",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxProperties",
    "minProperties",
    "required",
    "enum",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
];
