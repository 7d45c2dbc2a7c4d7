//! What the objects of a kind look like: one compiled schema that prunes, fills in, validates and tells items apart.
//!
//! A schema is compiled from what a `CustomResourceDefinition` says, when the first object needs it. It works on plain
//! values and knows nothing of kinds, requests and the store. Whether what a definition says may be a schema at all is
//! judged by `structural`.

mod compile;
mod default;
mod definition;
mod embedded;
mod format;
mod go;
mod node;
mod pattern;
mod prune;
mod strict;
pub(crate) mod structural;
#[cfg(test)]
mod tests;
mod unique;
mod validate;
mod walk;

pub(crate) use embedded::{object_meta, prune_metadata};
pub(crate) use node::Schema;
pub(crate) use strict::{AnyNames, Names, Seen, strict_problems};
