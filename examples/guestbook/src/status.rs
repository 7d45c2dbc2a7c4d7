//! What a guestbook says of itself.

use jiff::Timestamp;
use k8s_openapi::{
    api::apps::v1::Deployment,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};

use crate::{Guestbook, GuestbookStatus};

/// The status that a guestbook with this deployment should have.
pub(crate) fn desired(guestbook: &Guestbook, deployment: &Deployment, now: Timestamp) -> GuestbookStatus {
    let mut status = guestbook.status.clone().unwrap_or_default();
    let wanted = guestbook.spec.replicas;
    let available = available_replicas(deployment);
    let ready = available >= wanted && has_observed_its_spec(deployment);
    status.observed_generation = guestbook.metadata.generation;
    status.available_replicas = available;
    let (is_ready, reason) = if ready { ("True", "Available") } else { ("False", "WaitingForPods") };
    let message = format!("{available} of {wanted} replicas are available");
    set_condition(
        &mut status.conditions,
        "Ready",
        is_ready,
        reason,
        message,
        guestbook.metadata.generation,
        now,
    );
    status
}

/// Whether the guestbook's status says that its present spec is served.
pub(crate) fn is_ready(guestbook: &Guestbook) -> bool {
    guestbook.status.as_ref().is_some_and(|status| {
        status.observed_generation == guestbook.metadata.generation
            && status
                .conditions
                .iter()
                .any(|condition| condition.type_ == "Ready" && condition.status == "True")
    })
}

fn available_replicas(deployment: &Deployment) -> i32 {
    deployment.status.as_ref().and_then(|status| status.available_replicas).unwrap_or(0)
}

/// A deployment whose controller has not looked at the latest spec says nothing about it.
fn has_observed_its_spec(deployment: &Deployment) -> bool {
    deployment.status.as_ref().and_then(|status| status.observed_generation) >= deployment.metadata.generation
}

/// Keeps the time of the last transition while the status of the condition stays the same.
fn set_condition(
    conditions: &mut Vec<Condition>,
    type_: &str,
    status: &str,
    reason: &str,
    message: String,
    observed_generation: Option<i64>,
    now: Timestamp,
) {
    let known = conditions.iter().position(|condition| condition.type_ == type_);
    let last_transition_time = match known {
        Some(known) if conditions[known].status == status => conditions[known].last_transition_time.clone(),
        _ => Time(now),
    };
    let condition = Condition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message,
        observed_generation,
        last_transition_time,
    };
    match known {
        Some(known) => conditions[known] = condition,
        None => conditions.push(condition),
    }
}
