//! Several handlers, one after the other.

use std::fmt;

use super::{AdmissionRequest, AdmissionResponse, Handler, handler::DynHandler};

/// Handlers in a row. The first that denies ends it; each sees the object as those before it left it.
///
/// # Differences from Go
/// Upstream's `MultiMutatingHandler` shows every handler the original object, so that two that touch one field undo each other.
///
/// Source: controller-runtime `admission.MultiMutatingHandler`, `admission.MultiValidatingHandler`.
#[derive(Default)]
#[must_use = "a chain does nothing before it is registered"]
pub struct Chain(Vec<Box<dyn DynHandler>>);

impl Chain {
    /// A chain with nothing in it, which allows everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a handler at the end.
    pub fn then(mut self, handler: impl Handler) -> Self {
        self.0.push(Box::new(handler));
        self
    }
}

impl Handler for Chain {
    async fn handle(&self, request: &AdmissionRequest) -> AdmissionResponse {
        let (mut request, mut all) = (request.clone(), AdmissionResponse::allowed());
        for handler in &self.0 {
            let mut one = handler.handle(&request).await;
            all.warnings.append(&mut one.warnings);
            all.audit_annotations.append(&mut one.audit_annotations);
            if !one.allowed {
                return AdmissionResponse {
                    warnings: all.warnings,
                    audit_annotations: all.audit_annotations,
                    ..one
                };
            }
            if one.object.is_some() {
                request.object.clone_from(&one.object);
                all.object = one.object;
            }
        }
        all
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("handlers", &self.0.len()).finish()
    }
}
