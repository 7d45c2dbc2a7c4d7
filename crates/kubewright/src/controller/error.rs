//! What can go wrong with a controller as such; a failing reconcile is not one of these.

use std::{borrow::Cow, time::Duration};

use crate::{BoxError, object::ObjectKey, source::SyncProgress};

/// A controller cannot be built as it was asked for; its author has to mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Nothing would ever wake the controller.
    #[error(
        "there are no watches configured, controller will never get triggered: use for_(), owns(), watches() or watches_raw_source()"
    )]
    NoWatches,
    /// A controller has no name.
    #[error("the controller has no name: call for_() or named()")]
    NoName,
    /// `for_` was called again.
    #[error("for_() may be called once, and was called for {first} and {second}")]
    ForTwice {
        /// The kind of the first call.
        first: String,
        /// The kind of the second call.
        second: String,
    },
    /// An owner is needed to find the owned.
    #[error("owns() needs for_(): the owner's kind is not known")]
    OwnsWithoutFor,
    /// Another controller of this manager has the name: its metrics would be mixed with this one's.
    #[error("there is a controller named {0:?} already: give one of them another name with named()")]
    NameTaken(String),
    /// The manager is stopping, or has stopped.
    #[error("the manager stops: it takes no controller any more")]
    Stopping,
}

/// A running controller gave up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// A source's `start` failed.
    #[error("failed to start {name}")]
    SourceStart {
        /// The source.
        name: Cow<'static, str>,
        /// What it says.
        #[source]
        source: BoxError,
    },
    /// A source's `start` blocks; its author has to move what takes long into a task.
    #[error("timed out waiting for {name} to start within {timeout:?}: its start() must not block")]
    SourceBlocks {
        /// The source.
        name: Cow<'static, str>,
        /// How long the controller waited.
        timeout: Duration,
    },
    /// A source could not do what it has to do before the first reconcile.
    #[error("failed to wait for {name} to sync")]
    SourceSync {
        /// The source.
        name: Cow<'static, str>,
        /// What it says.
        #[source]
        source: BoxError,
    },
    /// A source is not ready for the first reconcile, and gets no further.
    #[error("timed out waiting for {name} to sync: no progress within {timeout:?}{}", after(.progress, .at_work.as_ref()))]
    SourceSyncTimeout {
        /// The source.
        name: Cow<'static, str>,
        /// How long the controller waited.
        timeout: Duration,
        /// How far the source got.
        progress: SyncProgress,
        /// The object that it worked on.
        at_work: Option<ObjectKey>,
    },
    /// A source cannot go on: its cache has stopped, say.
    #[error("{name} failed")]
    SourceFailed {
        /// The source.
        name: Cow<'static, str>,
        /// What it says.
        #[source]
        source: BoxError,
    },
    /// The controller has ended, or ends now.
    #[error("the controller has stopped")]
    Stopped,
    /// A task of a source panicked, or a reconcile did while `recover_panic` is off.
    #[error("a task of the controller panicked: {0}")]
    Panicked(String),
}

/// A source that says nothing of its progress has none to report.
fn after(progress: &SyncProgress, at_work: Option<&ObjectKey>) -> String {
    let progress = (*progress != SyncProgress::default()).then(|| format!(", {progress}"));
    let at_work = at_work.map(|object| format!(", at work on {object}"));
    progress.unwrap_or_default() + &at_work.unwrap_or_default()
}
