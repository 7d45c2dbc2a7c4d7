//! What a strict reader finds in the text itself.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::path::Path;

/// Where fields stand that occur more than once in the same object, in the order of the text. Text that cannot be read
/// has none.
///
/// Source: `sigs.k8s.io/json.UnmarshalStrict`.
pub(crate) fn duplicate_fields(json: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(json);
    // Whoever decodes the text says what is wrong with it.
    let _ = Scan { path: &Path::Root, found: &mut found }.deserialize(&mut reader);
    found
}

struct Scan<'a, 'f> {
    path: &'a Path<'a>,
    found: &'f mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Scan<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Scan<'_, '_> {
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
        let mut index = 0;
        while items.next_element_seed(Scan { path: &self.path.index(index), found: self.found })?.is_some() {
            index += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut seen: HashSet<Cow<'de, str>> = HashSet::new();
        while let Some(name) = fields.next_key::<Name<'de>>()? {
            let name = name.0;
            let path = self.path.child(&name);
            if seen.contains(&name) {
                self.found.push(path.to_string());
            }
            fields.next_value_seed(Scan { path: &path, found: self.found })?;
            seen.insert(name);
        }
        Ok(())
    }
}

/// The name of a field, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_fields_are_named_by_their_path() {
        for (text, found) in [
            (r#"{"a": 1, "b": {"a": 1}}"#, &[][..]),
            (r#"{"a": 1, "a": 2, "a": 3}"#, &["a", "a"]),
            (r#"{"spec": {"list": [{}, {"x": 1, "x": 2}]}, "sp\u0065c": null}"#, &["spec.list[1].x", "spec"]),
            (r#"{"a": 1, "a": "#, &["a"]),
            ("", &[]),
        ] {
            assert_eq!(duplicate_fields(text.as_bytes()), found, "{text}");
        }
    }
}
