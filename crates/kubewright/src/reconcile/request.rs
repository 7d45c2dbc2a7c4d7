//! What names the thing to reconcile.

use std::{fmt, hash::Hash};

use crate::object::ObjectKey;

/// The request of an ordinary controller: the key of an object of the kind that it is for.
pub type Request = ObjectKey;

/// A type that can be a controller's request: a small value that names what to reconcile.
///
/// Implemented for every type that fits. Equal requests are one: they are merged while they wait and never reconciled at once.
pub trait RequestType: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static {}

impl<R: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static> RequestType for R {}
