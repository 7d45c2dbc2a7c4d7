//! Which path leads where.

use std::{fmt, sync::Arc};

use hashbrown::HashMap;
use parking_lot::RwLock;
use thiserror::Error;

/// Why a path was not taken.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// Something is mounted there already.
    #[error("path {0} is taken")]
    Taken(String),
    /// It does not start with `/`.
    #[error("path {0:?} does not start with a slash")]
    NotAbsolute(String),
}

/// The paths of a server. Clones are handles of one table.
pub(crate) struct Routes<R>(Arc<RwLock<HashMap<String, R>>>);

impl<R: Clone> Routes<R> {
    pub(crate) fn add(&self, path: &str, route: R) -> Result<(), RegisterError> {
        if !path.starts_with('/') {
            return Err(RegisterError::NotAbsolute(path.to_owned()));
        }
        let mut routes = self.0.write();
        if routes.contains_key(path) {
            return Err(RegisterError::Taken(path.to_owned()));
        }
        routes.insert(path.to_owned(), route);
        Ok(())
    }

    pub(crate) fn find(&self, path: &str) -> Option<R> {
        self.0.read().get(path).cloned()
    }
}

impl<R> Clone for Routes<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R> Default for Routes<R> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<R> fmt::Debug for Routes<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.read().keys()).finish()
    }
}
