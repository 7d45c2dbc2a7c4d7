//! The words by which a Status names a resource.

use std::sync::Arc;

/// A resource, as a Status names it.
pub(crate) trait Named {
    /// The API group; empty for the core group.
    fn group(&self) -> &str;

    /// The plural name, `pods`.
    fn plural(&self) -> &str;

    /// The kind, `Pod`.
    fn kind(&self) -> &str;

    /// `pods`, `deployments.apps`: how messages name the resource.
    fn qualified_resource(&self) -> String {
        qualified(self.plural(), self.group())
    }

    /// `Pod`, `Deployment.apps`: how validation messages name it.
    fn qualified_kind(&self) -> String {
        qualified(self.kind(), self.group())
    }
}

impl<N: Named> Named for Arc<N> {
    fn group(&self) -> &str {
        N::group(self)
    }

    fn plural(&self) -> &str {
        N::plural(self)
    }

    fn kind(&self) -> &str {
        N::kind(self)
    }
}

fn qualified(word: &str, group: &str) -> String {
    if group.is_empty() { word.to_owned() } else { format!("{word}.{group}") }
}
