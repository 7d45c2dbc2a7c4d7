//! The operations of a JSON patch, as they are sent.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::pointer::PointerError;
use crate::value::Value;

/// One operation. What an operation needs is asked for when it is applied, as upstream does.
///
/// Of fields that are there twice the last one counts.
#[derive(Debug, Default)]
pub(super) struct Operation {
    pub(super) op: Option<String>,
    pub(super) path: Option<String>,
    pub(super) from: Option<String>,
    /// `None` when there is no such field, which is something else than null.
    pub(super) value: Option<Value>,
}

impl Operation {
    pub(super) fn target_of(&self, op: &str) -> Result<&str, String> {
        let missing = || {
            format!(
                "{op} operation failed to decode path: operation missing path field: {}",
                PointerError::MISSING
            )
        };
        self.path.as_deref().ok_or_else(missing)
    }

    pub(super) fn source_of(&self, op: &str) -> Result<&str, String> {
        let missing = || {
            format!(
                "{op} operation failed to decode from: operation, missing from field: {}",
                PointerError::MISSING
            )
        };
        self.from.as_deref().ok_or_else(missing)
    }
}

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Operation;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an operation")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let mut operation = Operation::default();
                while let Some(name) = fields.next_key::<String>()? {
                    match name.as_str() {
                        "op" => operation.op = fields.next_value()?,
                        "path" => operation.path = fields.next_value()?,
                        "from" => operation.from = fields.next_value()?,
                        "value" => operation.value = Some(fields.next_value()?),
                        _ => _ = fields.next_value::<IgnoredAny>()?,
                    }
                }
                Ok(operation)
            }
        }
        decoder.deserialize_map(Fields)
    }
}

/// The first `MAX` operations of an array, and how many there are. The rest is counted and never built.
#[derive(Debug)]
pub(super) struct Operations<const MAX: usize> {
    pub(super) kept: Vec<Operation>,
    pub(super) count: usize,
}

impl<'de, const MAX: usize> Deserialize<'de> for Operations<MAX> {
    fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
        struct Items<const MAX: usize>;
        impl<'de, const MAX: usize> Visitor<'de> for Items<MAX> {
            type Value = Operations<MAX>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an array of operations")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut kept = Vec::new();
                while kept.len() < MAX {
                    // A null is an operation without fields.
                    let Some(operation) = items.next_element::<Option<Operation>>()? else {
                        return Ok(Operations { count: kept.len(), kept });
                    };
                    kept.push(operation.unwrap_or_default());
                }
                let mut count = kept.len();
                while items.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Operations { kept, count })
            }
        }
        decoder.deserialize_seq(Items)
    }
}
