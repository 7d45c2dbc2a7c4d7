//! What webhooks are told of a write. Where none is configured, a write costs nothing here.

use serde_json::Value;

use super::{resource::Resource, scale::Scale};
use crate::{
    admission::{Attributes, Operation, View},
    error::Status,
    kind::Subresource,
    object::Object,
};

/// What is asked of all webhooks alike.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    resource: Resource<'a>,
    operation: Operation,
    /// The name that the client gave, if any.
    name: &'a str,
    options: Value,
    dry_run: bool,
    scale: Option<Scale>,
}

impl<'a> Resource<'a> {
    /// Prepares the questions about a write.
    pub(super) fn ask<'b>(
        &self,
        operation: Operation,
        name: &'b str,
        options: Value,
        dry_run: bool,
    ) -> Asked<'b>
    where
        'a: 'b,
    {
        let scale = match self.kind.subresource(&self.info.subresource) {
            Some(Subresource::Scale(scale)) => Some(scale.clone()),
            _ => None,
        };
        Asked { resource: *self, operation, name, options, dry_run, scale: scale.map(Scale) }
    }
}

impl Asked<'_> {
    /// Lets webhooks change an object before it is judged. Objects are as the client sees them.
    pub(super) async fn mutate(&self, old: Option<&Object>, new: &mut Object) -> Result<(), Status> {
        if !self.is_anybody_there() {
            return Ok(());
        }
        // They are shown what clients have left out.
        self.resource.kind.strategy.set_defaults(new);
        self.attributes().mutate(old, Some(new)).await
    }

    /// Lets webhooks refuse an object that would be stored otherwise.
    pub(super) async fn validate(&self, old: Option<&Object>, new: &Object) -> Result<(), Status> {
        if !self.is_anybody_there() {
            return Ok(());
        }
        self.attributes().validate(old, Some(new)).await
    }

    /// Lets webhooks refuse a deletion.
    pub(super) async fn delete(&self, old: &Object) -> Result<(), Status> {
        let attributes = self.attributes();
        attributes.mutate(Some(old), None).await?;
        attributes.validate(Some(old), None).await
    }

    fn is_anybody_there(&self) -> bool {
        self.resource.cluster.admission.is_any()
    }

    fn attributes(&self) -> Attributes<'_> {
        let Resource { cluster, kind, context, info } = self.resource;
        Attributes {
            admission: &cluster.admission,
            kind,
            operation: self.operation,
            namespace: if kind.strategy.is_of_namespaces() { self.name } else { self.resource.namespace() },
            name: self.name,
            subresource: &info.subresource,
            dry_run: self.dry_run,
            options: &self.options,
            view: self.scale.as_ref().map(|scale| scale as &dyn View),
            context,
        }
    }
}
