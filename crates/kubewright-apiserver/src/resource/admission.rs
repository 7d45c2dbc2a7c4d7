//! What webhooks are told of a call. Where none is configured, a write costs nothing here.

use serde_json::{Value, json};

use super::{call::Call, scale};
use crate::{
    admission::{Attributes, Operation, View},
    error::Status,
    kind::Subresource,
    object::Object,
    wire::DeleteOptions,
};

/// Lets webhooks change an object before it is judged. Objects are as they are kept; `name` is the one that the client gave, if any.
pub(super) async fn mutate(
    call: &Call,
    operation: Operation,
    name: &str,
    dry_run: bool,
    old: Option<&Object>,
    new: &mut Object,
) -> Result<(), Status> {
    if !is_any(call) {
        return Ok(());
    }
    // They are shown what clients have left out.
    (call.kind.strategy.default)(new);
    let asked = Asked::new(call, operation, write_options(call, operation, dry_run), dry_run);
    asked.attributes(name).mutate(old, Some(new)).await
}

/// Lets webhooks refuse an object that would be stored otherwise.
pub(super) async fn validate(
    call: &Call,
    operation: Operation,
    name: &str,
    dry_run: bool,
    old: Option<&Object>,
    new: &Object,
) -> Result<(), Status> {
    if !is_any(call) {
        return Ok(());
    }
    let asked = Asked::new(call, operation, write_options(call, operation, dry_run), dry_run);
    asked.attributes(name).validate(old, Some(new)).await
}

/// Lets webhooks refuse a deletion.
pub(super) async fn delete(
    call: &Call,
    name: &str,
    options: &DeleteOptions,
    old: &Object,
) -> Result<(), Status> {
    let asked = Asked::new(call, Operation::Delete, options.to_value(), options.dry_run);
    let attributes = asked.attributes(name);
    attributes.mutate(Some(old), None).await?;
    attributes.validate(Some(old), None).await
}

/// Whether there is anybody to ask.
pub(super) fn is_any(call: &Call) -> bool {
    call.shared.hooks.is_any(&call.shared.store)
}

/// What is asked of all webhooks alike.
struct Asked<'a> {
    call: &'a Call,
    operation: Operation,
    options: Value,
    dry_run: bool,
    scale: Option<scale::Paths>,
}

impl<'a> Asked<'a> {
    fn new(call: &'a Call, operation: Operation, options: Value, dry_run: bool) -> Self {
        let scale = match call.kind.subresource(&call.info.subresource) {
            Some(Subresource::Scale { replicas, status_replicas, selector }) => Some(scale::Paths {
                replicas: replicas.clone(),
                status_replicas: status_replicas.clone(),
                selector: selector.clone(),
            }),
            _ => None,
        };
        Self { call, operation, options, dry_run, scale }
    }

    fn attributes<'b>(&'b self, name: &'b str) -> Attributes<'b> {
        let Call { shared, kind, info, context, .. } = self.call;
        Attributes {
            shared,
            kind,
            operation: self.operation,
            namespace: if kind.is("", "namespaces") { name } else { self.call.namespace() },
            name,
            subresource: &info.subresource,
            dry_run: self.dry_run,
            options: self.options.clone(),
            view: self.scale.as_ref().map(|paths| paths as &dyn View),
            context,
        }
    }
}

fn write_options(call: &Call, operation: Operation, dry_run: bool) -> Value {
    let kind = match operation {
        Operation::Create => "CreateOptions",
        _ if call.context.info.verb.as_str() == "patch" => "PatchOptions",
        _ => "UpdateOptions",
    };
    let mut options = json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
    for name in ["fieldManager", "fieldValidation"] {
        let value = call.context.query.text(name);
        if !value.is_empty() {
            options[name] = value.into();
        }
    }
    if dry_run {
        options["dryRun"] = json!(["All"]);
    }
    options
}
