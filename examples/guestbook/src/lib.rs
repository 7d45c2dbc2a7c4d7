//! An operator for guestbooks: each `Guestbook` gets a Deployment that serves it, a Service in front, and a ConfigMap with its message.
//!
//! - `api` is the kind, `children` what each object should have, `status` what it says of itself.
//! - `reconciler` drives the one to the other; `operator` wires it to its watches.
//! - `webhooks` fills in and refuses what people write; `manifests` is what a cluster has to know of all this.
//! - `embedded` and `samples` run it all without a cluster; `story` tells a person what happens.

mod api;
mod children;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod manifests;
mod operator;
mod reconciler;
pub mod samples;
mod status;
mod story;
pub mod webhooks;

pub use api::{Guestbook, GuestbookSpec, GuestbookStatus};
pub use children::{ARCHIVE, FINALIZER};
pub use operator::add_to_manager;
pub use story::Story;
