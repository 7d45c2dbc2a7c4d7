//! Conversion: one kind in several versions.
//!
//! One version is the hub. Every other one says how it becomes the hub and is made of it, so that any version can become any other.

mod builder;
mod convertible;
mod endpoint;
mod family;
mod review;
mod round_trip;

pub use builder::Conversion;
pub use convertible::Convertible;
pub(super) use endpoint::{CONVERT_PATH, Families};
pub use round_trip::{RoundTripError, round_trip};
