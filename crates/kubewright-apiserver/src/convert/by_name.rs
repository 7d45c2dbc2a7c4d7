//! Versions that differ in nothing but their name.

use std::future::ready;

use futures::future::BoxFuture;

use super::Converter;
use crate::{error::Status, object::Object};

/// Nothing but the version differs, and mostly not even that.
#[derive(Debug)]
pub(crate) struct ByName;

impl Converter for ByName {
    fn is_by_name(&self) -> bool {
        true
    }

    fn convert<'a>(
        &'a self,
        mut objects: Vec<Object>,
        api_version: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Object>, Status>> {
        for object in &mut objects {
            object.0.insert("apiVersion".into(), api_version.into());
        }
        Box::pin(ready(Ok(objects)))
    }
}
