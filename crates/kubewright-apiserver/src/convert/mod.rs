//! The versions of one resource: from the one in which objects are kept to the one in which they are shown, and back.

mod by_name;
mod by_rule;
mod by_webhook;
mod fields;
mod metadata;
mod review;

use std::fmt;

use futures::future::BoxFuture;

pub(crate) use by_name::ByName;
pub(crate) use by_rule::ByRule;
pub(crate) use by_webhook::ByWebhook;
pub(crate) use fields::RenamedFields;

use crate::{error::Status, object::Object};

/// Brings objects of one resource into another of its versions.
///
/// It may ask somebody else, which takes time and can fail; so it is asked about many objects at once where there are
/// many.
///
/// Source: apiextensions `apiserver/conversion.CRConverter`.
pub(crate) trait Converter: fmt::Debug + Send + Sync {
    /// Whether versions differ in `apiVersion` alone, so that nobody needs to decode an object that is only shown.
    fn is_by_name(&self) -> bool {
        false
    }

    /// The same objects in the same order, at `api_version`.
    fn convert<'a>(
        &'a self,
        objects: Vec<Object>,
        api_version: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Object>, Status>>;
}
