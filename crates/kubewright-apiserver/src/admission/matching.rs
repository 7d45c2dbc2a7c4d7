//! Which webhooks are called for a request.

use std::sync::Arc;

use super::{
    attributes::{Attributes, Operation},
    hook::{Hook, MatchPolicy},
    rule::Subject,
};
use crate::{error::Status, kind::Kind, object::Object, selector::LabelSelector, storage::Key};

/// In which version `hook` is asked about the request; `None` if it is not asked.
///
/// Source: apiserver `admission/plugin/webhook/generic.Webhook.ShouldCallHook`.
pub(super) fn asked_version(
    attributes: &Attributes<'_>,
    hook: &Hook,
    old: Option<&Object>,
    new: Option<&Object>,
) -> Result<Option<Arc<Kind>>, Status> {
    let selects = |object: Option<&Object>| {
        object.is_some_and(|object| hook.object_selector.selects(object.metadata().get("labels")))
    };
    if !hook.object_selector.is_empty() && !selects(new) && !selects(old) {
        return Ok(None);
    }
    let Some(kind) = version_in_rules(attributes, hook) else { return Ok(None) };
    // Last, since it may fail, which should concern nobody but those who are asked.
    Ok(is_namespace_selected(attributes, &hook.namespace_selector, new)?.then_some(kind))
}

/// The version that the client uses, or another one of the same resource that the rules name.
fn version_in_rules(attributes: &Attributes<'_>, hook: &Hook) -> Option<Arc<Kind>> {
    let Attributes { kind, operation, subresource, .. } = attributes;
    let is_named = |kind: &Kind| {
        let Kind { group, version, plural, .. } = kind;
        let is_namespaced = kind.is_namespaced();
        let subject = Subject { operation: *operation, group, version, plural, subresource, is_namespaced };
        hook.rules.iter().any(|rule| rule.is_for(subject))
    };
    if is_named(kind) {
        return Some((*kind).clone());
    }
    if hook.match_policy == MatchPolicy::Exact {
        return None;
    }
    let served = attributes.admission.kinds.caught_up(&attributes.admission.store);
    let has_subresource = |other: &Kind| subresource.is_empty() || other.subresource(subresource).is_some();
    let mut others = served.all().map(|(_, other)| other).filter(|other| other.prefix == kind.prefix);
    others.find(|other| has_subresource(other) && is_named(other)).cloned()
}

/// Source: apiserver `admission/plugin/webhook/predicates/namespace.Matcher`.
fn is_namespace_selected(
    attributes: &Attributes<'_>,
    selector: &LabelSelector,
    new: Option<&Object>,
) -> Result<bool, Status> {
    let is_namespace = attributes.kind.strategy.is_of_namespaces();
    if selector.is_empty() || (attributes.namespace.is_empty() && !is_namespace) {
        return Ok(true);
    }
    let writes = matches!(attributes.operation, Operation::Create | Operation::Update);
    if let Some(new) = new
        && is_namespace
        && writes
        && attributes.subresource.is_empty()
    {
        // A namespace that is written is judged by what it will be.
        return Ok(selector.selects(new.metadata().get("labels")));
    }
    let name = attributes.namespace;
    let stored = attributes.admission.store.get("/namespaces", &Key::new("", name));
    let namespace = Object::decode(&stored.ok_or_else(|| Status::namespace_not_found(name))?)?;
    Ok(selector.selects(namespace.metadata().get("labels")))
}
