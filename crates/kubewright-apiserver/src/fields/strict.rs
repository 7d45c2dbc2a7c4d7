//! What a strict reader of a built-in kind finds.

use super::table::{MessageId, Repeats, Shape, TABLE};
use crate::schema::{Names, Seen, strict_problems as problems};

/// What is wrong with JSON of a built-in kind besides the types of its values: fields that the kind does not have, and
/// those that are there twice, in the order of the text.
///
/// Source: `sigs.k8s.io/json.UnmarshalStrict`.
pub(crate) fn strict_problems(json: &[u8], api_version: &str, kind: &str) -> Vec<String> {
    TABLE.kind(api_version, kind).map_or_else(Vec::new, |id| problems(json, Place::Fields(id)))
}

/// What a value is made of.
#[derive(Debug, Clone, Copy)]
enum Place {
    Fields(MessageId),
    List(Shape),
    Map(Shape),
}

impl Names for Place {
    fn field(self, name: &str) -> Seen<Self> {
        match self {
            Self::Fields(id) => match TABLE.named(id, name) {
                Some(field) => match field.repeats {
                    Repeats::Once => one(field.shape),
                    Repeats::List => Seen::Known(Self::List(field.shape)),
                    Repeats::Map => Seen::Known(Self::Map(field.shape)),
                },
                None if TABLE.message(id).is_kind && matches!(name, "apiVersion" | "kind") => Seen::Whole,
                None => Seen::Unknown,
            },
            Self::Map(shape) => one(shape),
            Self::List(_) => Seen::Whole,
        }
    }

    fn item(self) -> Seen<Self> {
        if let Self::List(shape) = self { one(shape) } else { Seen::Whole }
    }
}

/// What is no message reads itself.
fn one(shape: Shape) -> Seen<Place> {
    if let Shape::Message(id) = shape { Seen::Known(Place::Fields(id)) } else { Seen::Whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_come_in_the_order_of_the_text() {
        let text = r#"{"kind": "Pod", "foo": {"foo": 1}, "kind": "Pod", "spec": {"foo": 1, "foo": 2,
            "containers": [{"name": "a"}, {"name": "b", "env": [{"nam\u0065": "c", "name": "d", "x": 1}]}],
            "nodeSelector": {"foo": "a", "foo": "b"}, "terminationGracePeriodSeconds": {"a": 1, "a": 2}},
            "metadata": {"managedFields": [{"fieldsV1": {"a": 1, "a": 2}}]}}"#;
        assert_eq!(
            strict_problems(text.as_bytes(), "v1", "Pod"),
            [
                r#"unknown field "foo""#,
                r#"duplicate field "kind""#,
                r#"unknown field "spec.foo""#,
                r#"duplicate field "spec.containers[1].env[0].name""#,
                r#"unknown field "spec.containers[1].env[0].x""#,
                r#"duplicate field "spec.nodeSelector.foo""#,
            ]
        );
        assert_eq!(strict_problems(br#"{"a": 1, "a": 2}"#, "example.com/v1", "Widget"), [""; 0]);
    }
}
