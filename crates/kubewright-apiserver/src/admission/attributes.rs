//! What is asked of webhooks: one write, before it is done.

use std::sync::Arc;

use super::{hooks::Admission, mutating, validating};
use crate::{context::Context, error::Status, kind::Kind, object::Object, value::Value};

/// One write, as webhooks are told of it.
///
/// Source: apiserver `admission.Attributes`.
#[derive(Clone)]
pub(crate) struct Attributes<'a> {
    pub(crate) admission: &'a Admission,
    /// The resource, in the version that the client uses.
    pub(crate) kind: &'a Arc<Kind>,
    pub(crate) operation: Operation,
    /// The namespace of the object; a namespace's own name.
    pub(crate) namespace: &'a str,
    /// Empty if the server is to make a name.
    pub(crate) name: &'a str,
    pub(crate) subresource: &'a str,
    pub(crate) dry_run: bool,
    /// `CreateOptions` and the like.
    pub(crate) options: &'a Value,
    /// `None` if the request is about the object as a whole.
    pub(crate) view: Option<&'a dyn View>,
    pub(crate) context: &'a Context,
}

/// What is to be done with the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

/// A subresource that is an object of another kind, such as a Scale.
pub(crate) trait View: Send + Sync {
    /// Its group, version and kind.
    fn kind(&self) -> [&'static str; 3];

    fn show(&self, object: &Object) -> Result<Value, Status>;

    /// Brings a changed view back into the object.
    fn take(&self, shown: &Value, object: &mut Object);
}

impl Attributes<'_> {
    /// Lets webhooks change `new` before it is judged. Objects are as the client sees them.
    pub(crate) async fn mutate(&self, old: Option<&Object>, new: Option<&mut Object>) -> Result<(), Status> {
        if self.is_exempt() { Ok(()) } else { mutating::run(self, old, new).await }
    }

    /// Lets webhooks refuse it.
    pub(crate) async fn validate(&self, old: Option<&Object>, new: Option<&Object>) -> Result<(), Status> {
        if self.is_exempt() { Ok(()) } else { validating::run(self, old, new).await }
    }

    /// Nobody shall be able to lock himself out.
    ///
    /// Source: apiserver `admission/plugin/webhook/predicates/rules.IsExemptAdmissionConfigurationResource`.
    fn is_exempt(&self) -> bool {
        self.kind.group == "admissionregistration.k8s.io"
    }

    /// What a webhook that asks for `kind` is shown of an object.
    pub(super) async fn show(&self, kind: &Kind, object: &Object) -> Result<Value, Status> {
        if let Some(view) = self.view {
            return view.show(object);
        }
        let shown = self.convert(kind, object.clone(), &kind.api_version()).await?;
        Ok(Value::Object(shown.0))
    }

    /// Takes what a webhook that was shown `kind` has made of the object.
    pub(super) async fn take(&self, kind: &Kind, changed: Value, object: &mut Object) -> Result<(), Status> {
        if let Some(view) = self.view {
            view.take(&changed, object);
            return Ok(());
        }
        let Value::Object(changed) = changed else {
            return Err(Status::internal_error("a webhook has made something of the object that is none"));
        };
        let mut changed = Object(changed);
        // It is what it was, whatever a webhook writes there.
        for (field, word) in [("apiVersion", kind.api_version()), ("kind", kind.kind.clone())] {
            changed.0.insert(field.into(), word.into());
        }
        *object = self.convert(kind, changed, &self.kind.api_version()).await?;
        Ok(())
    }

    /// Brings an object from the version of the client to that of a webhook, or back.
    async fn convert(&self, kind: &Kind, object: Object, api_version: &str) -> Result<Object, Status> {
        if object.str_at("/apiVersion") == api_version {
            return Ok(object);
        }
        // Of two rows that share their objects, only one may know how they differ.
        let knowing = if kind.converter.is_by_name() { self.kind } else { kind };
        knowing.convert(object, api_version).await
    }
}

impl Operation {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}
