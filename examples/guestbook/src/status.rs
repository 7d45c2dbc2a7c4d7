//! What a guestbook says of itself.

use jiff::Timestamp;
use k8s_openapi::{
    api::apps::v1::Deployment,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};
use kubewright::controllerutil::conditions;

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
    let ready = Condition {
        type_: READY.to_owned(),
        status: is_ready.to_owned(),
        reason: reason.to_owned(),
        message: format!("{available} of {wanted} replicas are available"),
        observed_generation: guestbook.metadata.generation,
        last_transition_time: Time(now),
    };
    conditions::set(&mut status.conditions, ready);
    status
}

/// Whether the guestbook's status says that its present spec is served.
pub(crate) fn is_ready(guestbook: &Guestbook) -> bool {
    guestbook.status.as_ref().is_some_and(|status| {
        status.observed_generation == guestbook.metadata.generation
            && conditions::is_true(&status.conditions, READY)
    })
}

fn available_replicas(deployment: &Deployment) -> i32 {
    deployment.status.as_ref().and_then(|status| status.available_replicas).unwrap_or(0)
}

/// A deployment whose controller has not looked at the latest spec says nothing about it.
fn has_observed_its_spec(deployment: &Deployment) -> bool {
    deployment.status.as_ref().and_then(|status| status.observed_generation) >= deployment.metadata.generation
}

/// The type of the condition that says whether the guestbook is served.
const READY: &str = "Ready";
