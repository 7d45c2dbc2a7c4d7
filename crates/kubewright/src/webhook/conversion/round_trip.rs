//! Whether conversion loses anything.

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use super::Convertible;
use crate::{BoxError, error, object::Object};

/// How an object did not survive the way to another version and back.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RoundTripError {
    /// It cannot be converted at all.
    #[error("failed to convert")]
    Convert(#[source] BoxError),
    /// It cannot be written as JSON.
    #[error("failed to serialise")]
    Serialise(#[from] serde_json::Error),
    /// It came back as another one.
    #[error("what came back differs: {before} became {after}")]
    Differs {
        /// As it went.
        before: Value,
        /// As it came back.
        after: Value,
    },
}

/// Takes an object to the hub version and back, and sees that nothing was lost. A property test calls it with objects of any shape.
///
/// # Errors
/// [`RoundTripError`] with what differs.
pub fn round_trip<S, H>(object: &S) -> Result<(), RoundTripError>
where
    S: Convertible<H> + Serialize,
    H: Object,
{
    let convert = |failed: S::Error| RoundTripError::Convert(error::boxed(failed));
    let hub = object.clone().convert_to().map_err(convert)?;
    let back = S::convert_from(hub).map_err(convert)?;
    let (before, after) = (serde_json::to_value(object)?, serde_json::to_value(back)?);
    if before == after { Ok(()) } else { Err(RoundTripError::Differs { before, after }) }
}
