//! What an event is about.

use std::sync::Arc;

use k8s_openapi::{api::core::v1::ObjectReference, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Resource, core::DynamicObject};

/// What events may be about: an object, an `Arc` of one as the cache gives it, a [`DynamicObject`] that says its kind, or an [`ObjectReference`].
///
/// `S` tells them apart and is inferred. Nobody else implements it.
///
/// Source: client-go `tools/reference.GetReference`.
#[diagnostic::on_unimplemented(message = "`{Self}` is nothing that an event can be about")]
pub trait Regarding<S>: sealed::Sealed<S> {
    /// How the event names it.
    fn reference(&self) -> ObjectReference;
}

mod sealed {
    #![allow(unreachable_pub, reason = "they stand in the signature of a public trait")]

    pub trait Sealed<S> {}
    #[derive(Debug)]
    pub enum Plain {}
    #[derive(Debug)]
    pub enum Shared {}
    #[derive(Debug)]
    pub enum Dynamic {}
    #[derive(Debug)]
    pub enum Reference {}
}

impl<K: Resource<DynamicType: Default>> sealed::Sealed<sealed::Plain> for K {}

impl<K: Resource<DynamicType: Default>> Regarding<sealed::Plain> for K {
    fn reference(&self) -> ObjectReference {
        typed(self)
    }
}

impl<K: Resource<DynamicType: Default>> sealed::Sealed<sealed::Shared> for Arc<K> {}

impl<K: Resource<DynamicType: Default>> Regarding<sealed::Shared> for Arc<K> {
    fn reference(&self) -> ObjectReference {
        typed(&**self)
    }
}

impl sealed::Sealed<sealed::Dynamic> for DynamicObject {}

impl Regarding<sealed::Dynamic> for DynamicObject {
    fn reference(&self) -> ObjectReference {
        let types = self.types.clone().unwrap_or_default();
        reference(types.api_version, types.kind, &self.metadata)
    }
}

impl sealed::Sealed<sealed::Reference> for ObjectReference {}

impl Regarding<sealed::Reference> for ObjectReference {
    fn reference(&self) -> ObjectReference {
        self.clone()
    }
}

/// kube's `object_ref` leaves out the version.
fn typed<K: Resource<DynamicType: Default>>(object: &K) -> ObjectReference {
    let dynamic = K::DynamicType::default();
    reference(K::api_version(&dynamic).into_owned(), K::kind(&dynamic).into_owned(), object.meta())
}

fn reference(api_version: String, kind: String, metadata: &ObjectMeta) -> ObjectReference {
    ObjectReference {
        api_version: Some(api_version),
        kind: Some(kind),
        name: metadata.name.clone(),
        namespace: metadata.namespace.clone(),
        resource_version: metadata.resource_version.clone(),
        uid: metadata.uid.clone(),
        ..ObjectReference::default()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;
    use kube::core::ApiResource;

    use super::*;

    fn metadata() -> ObjectMeta {
        ObjectMeta {
            name: Some("web".into()),
            namespace: Some("shop".into()),
            uid: Some("u1".into()),
            resource_version: Some("7".into()),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn an_object_is_named_in_one_way_whatever_its_type() {
        let typed = Deployment { metadata: metadata(), ..Deployment::default() };
        let mut dynamic = DynamicObject::new("web", &ApiResource::erase::<Deployment>(&()));
        dynamic.metadata = metadata();
        let expected = reference("apps/v1".into(), "Deployment".into(), &metadata());
        assert_eq!(typed.reference(), expected);
        assert_eq!(Arc::new(typed).reference(), expected);
        assert_eq!(dynamic.reference(), expected);
        assert_eq!(expected.reference(), expected);
    }
}
