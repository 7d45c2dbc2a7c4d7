//! Who of several processes leads.
//!
//! A manager without an [`Elector`] leads from its start. With one, what needs leader election runs only between
//! [`acquire`](Elector::acquire) and [`lost`](Elector::lost).

use std::pin::Pin;

use crate::BoxError;

/// Decides whether this process leads.
///
/// The manager calls [`acquire`](Self::acquire), then [`lost`](Self::lost) until it stops, then [`release`](Self::release) when
/// everything that needed the leadership has ended.
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
    /// # Cancel safety
    /// The manager drops it when it stops; the process goes on leading until `release`.
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
