//! A kind as the API server serves it: group, version, plural, scope, and the form in which we ask for it.

use std::{
    any::TypeId,
    fmt,
    sync::{Arc, LazyLock},
};

use hashbrown::HashMap;
use k8s_openapi::ClusterResourceScope;
use kube::{
    Resource,
    core::discovery::{self, ApiCapabilities, ApiResource},
};
use parking_lot::RwLock;
use serde::de::DeserializeOwned;

use super::ObjectKey;

/// A type that kubewright can watch, read and write: any `k8s_openapi` kind, any `#[derive(CustomResource)]`, and
/// [`PartialObjectMeta`](kube::core::PartialObjectMeta) of either.
///
/// Implemented for every type that fits; nobody writes it by hand. A type that is not the one type of its kind, such as
/// [`DynamicObject`](kube::core::DynamicObject), is a [`View`] and needs a [`Kind`] beside it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a Kubernetes kind",
    note = "the type of a kind is a `k8s_openapi` struct, or one made by `#[derive(CustomResource)]`",
    note = "where a type can stand for several kinds, as `DynamicObject` does, use the functions that take a `Kind`"
)]
pub trait Object: Resource<DynamicType: Default, Scope: 'static> + View + Clone + fmt::Debug {}

impl<K> Object for K where K: Resource<DynamicType: Default, Scope: 'static> + View + Clone + fmt::Debug {}

/// A type that objects can be read as: an [`Object`], a [`DynamicObject`](kube::core::DynamicObject), or a struct of the fields that a reader
/// needs.
///
/// All views of a kind share one watch and one store, as long as they ask for the same [`Form`]. Implemented for every type that fits.
#[diagnostic::on_unimplemented(
    message = "objects cannot be read as `{Self}`",
    note = "derive `serde::Deserialize` for it"
)]
pub trait View: DeserializeOwned + Send + Sync + 'static {}

impl<V: DeserializeOwned + Send + Sync + 'static> View for V {}

/// Whether objects of a kind live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In a namespace each, like a Pod.
    Namespaced,
    /// Beside all namespaces, like a Node.
    Cluster,
}

/// How much of each object the API server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The whole object.
    Full,
    /// `metadata` alone (`PartialObjectMetadata`): the server leaves out the rest.
    Metadata,
}

/// A kind, its place in the API server's paths, its scope and the [`Form`] in which it is asked for.
///
/// One cache informer exists per `Kind`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Kind {
    names: Arc<Names>,
    scope: Scope,
    form: Form,
}

#[derive(PartialEq, Eq, Hash)]
struct Names {
    group: String,
    version: String,
    kind: String,
    plural: String,
}

impl Kind {
    /// The kind of a Rust type.
    pub fn of<K: Object>() -> Self {
        static KNOWN: LazyLock<RwLock<HashMap<TypeId, Kind>>> = LazyLock::new(RwLock::default);
        // What a type says of itself never changes, and every read of the cache asks for it.
        if let Some(kind) = KNOWN.read().get(&TypeId::of::<K>()) {
            return kind.clone();
        }
        // A type's functions are its author's code, which may ask for kinds itself: they run outside of the lock.
        let described = Self::describe::<K>();
        KNOWN.write().entry(TypeId::of::<K>()).or_insert(described).clone()
    }

    /// A kind that is known at run time only. Among typed kinds it is the same kind, with the same informer, if all names are.
    ///
    /// # Example: ask the API server for a kind
    /// ```
    /// # use kubewright::kube::{self, core::GroupVersionKind};
    /// use kubewright::object::{Kind, Scope};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), kube::Error> {
    /// # let client = kubewright_testing::TestEnv::start().await.kube();
    /// let deployment = GroupVersionKind::gvk("apps", "v1", "Deployment");
    /// let kind = Kind::from(kube::discovery::pinned_kind(&client, &deployment).await?);
    ///
    /// assert_eq!((kind.plural(), kind.scope()), ("deployments", Scope::Namespaced));
    /// assert_eq!(kind, Kind::of::<k8s_openapi::api::apps::v1::Deployment>());
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(resource: ApiResource, scope: Scope) -> Self {
        let ApiResource { group, version, kind, plural, .. } = resource;
        Self { names: Arc::new(Names { group, version, kind, plural }), scope, form: Form::Full }
    }

    /// The same kind, of whose objects the API server sends the metadata alone.
    #[must_use]
    pub fn metadata_only(mut self) -> Self {
        self.form = Form::Metadata;
        self
    }

    fn describe<K: Object>() -> Self {
        let dynamic = K::DynamicType::default();
        let names = Names {
            group: K::group(&dynamic).into_owned(),
            version: K::version(&dynamic).into_owned(),
            kind: K::kind(&dynamic).into_owned(),
            plural: K::plural(&dynamic).into_owned(),
        };
        let form = if K::metadata_api() { Form::Metadata } else { Form::Full };
        Self { names: Arc::new(names), scope: scope_of::<K>(), form }
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        &self.names.group
    }

