//! What an author writes: a function from a request to the next time it should run.
//!
//! A reconciler is told *which* object to look at, never *what happened*: it reads the present state and drives the world to it. Any
//! number of events for one object before a run are one run; an event during a run is exactly one more.

mod action;
mod context;
mod func;
mod object_reconciler;
mod prioritized;
mod reconciler;
mod request;
mod terminal;

pub use action::Action;
pub use context::{Context, ReconcileId};
pub use func::{FromFn, from_fn};
pub use object_reconciler::{AsReconciler, ObjectReconciler, as_reconciler};
pub use prioritized::PrioritizedError;
pub(crate) use reconciler::DynReconciler;
pub use reconciler::Reconciler;
pub use request::{Request, RequestType};
pub use terminal::TerminalError;
