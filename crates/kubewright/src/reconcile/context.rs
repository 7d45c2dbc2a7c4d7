//! What a reconciler is told beside its request.

use std::fmt;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Span;
use uuid::Uuid;

/// The circumstances of one reconcile.
///
/// The reconcile runs inside a [`tracing`] span that names the controller, the request and the reconcile id; whatever it logs carries
/// them.
#[derive(Clone, Debug)]
pub struct Context {
    cancel: CancellationToken,
    reconcile_id: ReconcileId,
    deadline: Option<Instant>,
    span: Span,
}

impl Context {
    /// The circumstances of a reconcile that a test calls by itself: never cancelled, without a deadline.
    pub fn detached() -> Self {
        Self::new(CancellationToken::new(), None)
    }

    pub(crate) fn new(cancel: CancellationToken, deadline: Option<Instant>) -> Self {
        Self { cancel, reconcile_id: ReconcileId::random(), deadline, span: Span::none() }
    }

    pub(crate) fn with_span(self, span: Span) -> Self {
        Self { span, ..self }
    }

    /// The span of this reconcile, for tasks that it hands work to. What the reconciler itself logs is in it already.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Fires when the controller stops: finish what you hold and return. After the grace period of the manager the reconcile is dropped.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Names this one run, in logs and traces.
    pub fn reconcile_id(&self) -> ReconcileId {
        self.reconcile_id
    }

    /// When the reconcile is dropped if it has not returned; `None` without a reconciliation timeout.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

/// The name of one run of a reconciler.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReconcileId(Uuid);

impl ReconcileId {
    /// A UUID of version 4, as upstream's. It is a name and no secret, so it is not worth a call of the operating system at each reconcile.
    fn random() -> Self {
        Self(uuid::Builder::from_random_bytes(fastrand::u128(..).to_ne_bytes()).into_uuid())
    }
}

impl fmt::Display for ReconcileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ReconcileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
