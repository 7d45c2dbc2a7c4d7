//! What a manager asks of an election.

use std::pin::Pin;

use crate::BoxError;

/// Decides whether this process leads.
///
/// The manager calls [`acquire`](Self::acquire), then polls [`lost`](Self::lost) until everything that needed the leadership has ended, its stop
/// included, and then calls [`release`](Self::release).
///
/// Source: client-go `tools/leaderelection.LeaderElector`, of which this is the manager's side.
pub trait Elector: Send + 'static {
    /// Returns when this process leads.
    ///
    /// # Errors
    /// An error stops the manager: the process can never lead.
    ///
    /// # Cancel safety
    /// Dropped, the process must not become the leader.
    fn acquire(&mut self) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// Returns when this process does not lead any more, or cannot be sure that it does, and says why.
    ///
    /// It also does what keeps the leadership: the manager polls it all the time.
    ///
    /// # Cancel safety
    /// Dropped and called again, it goes on. The manager does so when its stop begins.
    fn lost(&mut self) -> impl Future<Output = BoxError> + Send;

    /// Lets another process lead at once. Not called after `lost`.
    fn release(self) -> impl Future<Output = ()> + Send;
}

/// [`Elector`] as a value.
pub(crate) trait DynElector: Send + 'static {
    fn acquire(&mut self) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + '_>>;
    fn lost(&mut self) -> Pin<Box<dyn Future<Output = BoxError> + Send + '_>>;
    fn release(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

impl<T: Elector> DynElector for T {
    fn acquire(&mut self) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + '_>> {
        Box::pin(Elector::acquire(self))
    }

    fn lost(&mut self) -> Pin<Box<dyn Future<Output = BoxError> + Send + '_>> {
        Box::pin(Elector::lost(self))
    }

    fn release(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(Elector::release(*self))
    }
}

/// Leads from the start to the end: a manager that is alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone;

impl Elector for Alone {
    async fn acquire(&mut self) -> Result<(), BoxError> {
        Ok(())
    }

    async fn lost(&mut self) -> BoxError {
        std::future::pending().await
    }

    async fn release(self) {}
}
