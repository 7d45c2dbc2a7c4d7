//! The table itself.
//!
//! `fields.txt` is made by `tools/protobuf`. A line is the number, the JSON name (`>`: the fields of the message stand in
//! the one around it), the type, and Go's name where it is not the JSON name with a capital. A type begins with `[]` for
//! lists and `{}` for maps from strings, and ends with `?` where JSON leaves out empty values, with `!` where it shows them.
//! Without either the field is there or not.

use std::{collections::HashMap, sync::LazyLock};

/// The table of this program.
pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("fields.txt")));

#[derive(Debug, Default)]
pub(crate) struct Table {
    messages: Vec<Message>,
    /// By `apiVersion` and kind.
    kinds: HashMap<(&'static str, &'static str), MessageId>,
}

/// The place of a message in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageId(usize);

#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: &'static str,
    /// The end of the path of its package: `core/v1`.
    package: &'static str,
    /// What Go calls the type: `v1.PodSpec`.
    pub(crate) go_type: String,
    /// Whether it says its kind and version.
    pub(crate) is_kind: bool,
    pub(crate) fields: Vec<Field>,
}

impl Message {
    /// The name that other tables have for it: `core/v1.PodSpec`.
    pub(crate) fn full_name(&self) -> String {
        format!("{}.{}", self.package, self.name)
    }

    pub(crate) fn field(&self, number: i32) -> Option<&Field> {
        self.fields.iter().find(|field| field.number == number)
    }
}

#[derive(Debug)]
pub(crate) struct Field {
    number: i32,
    /// The name in JSON; `None` for a message whose fields stand in the one around it.
    pub(crate) name: Option<&'static str>,
    /// The name in messages.
    pub(crate) go_name: String,
    pub(crate) repeats: Repeats,
    pub(crate) shape: Shape,
    /// Whether JSON leaves the field out when it is empty.
    pub(crate) drops_empty: bool,
    /// Whether JSON shows the field also when it is empty.
    pub(crate) shows_empty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    Once,
    List,
    Map,
}

/// What one value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    String,
    Bool,
    Int32,
    Int64,
    Float64,
    Bytes,
    Message(MessageId),
    /// A message whose only field is a list of strings.
    Items,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    /// JSON as bytes.
    Json,
    SchemaOrArray(MessageId),
    SchemaOrBool(MessageId),
    SchemaOrStrings(MessageId),
}

impl Table {
    pub(crate) fn message(&self, id: MessageId) -> &Message {
        &self.messages[id.0]
    }

    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<MessageId> {
        self.kinds.get(&(api_version, kind)).copied()
    }

    /// The field of a message, or of one whose fields stand in it, by its name in JSON.
    pub(crate) fn named(&self, id: MessageId, name: &str) -> Option<&Field> {
        let fields = &self.message(id).fields;
        let own = fields.iter().find(|field| field.name == Some(name));
        own.or_else(|| self.embedded(id).find_map(|(_, inner)| self.named(inner, name)))
    }

    /// The way to a field from a message in Go, which has names for the messages whose fields stand in others:
    /// `VolumeSource.emptyDir`.
    pub(crate) fn go_path(&self, id: MessageId, name: &str) -> String {
        let around = self.embedded(id).find(|(_, inner)| self.named(*inner, name).is_some());
        match around {
            Some((field, inner)) => format!("{}.{}", field.go_name, self.go_path(inner, name)),
            None => name.to_owned(),
        }
    }

    /// The messages whose fields stand in another one.
    fn embedded(&self, id: MessageId) -> impl Iterator<Item = (&Field, MessageId)> {
        self.message(id).fields.iter().filter_map(|field| match (field.name, field.shape) {
            (None, Shape::Message(inner)) => Some((field, inner)),
            _ => None,
        })
    }

