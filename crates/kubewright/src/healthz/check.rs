//! One thing that can be well or not.

use std::{panic::AssertUnwindSafe, pin::Pin, time::Duration};

use futures::FutureExt;
use tokio::time::timeout;

use crate::{BoxError, cache::Cache, error, leader_election::Leadership};

/// Says whether something is well. A closure that returns a future is a check.
///
/// A [`Cache`] is one: whether all its informers have their first list. So are a [`Leadership`]: whether a leader still renews in time, and a webhook server:
/// whether it listens with a certificate that clients accept.
///
/// Source: controller-runtime `healthz.Checker`.
#[diagnostic::on_unimplemented(message = "`{Self}` is no check of health")]
pub trait Check: Send + Sync + 'static {
    /// Looks, and says what is wrong. Asked at every probe, and dropped after ten seconds, which counts as a failure.
    fn check(&self) -> impl Future<Output = Result<(), BoxError>> + Send;
}

impl<F, Fut> Check for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), BoxError>> + Send,
{
    async fn check(&self) -> Result<(), BoxError> {
        self().await
    }
}

/// Is always well: whoever answers is alive.
///
/// Source: controller-runtime `healthz.Ping`.
pub async fn ping() -> Result<(), BoxError> {
    Ok(())
}

/// Whether all informers have their first list.
///
/// As a check of `/readyz` it keeps a replica out of its Service until then. Do not use it so if the API server needs a conversion webhook of this operator to
/// answer that list: each would wait for the other.
impl Check for Cache {
    async fn check(&self) -> Result<(), BoxError> {
        Ok(self.check_synced()?)
    }
}

/// Whether this process leads no longer than it may: it fails while a leader is late with its renewal, and has not noticed yet.
///
/// Source: client-go `leaderelection.HealthzAdaptor`.
impl Check for Leadership {
    async fn check(&self) -> Result<(), BoxError> {
        if self.is_overdue() { Err("the lease was not renewed in time".into()) } else { Ok(()) }
    }
}

/// [`Check`] as a value.
pub(super) trait DynCheck: Send + Sync {
    fn check(&self) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + '_>>;
}

impl<C: Check> DynCheck for C {
    fn check(&self) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + '_>> {
        // A check may panic before its first await.
        Box::pin(async { Check::check(self).await })
    }
}

/// What `check` says. One that hangs or panics says so.
pub(super) async fn ask(check: &dyn DynCheck) -> Result<(), BoxError> {
    match timeout(DEADLINE, AssertUnwindSafe(check.check()).catch_unwind()).await {
        Ok(Ok(said)) => said,
        Ok(Err(panic)) => Err(format!("the check panicked: {}", error::panic_message(&*panic)).into()),
        Err(_) => Err("the check did not answer".into()),
    }
}

/// Whoever probes gives up much earlier; this is so that nobody waits for ever.
const DEADLINE: Duration = Duration::from_secs(10);
