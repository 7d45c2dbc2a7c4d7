//! What is said of a stop.

use std::{borrow::Cow, time::Duration};

use super::StartError;
use crate::error;

/// Keeps the first failure of a manager, and logs all others.
#[derive(Debug)]
pub(super) struct Ending {
    first: Option<StartError>,
    late: Vec<Cow<'static, str>>,
    grace: Duration,
}

impl Ending {
    /// `reason` is why the manager stops: an error, or because it was asked to.
    pub(super) fn new(reason: Result<(), StartError>, grace: Duration) -> Self {
        match &reason {
            Ok(()) => tracing::info!(reason = "asked to stop", ?grace, "stopping"),
            Err(failure) => tracing::error!(reason = %error::chain(failure), ?grace, "stopping"),
        }
        Self { first: reason.err(), late: Vec::new(), grace }
    }

    /// How a runnable ended after it was asked to.
    pub(super) fn note(&mut self, outcome: Result<(), StartError>) {
        let Err(failure) = outcome else { return };
        if self.first.is_some() {
            tracing::error!(error = %error::chain(&failure), "error received after stop sequence was engaged");
        } else {
            self.first = Some(failure);
        }
    }

    /// These had to be aborted. With a grace period of zero nobody was waited for, and nobody is late.
    pub(super) fn late(&mut self, names: impl IntoIterator<Item = Cow<'static, str>>) {
        if !self.grace.is_zero() {
            self.late.extend(names);
            self.late.sort();
        }
    }

    pub(super) fn result(mut self) -> Result<(), StartError> {
        if !self.late.is_empty() {
            let late = std::mem::take(&mut self.late);
            self.note(Err(StartError::GracePeriod { grace: self.grace, late }));
        }
        tracing::info!("stopped");
        self.first.map_or(Ok(()), Err)
    }
}