    /// Reads the text in two rounds, since messages name each other. What it does not understand it leaves out;
    /// a test sees that this is nothing.
    fn parse(text: &'static str) -> Self {
        let mut table = Self::default();
        let (mut package, mut api_version) = ("", "");
        let mut ids = HashMap::new();
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["package", name, version] => (package, api_version) = (name, version),
                [word @ ("kind" | "message"), name] => {
                    let id = MessageId(table.messages.len());
                    let go_type = format!("{}.{name}", package.rsplit('/').next().unwrap_or_default());
                    table.messages.push(Message {
                        name,
                        package,
                        go_type,
                        is_kind: word == "kind",
                        fields: Vec::new(),
                    });
                    ids.insert((package, name), id);
                    if word == "kind" {
                        table.kinds.insert((api_version, name), id);
                    }
                }
                _ => {}
            }
        }
        let mut messages = table.messages.iter_mut();
        let mut fields = None;
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("package", rest)) => package = rest.split(' ').next().unwrap_or_default(),
                Some(("kind" | "message", _)) => fields = messages.next().map(|message| &mut message.fields),
                _ => {
                    let field = Field::parse(line, |name| find(&ids, package, name));
                    if let (Some(fields), Some(field)) = (&mut fields, field) {
                        fields.push(field);
                    }
                }
            }
        }
        table
    }
}

/// A message of this package, or of one that is named.
fn find(
    ids: &HashMap<(&'static str, &'static str), MessageId>,
    package: &'static str,
    name: &'static str,
) -> Option<MessageId> {
    ids.get(&name.rsplit_once('.').unwrap_or((package, name))).copied()
}

impl Field {
    fn parse(line: &'static str, message: impl Fn(&'static str) -> Option<MessageId>) -> Option<Self> {
        let mut words = line.split(' ');
        let (number, name, shape) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
        let (drops_empty, shows_empty) = (shape.ends_with('?'), shape.ends_with('!'));
        let shape = shape.trim_end_matches(['?', '!']);
        let (repeats, shape) = match (shape.strip_prefix("[]"), shape.strip_prefix("{}")) {
            (Some(shape), _) => (Repeats::List, shape),
            (_, Some(shape)) => (Repeats::Map, shape),
            _ => (Repeats::Once, shape),
        };
        let shape = Shape::parse(shape, message)?;
        let go_name = words.next().map_or_else(|| capitalised(name), str::to_owned);
        Some(Self {
            number,
            name: (name != ">").then_some(name),
            go_name,
            repeats,
            shape,
            drops_empty,
            shows_empty,
        })
    }
}

impl Shape {
    fn parse(word: &'static str, message: impl Fn(&'static str) -> Option<MessageId>) -> Option<Self> {
        Some(match word {
            "string" => Self::String,
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "float64" => Self::Float64,
            "bytes" => Self::Bytes,
            "items" => Self::Items,
            "time" => Self::Time,
            "microtime" => Self::MicroTime,
            "quantity" => Self::Quantity,
            "intOrString" => Self::IntOrString,
            "json" => Self::Json,
            "schemaOrArray" => Self::SchemaOrArray(message("JSONSchemaProps")?),
            "schemaOrBool" => Self::SchemaOrBool(message("JSONSchemaProps")?),
            "schemaOrStrings" => Self::SchemaOrStrings(message("JSONSchemaProps")?),
            other => Self::Message(message(other)?),
        })
    }
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kinds;

    #[test]
    fn every_line_of_the_table_is_understood() {
        let is_field = |line: &&str| line.starts_with(|first: char| first.is_ascii_digit());
        let lines = include_str!("fields.txt").lines().filter(is_field).count();
        let fields: usize = TABLE.messages.iter().map(|message| message.fields.len()).sum();
        assert!(fields > 3_000);
        assert_eq!(fields, lines);
    }

    #[test]
    fn every_kind_that_is_built_in_has_its_fields_in_the_table() {
        for (_, kind) in Kinds::new().current().all() {
            assert!(TABLE.kind(&kind.api_version(), &kind.kind).is_some(), "{}", kind.kind);
        }
    }
}
