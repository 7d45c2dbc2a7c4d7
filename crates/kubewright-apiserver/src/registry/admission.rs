//! What webhooks are told of a write. Where none is configured, a write costs nothing here.

use super::{resource::Resource, scale::Scale};
use crate::{
    admission::{Attributes, Operation, View},
    error::Status,
    kind::Subresource,
    object::Object,
    options::WriteOptions,
    value::Value,
};

/// What is asked of all webhooks alike.
pub(super) struct Asked<'a> {
    resource: Resource<'a>,
    operation: Operation,
    /// The name that the client gave, if any.
    name: &'a str,
    options: Value,
    dry_run: bool,
    view: Option<Box<dyn View>>,
}

/// An object of another kind, which a subresource takes.
struct Part([&'static str; 3]);

impl View for Part {
    fn kind(&self) -> [&'static str; 3] {
        self.0
    }

    fn show(&self, object: &Object) -> Result<Value, Status> {
        Ok(object.0.clone().into())
    }

    fn take(&self, shown: &Value, object: &mut Object) {
        if let Value::Object(fields) = shown {
            object.0.clone_from(fields);
        }
    }
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
        let subresource = self.kind.subresource(&self.info.subresource);
        let view: Option<Box<dyn View>> = match subresource {
            Some(Subresource::Scale(scale)) => Some(Box::new(Scale(scale.clone()))),
            Some(other) => other.other_kind().map(|kind| Box::new(Part(kind)) as _),
            None => None,
        };
        Asked { resource: *self, operation, name, options, dry_run, view }
    }

    /// Lets webhooks change and refuse what a client has sent to a subresource that makes something.
    pub(crate) async fn admit_part(&self, part: &mut Object, options: &WriteOptions) -> Result<(), Status> {
        let asked = self.ask(Operation::Create, &self.info.name, options.for_create(), options.dry_run);
        if asked.is_anybody_there() {
            asked.attributes().mutate(None, Some(part)).await?;
            asked.attributes().validate(None, Some(part)).await?;
        }
        Ok(())
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
            view: self.view.as_deref(),
            context,
        }
    }
}
