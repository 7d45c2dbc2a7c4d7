//! Which versions of a kind are converted.

use std::{fmt, sync::Arc};

use serde::Serialize;

use super::{Convertible, family::Family};
use crate::{
    http_server::RegisterError,
    object::{Kind, Object},
    webhook::WebhookServer,
};

/// Declares the versions of one kind. All kinds of a server share its path `/convert`.
///
/// Source: controller-runtime `conversion.NewHubSpokeConverter`.
#[must_use = "a conversion is served once it is registered"]
pub struct Conversion<H> {
    family: Family<H>,
}

impl<H: Object + Serialize> Conversion<H> {
    /// The kind, with the version that all others are converted to and from. It is best the one that is stored.
    pub fn hub() -> Self {
        Self { family: Family::new() }
    }

    /// Another version.
    pub fn spoke<S: Convertible<H> + Serialize>(mut self) -> Self {
        self.family.add::<S>();
        self
    }

    /// Converts the kind at `/convert`, as its definition has to say.
    ///
    /// # Errors
    /// [`RegisterError::Taken`] if the kind is converted already, or something else is mounted at the path.
    pub fn register(self, server: &WebhookServer) -> Result<(), RegisterError> {
        let kind = Kind::of::<H>();
        server.families()?.add(kind.group(), kind.kind(), Arc::new(self.family))
    }
}

impl<H> fmt::Debug for Conversion<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversion").finish_non_exhaustive()
    }
}
