//! The name under which an API server knows an object of one kind.

use std::{fmt, sync::Arc};

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
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    namespace: Option<Arc<str>>,
    name: Arc<str>,
}

impl ObjectKey {
    /// The key of a namespaced object.
    pub fn new(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self { namespace: Some(namespace.into()), name: name.into() }
    }

    /// The key of an object without a namespace.
    pub fn cluster_scoped(name: impl Into<Arc<str>>) -> Self {
        Self { namespace: None, name: name.into() }
    }

    /// The key of `object`; an object that has no name yet (`generateName`) gives an empty one.
    pub fn of<K: Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self {
            namespace: meta.namespace.as_deref().filter(|it| !it.is_empty()).map(Arc::from),
            name: meta.name.as_deref().unwrap_or_default().into(),
        }
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

    pub(crate) fn from_parts(namespace: Option<Arc<str>>, name: Arc<str>) -> Self {
        Self { namespace, name }
    }

    pub(crate) fn shared_namespace(&self) -> Option<&Arc<str>> {
        self.namespace.as_ref()
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