    /// The version inside the group, as in `v1`.
    pub fn version(&self) -> &str {
        &self.names.version
    }

    /// Group and version, as `apiVersion` has them.
    pub fn api_version(&self) -> String {
        let Names { group, version, .. } = &*self.names;
        if group.is_empty() { version.clone() } else { format!("{group}/{version}") }
    }

    /// The kind's name, as in `Pod`.
    pub fn kind(&self) -> &str {
        &self.names.kind
    }

    /// The resource's name in paths, as in `pods`.
    pub fn plural(&self) -> &str {
        &self.names.plural
    }

    /// The names as kube has them: for `DynamicObject::new`, and for `Resource::controller_owner_ref` of an owner that is a `DynamicObject`.
    pub fn api_resource(&self) -> ApiResource {
        let Names { group, version, kind, plural } = &*self.names;
        ApiResource {
            group: group.clone(),
            version: version.clone(),
            api_version: self.api_version(),
            kind: kind.clone(),
            plural: plural.clone(),
        }
    }

    /// Namespaced or cluster-scoped.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The key under which an object of this kind is known: a namespace given to a cluster-scoped kind is ignored.
    ///
    /// Source: controller-runtime's `CacheReader.Get`, client-go's `NamespaceIfScoped`.
    pub fn key(&self, key: &ObjectKey) -> ObjectKey {
        match self.scope {
            Scope::Cluster => key.without_namespace(),
            Scope::Namespaced => key.clone(),
        }
    }

    /// Whole objects or metadata alone.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whether both name the same objects, in whatever version and form they are asked for.
    pub(crate) fn is_same_resource(&self, other: &Self) -> bool {
        self.group() == other.group() && self.plural() == other.plural()
    }

    /// The path of the collection: of one namespace, or of all (`None` or empty, and always for cluster-scoped kinds).
    pub(crate) fn collection_path(&self, namespace: Option<&str>) -> String {
        let Names { group, version, plural, .. } = &*self.names;
        let root =
            if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        match (self.scope, namespace.filter(|namespace| !namespace.is_empty())) {
            (Scope::Namespaced, Some(namespace)) => format!("{root}/namespaces/{namespace}/{plural}"),
            _ => format!("{root}/{plural}"),
        }
    }
}

impl From<(ApiResource, ApiCapabilities)> for Kind {
    /// What kube's discovery says of a kind.
    fn from((resource, capabilities): (ApiResource, ApiCapabilities)) -> Self {
        let scope = match capabilities.scope {
            discovery::Scope::Cluster => Scope::Cluster,
            discovery::Scope::Namespaced => Scope::Namespaced,
        };
        Self::new(resource, scope)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        if !self.group().is_empty() {
            write!(f, ".{}", self.group())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({}, {:?}, {:?})", self.version(), self.scope, self.form)
    }
}

/// The group of an `apiVersion`; empty for the core group.
pub(crate) fn group_of(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _version)| group)
}

/// Where objects of a type live. A type that can stand for several kinds counts as namespaced.
pub(crate) fn scope_of<K: Resource<Scope: 'static>>() -> Scope {
    if TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>() {
        Scope::Cluster
    } else {
        Scope::Namespaced
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Node};
    use kube::core::PartialObjectMeta;

    use super::*;

    #[test]
    fn paths_follow_group_and_scope() {
        let deployment = Kind::of::<Deployment>();
        assert_eq!(deployment.collection_path(None), "/apis/apps/v1/deployments");
        assert_eq!(deployment.collection_path(Some("a")), "/apis/apps/v1/namespaces/a/deployments");
        let node = Kind::of::<Node>();
        assert_eq!(node.collection_path(Some("ignored")), "/api/v1/nodes");
        assert_eq!(node.scope(), Scope::Cluster);
        assert_eq!(deployment.collection_path(Some("")), "/apis/apps/v1/deployments");
        assert_eq!(node.key(&ObjectKey::new("ignored", "n")), ObjectKey::cluster_scoped("n"));
    }

    #[test]
    fn a_kind_goes_through_the_names_that_kube_has_for_it() {
        let deployment = Kind::of::<Deployment>();
        assert_eq!(deployment.api_resource(), ApiResource::erase::<Deployment>(&()));
        assert_eq!(Kind::new(deployment.api_resource(), deployment.scope()), deployment);
    }

    #[test]
    fn metadata_is_another_form_of_the_same_kind() {
        let metadata = Kind::of::<PartialObjectMeta<Deployment>>();
        assert_eq!(metadata.form(), Form::Metadata);
        assert_eq!(metadata.to_string(), "Deployment.apps");
        assert_eq!(metadata.scope(), Scope::Namespaced);
    }
}
