//! What is known of the fields of built-in kinds: their names, their types, and their numbers in protobuf.
//!
//! Whoever reads an object of such a kind, from JSON or from protobuf, reads it by this table, as Go reads it into a
//! struct: what the struct has no place for is dropped.

mod scalar;
mod strict;
mod table;
mod typed;

pub(crate) use strict::strict_problems;
pub(crate) use table::{Field, Message, MessageId, Repeats, Shape, TABLE, Table};
pub(crate) use typed::{coerce, complete, is_empty};
