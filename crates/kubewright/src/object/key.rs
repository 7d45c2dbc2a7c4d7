//! The name under which an API server knows an object of one kind.

use std::{fmt, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

/// Namespace and name of an object; cluster-scoped objects have no namespace.
///
/// Cheap to clone (two reference counts): the cache hands its own key on to the queue, and the queue to the reconciler, without
/// copying a string.
///
/// Source: apimachinery `types.NamespacedName`.
///
/// # Example: the two scopes
/// ```
/// use kubewright::object::ObjectKey;
///
/// assert_eq!(ObjectKey::new("shop", "web").to_string(), "shop/web");
/// assert_eq!(ObjectKey::cluster_scoped("node-1").to_string(), "node-1");
/// assert_eq!(ObjectKey::new("", "node-1"), ObjectKey::cluster_scoped("node-1"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    namespace: Option<Arc<str>>,
    name: Arc<str>,
}

impl ObjectKey {
    /// The key of a namespaced object; with an empty namespace that of a cluster-scoped one, as in Go.
    pub fn new(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self::from_parts(Some(namespace.into()), name.into())
    }

    /// The key of an object without a namespace.
    pub fn cluster_scoped(name: impl Into<Arc<str>>) -> Self {
        Self { namespace: None, name: name.into() }
    }

    /// The key of an object, or of one behind an `Arc`; an object that has no name yet (`generateName`) gives an empty one.
    pub fn of<S>(object: &impl Keyed<S>) -> Self {
        let meta = object.metadata();
        Self::from_parts(
            meta.namespace.as_deref().map(Arc::from),
            meta.name.as_deref().unwrap_or_default().into(),
        )
    }

    /// The namespace, or `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key of another object in the same namespace; cluster-scoped if this one is.
    pub fn sibling(&self, name: impl AsRef<str>) -> Self {
        Self { namespace: self.namespace.clone(), name: name.as_ref().into() }
    }

    /// One object has one key: an empty namespace is none.
    pub(crate) fn from_parts(namespace: Option<Arc<str>>, name: Arc<str>) -> Self {
        Self { namespace: namespace.filter(|namespace| !namespace.is_empty()), name }
    }

    /// The same name, beside all namespaces.
    pub(crate) fn without_namespace(&self) -> Self {
        Self { namespace: None, name: Arc::clone(&self.name) }
    }

    pub(crate) fn shared_namespace(&self) -> Option<&Arc<str>> {
        self.namespace.as_ref()
    }
}

/// What [`ObjectKey::of`] takes: an object, or an `Arc` of one, as the cache gives it. `S` tells the two apart and is inferred.
#[diagnostic::on_unimplemented(message = "`{Self}` has no Kubernetes metadata to make a key of")]
pub trait Keyed<S>: sealed::Sealed<S> {
    /// The object's metadata.
    fn metadata(&self) -> &ObjectMeta;
}

/// Nobody else implements [`Keyed`]: its second parameter only keeps an object apart from an `Arc` of one.
mod sealed {
    pub trait Sealed<S> {}
    #[derive(Debug)]
    pub enum Plain {}
    #[derive(Debug)]
    pub enum Shared {}
}

impl<K: Resource> sealed::Sealed<sealed::Plain> for K {}

impl<K: Resource> Keyed<sealed::Plain> for K {
    fn metadata(&self) -> &ObjectMeta {
        self.meta()
    }
}

impl<K: Resource> sealed::Sealed<sealed::Shared> for Arc<K> {}

impl<K: Resource> Keyed<sealed::Shared> for Arc<K> {
    fn metadata(&self) -> &ObjectMeta {
        self.meta()
    }
}

impl From<&ObjectKey> for ObjectKey {
    fn from(key: &ObjectKey) -> Self {
        key.clone()
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    #[test]
    fn an_object_has_one_key_however_it_is_spelled() {
        let cluster_scoped = ObjectKey::cluster_scoped("a");
        assert_eq!(ObjectKey::new("", "a"), cluster_scoped);
        assert_eq!(ObjectKey::from_parts(Some("".into()), "a".into()), cluster_scoped);
        assert_eq!(ObjectKey::new("n", "a").without_namespace(), cluster_scoped);
        let name = |namespace: &str| ObjectMeta {
            namespace: Some(namespace.into()),
            name: Some("a".into()),
            ..ObjectMeta::default()
        };
        let object = ConfigMap { metadata: name(""), ..ConfigMap::default() };
        assert_eq!(ObjectKey::of(&object), cluster_scoped);
        let shared = Arc::new(ConfigMap { metadata: name("n"), ..ConfigMap::default() });
        assert_eq!(ObjectKey::of(&shared), ObjectKey::new("n", "a"));
    }
}
