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

    /// What is at `path`, or else at the longest of its folders: one whose path ends with a slash, as in Go's `ServeMux`.
    pub(crate) fn find(&self, path: &str) -> Option<R> {
        let routes = self.0.read();
        let folders = path.rmatch_indices('/').map(|(slash, _)| &path[..=slash]);
        std::iter::once(path).chain(folders).find_map(|path| routes.get(path)).cloned()
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_itself_or_to_the_longest_folder() {
        let routes = Routes::default();
        for path in ["/healthz", "/healthz/", "/a/b/", "/a/b/c"] {
            routes.add(path, path).unwrap();
        }
        for (path, found) in [
            ("/healthz", Some("/healthz")),
            ("/healthz/ping", Some("/healthz/")),
            ("/healthzz", None),
            ("/a/b/c", Some("/a/b/c")),
            ("/a/b/d/e", Some("/a/b/")),
            ("/a/b", None),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(routes.find(path), found, "{path}");
        }
        assert_eq!(routes.add("/a/b/", ""), Err(RegisterError::Taken("/a/b/".to_owned())));
        assert_eq!(routes.add("a", ""), Err(RegisterError::NotAbsolute("a".to_owned())));
    }
}
