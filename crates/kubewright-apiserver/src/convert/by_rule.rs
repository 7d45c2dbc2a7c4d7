//! Versions that say the same in another way.

use std::future::ready;

use futures::future::BoxFuture;

use super::Converter;
use crate::{error::Status, object::Object};

/// Two versions, and the way from each to the other.
#[derive(Debug)]
pub(crate) struct ByRule {
    /// The version that `to_first` makes; all others are made by `from_first`.
    pub(crate) first: &'static str,
    pub(crate) to_first: fn(&mut Object),
    pub(crate) from_first: fn(&mut Object),
}

impl Converter for ByRule {
    fn convert<'a>(
        &'a self,
        mut objects: Vec<Object>,
        api_version: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Object>, Status>> {
        for object in &mut objects {
            match (object.str_at("/apiVersion") == self.first, api_version == self.first) {
                (true, false) => (self.from_first)(object),
                (false, true) => (self.to_first)(object),
                _ => {}
            }
            object.0.insert("apiVersion".into(), api_version.into());
        }
        Box::pin(ready(Ok(objects)))
    }
}
