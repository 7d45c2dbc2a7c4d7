//! The span that surrounds a reconcile: what its log lines carry.
//!
//! The spans are of the highest level, so that a filter that lets a line through does not take away what the line is about.

use std::sync::Arc;

use tracing::Span;

use crate::{
    object::Kind,
    reconcile::RequestType,
    reconcile::{ReconcileId, Request},
};

/// Makes the span of one reconcile, from the controller's name, the request and the reconcile id.
pub(super) type LogConstructor<R> = Arc<dyn Fn(&str, &R, ReconcileId) -> Span + Send + Sync>;

/// The span of a controller that is for a kind. Each name stands in it once; Go repeats namespace and name under the kind's.
///
/// Source: controller-runtime `builder.TypedBuilder.doController`: controller, controllerGroup, controllerKind, namespace, name, reconcileID.
pub(super) fn for_kind(kind: Kind) -> LogConstructor<Request> {
    Arc::new(move |controller, request, reconcile_id| {
        tracing::error_span!(
            "reconcile",
            controller,
            controller_group = kind.group(),
            controller_kind = kind.kind(),
            namespace = request.namespace(),
            name = request.name(),
            %reconcile_id,
        )
    })
}

/// The span of any other controller.
pub(super) fn for_request<R: RequestType>() -> LogConstructor<R> {
    Arc::new(
        |controller, request: &R, reconcile_id| tracing::error_span!("reconcile", controller, ?request, %reconcile_id),
    )
}
