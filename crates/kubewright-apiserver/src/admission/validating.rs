//! Webhooks that refuse an object.

use futures::future::join_all;

use super::{attributes::Attributes, hook::Hook, matching::asked_version, refusal::ask};
use crate::{error::Status, object::Object};

/// Lets all webhooks judge at once. The refusal of the first of them, in their order, is the answer.
///
/// Source: apiserver `admission/plugin/webhook/validating.validatingDispatcher.Dispatch`.
pub(super) async fn run(
    attributes: &Attributes<'_>,
    old: Option<&Object>,
    new: Option<&Object>,
) -> Result<(), Status> {
    let hooks = attributes.admission.validating();
    let calls = hooks.iter().map(|hook| call(attributes, hook, old, new));
    join_all(calls).await.into_iter().collect()
}

async fn call(
    attributes: &Attributes<'_>,
    hook: &Hook,
    old: Option<&Object>,
    new: Option<&Object>,
) -> Result<(), Status> {
    let Some(kind) = asked_version(attributes, hook, old, new)? else { return Ok(()) };
    match ask(attributes, hook, &kind, old, new, false).await {
        Ok(_) => Ok(()),
        Err(refusal) => refusal.or_ignored(hook),
    }
}
