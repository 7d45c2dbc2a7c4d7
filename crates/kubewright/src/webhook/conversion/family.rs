//! All versions of one kind.

use std::{collections::BTreeMap, marker::PhantomData};

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use super::Convertible;
use crate::{BoxError, error, object::Object};

/// Why an object was not converted.
#[derive(Debug, Error)]
pub(super) enum ConvertError {
    #[error("object has no apiVersion and kind")]
    Nameless,
    #[error("{0} is not a version that can be converted")]
    UnknownVersion(String),
    #[error("conversion is not allowed between {0} and itself")]
    SameVersion(String),
    #[error("failed to read {0}")]
    Read(String, #[source] serde_json::Error),
    #[error("failed to convert {from} to {to}")]
    Convert {
        from: String,
        to: String,
        #[source]
        source: BoxError,
    },
    #[error("failed to write {0}")]
    Write(String, #[source] serde_json::Error),
}

/// Converts objects of one kind.
pub(super) trait ConvertKind: Send + Sync + 'static {
    /// From one `apiVersion` to another. The result has no metadata that counts.
    fn convert(&self, object: Value, from: &str, to: &str) -> Result<Value, ConvertError>;
}

/// A hub and its spokes, by `apiVersion`.
pub(super) struct Family<H> {
    hub: String,
    spokes: BTreeMap<String, Box<dyn Spoke<H>>>,
}

impl<H: Object + Serialize> Family<H> {
    pub(super) fn new() -> Self {
        Self { hub: H::api_version(&H::DynamicType::default()).into_owned(), spokes: BTreeMap::new() }
    }

    pub(super) fn add<S: Convertible<H> + Serialize>(&mut self) {
        let version = S::api_version(&S::DynamicType::default()).into_owned();
        self.spokes.insert(version, Box::new(Typed::<S>(PhantomData)));
    }

    fn spoke(&self, version: &str) -> Result<&dyn Spoke<H>, ConvertError> {
        let found = self.spokes.get(version);
        found.map(AsRef::as_ref).ok_or_else(|| ConvertError::UnknownVersion(version.to_owned()))
    }
}

impl<H: Object + Serialize> ConvertKind for Family<H> {
    /// Source: controller-runtime `conversion.webhook.convertObject`.
    fn convert(&self, object: Value, from: &str, to: &str) -> Result<Value, ConvertError> {
        if from == to {
            return Err(ConvertError::SameVersion(from.to_owned()));
        }
        let failed = |source| ConvertError::Convert { from: from.to_owned(), to: to.to_owned(), source };
        // Nothing is converted halfway to a version that does not exist.
        let down = if to == self.hub { None } else { Some(self.spoke(to)?) };
        let hub = if from == self.hub {
            H::deserialize(object).map_err(|error| ConvertError::Read(from.to_owned(), error))?
        } else {
            self.spoke(from)?.up(object).map_err(failed)?
        };
        match down {
            None => serde_json::to_value(hub).map_err(|error| ConvertError::Write(to.to_owned(), error)),
            Some(spoke) => spoke.down(hub).map_err(failed),
        }
    }
}

/// One version beside the hub.
trait Spoke<H>: Send + Sync {
    fn up(&self, object: Value) -> Result<H, BoxError>;
    fn down(&self, hub: H) -> Result<Value, BoxError>;
}

struct Typed<S>(PhantomData<fn(S)>);

impl<H: Object, S: Convertible<H> + Serialize> Spoke<H> for Typed<S> {
    fn up(&self, object: Value) -> Result<H, BoxError> {
        S::deserialize(object)?.convert_to().map_err(error::boxed)
    }

    fn down(&self, hub: H) -> Result<Value, BoxError> {
        let spoke = S::convert_from(hub).map_err(error::boxed)?;
        Ok(serde_json::to_value(spoke)?)
    }
}
