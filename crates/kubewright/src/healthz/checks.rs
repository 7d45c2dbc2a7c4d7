//! The checks of one endpoint.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use futures::future::join_all;
use parking_lot::RwLock;

use super::{
    Check,
    check::{DynCheck, ask, ping},
    report::{Report, Status},
};
use crate::{BoxError, error};

/// Checks by their names. Clones are handles of one set.
#[derive(Clone, Default)]
pub(crate) struct Checks(Arc<RwLock<BTreeMap<String, Arc<dyn DynCheck>>>>);

impl Checks {
    /// Adds a check. An earlier one of the same name is replaced.
    pub(crate) fn add(&self, name: String, check: impl Check) {
        self.0.write().insert(name, Arc::new(check));
    }

    /// What one check says. `None` if there is no such check.
    pub(super) async fn ask(&self, name: &str) -> Option<Result<(), BoxError>> {
        let check = self.of(name)?;
        Some(ask(&*check).await)
    }

    /// What all say but those in `exclude`, in the order of their names.
    pub(super) async fn report(&self, mut exclude: BTreeSet<String>) -> Report {
        let all = self.all().into_iter().map(|(name, check)| {
            let is_excluded = exclude.remove(&name);
            async move {
                let status = if is_excluded { Status::Excluded } else { status(&name, ask(&*check).await) };
                (name, status)
            }
        });
        // All at once: a slow check keeps no other waiting.
        let all: Vec<_> = all.collect();
        Report { statuses: join_all(all).await, unknown: exclude }
    }

    fn of(&self, name: &str) -> Option<Arc<dyn DynCheck>> {
        let checks = self.0.read();
        let default = checks.is_empty() && name == "ping";
        checks.get(name).cloned().or_else(|| default.then(|| Arc::new(ping) as _))
    }

    fn all(&self) -> Vec<(String, Arc<dyn DynCheck>)> {
        let checks = self.0.read();
        if checks.is_empty() {
            return vec![("ping".to_owned(), Arc::new(ping))];
        }
        checks.iter().map(|(name, check)| (name.clone(), check.clone())).collect()
    }
}

fn status(name: &str, said: Result<(), BoxError>) -> Status {
    let Err(failure) = said else { return Status::Ok };
    tracing::debug!(checker = name, error = error::chain(&*failure), "healthz check failed");
    Status::Failed
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.read().keys()).finish()
    }
}
