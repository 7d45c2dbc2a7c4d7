//! Webhooks that change an object.

use std::collections::BTreeSet;

use super::{attributes::Attributes, hook::Hook, matching::asked_version, refusal::ask};
use crate::{error::Status, object::Object, patch::JsonPatch};

/// Lets webhooks change `new`, one after the other; each sees what those before it have done.
///
/// Webhooks that ask for it are called once more if others have changed the object after them.
///
/// Source: apiserver `admission/plugin/webhook/mutating.mutatingDispatcher.Dispatch`, `admission.reinvoker`.
pub(super) async fn run(
    attributes: &Attributes<'_>,
    old: Option<&Object>,
    mut new: Option<&mut Object>,
) -> Result<(), Status> {
    let hooks = attributes.admission.mutating();
    let (mut called, mut again, mut is_changed) = (BTreeSet::new(), BTreeSet::new(), false);
    for is_first_round in [true, false] {
        for (index, hook) in hooks.iter().enumerate() {
            if !is_first_round && !again.contains(&index) {
                continue;
            }
            let Some(changed) = call(attributes, hook, old, new.as_deref_mut()).await? else { continue };
            if changed {
                is_changed = true;
                again.append(&mut called);
            }
            if hook.is_reinvoked {
                called.insert(index);
            }
        }
        if !is_changed {
            break;
        }
    }
    Ok(())
}

/// Calls one webhook, and says whether it has changed the object; `None` if it was not called, or its failure does not matter.
async fn call(
    attributes: &Attributes<'_>,
    hook: &Hook,
    old: Option<&Object>,
    new: Option<&mut Object>,
) -> Result<Option<bool>, Status> {
    let Some(kind) = asked_version(attributes, hook, old, new.as_deref())? else { return Ok(None) };
    let patch = match ask(attributes, hook, &kind, old, new.as_deref(), true).await {
        Ok(answer) => answer.patch,
        Err(refusal) => return refusal.or_ignored(hook).map(|()| None),
    };
    let Some(patch) = patch else { return Ok(Some(false)) };
    let patch = JsonPatch::read(&patch).map_err(Status::internal_error)?;
    let Some(object) = new else {
        let text = format!(
            "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
            hook.name
        );
        return Err(Status::internal_error(text));
    };
    let before = attributes.show(&kind, object).await?;
    let mut after = before.clone();
    patch.apply(&mut after).map_err(Status::internal_error)?;
    if before == after {
        return Ok(Some(false));
    }
    attributes.take(&kind, after, object).await?;
    // What a webhook adds has to be known, too.
    kind.strategy.coerce(object).map_err(Status::internal_error)?;
    kind.strategy.set_defaults(object);
    Ok(Some(true))
}
