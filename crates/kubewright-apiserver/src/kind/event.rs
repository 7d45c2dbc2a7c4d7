//! Events expire.

use std::time::Duration;

use super::{rules::Rules, strategy::Strategy};

/// Events of both groups.
#[derive(Debug)]
pub(super) struct Events(pub(super) Rules);

impl Strategy for Events {
    fn rules(&self) -> &Rules {
        &self.0
    }

    /// Source: apiserver `--event-ttl`.
    fn time_to_live(&self) -> Option<Duration> {
        Some(Duration::from_secs(3600))
    }
}
