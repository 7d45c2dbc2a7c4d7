//! What a strict reader finds in the text itself.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::{error::strconv, value::Path};

/// Which fields a value may have, and what they are made of.
pub(crate) trait Names: Copy {
    /// What is known of a field of an object.
    fn field(self, name: &str) -> Seen<Self>;

    /// What is known of the items of a list.
    fn item(self) -> Seen<Self>;
}

/// What is known of a value inside of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen<N> {
    /// There is no such field.
    Unknown,
    /// The value is read as a whole, and nobody looks into it.
    Whole,
    Known(N),
}

/// Any fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnyNames;

impl Names for AnyNames {
    fn field(self, _: &str) -> Seen<Self> {
        Seen::Known(self)
    }

    fn item(self) -> Seen<Self> {
        Seen::Known(self)
    }
}

/// Says which fields are unknown, and which occur more than once in the same object, in the order of the text; the first
/// hundred of them, each once. Text that cannot be read has none.
///
/// Source: `sigs.k8s.io/json.UnmarshalStrict`.
pub(crate) fn strict_problems(json: &[u8], names: impl Names) -> Vec<String> {
    let mut found = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(json);
    // Whoever decodes the text says what is wrong with it.
    let _ = Scan { path: &Path::Root, names, found: &mut found }.deserialize(&mut reader);
    found
}

struct Scan<'a, 'f, N> {
    path: &'a Path<'a>,
    names: N,
    found: &'f mut Vec<String>,
}

impl<N> Scan<'_, '_, N> {
    fn complain(&mut self, problem: &str, path: &Path<'_>) {
        let text = format!("{problem} field {}", strconv::quote(&path.to_string()));
        if self.found.len() < MAX_PROBLEMS && !self.found.contains(&text) {
            self.found.push(text);
        }
    }
}

impl<'de, N: Names> DeserializeSeed<'de> for Scan<'_, '_, N> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, N: Names> Visitor<'de> for Scan<'_, '_, N> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Seen::Known(names) = self.names.item() else {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        let mut index = 0;
        while items
            .next_element_seed(Scan { path: &self.path.index(index), names, found: self.found })?
            .is_some()
        {
            index += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let mut seen: HashSet<Cow<'de, str>> = HashSet::new();
        while let Some(name) = fields.next_key::<Name<'de>>()? {
            let name = name.0;
            let path = self.path.child(&name);
            let field = self.names.field(&name);
            if matches!(field, Seen::Unknown) {
                self.complain("unknown", &path);
            } else if seen.contains(&name) {
                self.complain("duplicate", &path);
            }
            match field {
                Seen::Known(names) => {
                    fields.next_value_seed(Scan { path: &path, names, found: self.found })?;
                }
                Seen::Unknown | Seen::Whole => _ = fields.next_value::<IgnoredAny>()?,
            }
            seen.insert(name);
        }
        Ok(())
    }
}

const MAX_PROBLEMS: usize = 100;

/// The name of a field, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_fields_are_named_by_their_path_and_once() {
        for (text, found) in [
            (r#"{"a": 1, "b": {"a": 1}}"#, &[][..]),
            (r#"{"a": 1, "a": 2, "a": 3}"#, &["a"]),
            (r#"{"spec": {"list": [{}, {"x": 1, "x": 2}]}, "sp\u0065c": null}"#, &["spec.list[1].x", "spec"]),
            (r#"{"a": 1, "a": "#, &["a"]),
            ("", &[]),
        ] {
            let found: Vec<String> = found.iter().map(|path| format!("duplicate field \"{path}\"")).collect();
            assert_eq!(strict_problems(text.as_bytes(), AnyNames), found, "{text}");
        }
    }

    #[test]
    fn complaints_end_after_a_hundred() {
        let fields: Vec<String> = (0..200).map(|field| format!(r#""f{field}":1,"f{field}":2"#)).collect();
        let text = format!("{{{}}}", fields.join(","));
        assert_eq!(strict_problems(text.as_bytes(), AnyNames).len(), MAX_PROBLEMS);
    }
}
