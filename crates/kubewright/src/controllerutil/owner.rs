//! Owner references that the garbage collector accepts.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;

use crate::object::{Kind, Object, ObjectKey, Scope, group_of, scope_of};

/// An owner reference cannot be set or removed as asked.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum OwnerError {
    /// The garbage collector would never find the owner, and take it for gone.
    #[error(
        "cluster-scoped {object} must not have a namespace-scoped owner, owner's namespace {owner_namespace}"
    )]
    NamespacedOwnerOfClusterScoped {
        /// The object.
        object: String,
        /// Where the owner is.
        owner_namespace: String,
    },
    /// The garbage collector would look for the owner in the object's namespace, and take it for gone.
    #[error(
        "cross-namespace owner references are disallowed, owner's namespace {owner_namespace}, obj's namespace {object_namespace}"
    )]
    OtherNamespace {
        /// Where the owner is.
        owner_namespace: String,
        /// Where the object is.
        object_namespace: String,
    },
    /// An object has one controller at most.
    #[error("object {object} is already owned by another {owner_kind} controller {owner_name}")]
    AlreadyOwned {
        /// The object.
        object: String,
        /// The kind of the controller that it has.
        owner_kind: String,
        /// The name of the controller that it has.
        owner_name: String,
    },
    /// The owner has never been stored, so nothing can refer to it.
    #[error("the owner {0} has no uid: create it first")]
    NoUid(String),
    /// There is no such reference to remove.
    #[error("{object} does not have an owner reference for {owner}")]
    NotOwned {
        /// The object.
        object: String,
        /// The owner.
        owner: String,
    },
}

/// How an owner reference is written.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OwnerOptions {
    /// Whether a foreground deletion of the owner waits for the object.
    ///
    /// Default: `true` for controllers, unset for other owners.
    pub block_owner_deletion: Option<bool>,
}

impl OwnerOptions {
    /// Sets [`block_owner_deletion`](Self::block_owner_deletion).
    pub fn block_owner_deletion(block: bool) -> Self {
        Self { block_owner_deletion: Some(block) }
    }
}

/// Makes `owner` the controller of `object`: the object is deleted with it, and [`owns`](crate::controller::Builder::owns) reconciles it.
///
/// A reference to the same owner, in any version, is replaced.
///
/// # Errors
/// If another controller has the object, or if the garbage collector would not accept the reference.
///
/// Source: controller-runtime `controllerutil.SetControllerReference`.
///
/// # Differences from Go
/// An owner without a uid is refused, here and in the other functions that set a reference: the API server would not take the reference. For an
/// owner whose kind is known at run time only there is kube's `Resource::controller_owner_ref`, with the kind's
/// [`api_resource`](crate::object::Kind::api_resource).
pub fn set_controller_reference<O: Object, K: Resource<Scope: 'static>>(
    owner: &O,
    object: &mut K,
) -> Result<(), OwnerError> {
    set_controller_reference_with(owner, object, OwnerOptions::block_owner_deletion(true))
}

/// As [`set_controller_reference`], with options.
pub fn set_controller_reference_with<O: Object, K: Resource<Scope: 'static>>(
    owner: &O,
    object: &mut K,
    options: OwnerOptions,
) -> Result<(), OwnerError> {
    let reference = reference(owner, object, Some(true), options)?;
    let other =
        references(object).iter().find(|other| other.controller == Some(true) && !is_same(other, &reference));
    if let Some(other) = other {
        return Err(OwnerError::AlreadyOwned {
            object: ObjectKey::of(object).to_string(),
            owner_kind: other.kind.clone(),
            owner_name: other.name.clone(),
        });
    }
    upsert(object, reference);
    Ok(())
}

/// Makes `owner` one of the owners of `object`: the object is deleted when the last of them is gone.
///
/// # Errors
/// If the garbage collector would not accept the reference.
///
/// Source: controller-runtime `controllerutil.SetOwnerReference`.
pub fn set_owner_reference<O: Object, K: Resource<Scope: 'static>>(
    owner: &O,
    object: &mut K,
) -> Result<(), OwnerError> {
    set_owner_reference_with(owner, object, OwnerOptions { block_owner_deletion: None })
}

/// As [`set_owner_reference`], with options.
pub fn set_owner_reference_with<O: Object, K: Resource<Scope: 'static>>(
    owner: &O,
    object: &mut K,
    options: OwnerOptions,
) -> Result<(), OwnerError> {
    let reference = reference(owner, object, None, options)?;
    upsert(object, reference);
    Ok(())
}

/// Takes the reference to `owner` away.
///
/// # Errors
/// [`OwnerError::NotOwned`] if there is none.
pub fn remove_owner_reference<O: Object, K: Resource>(owner: &O, object: &mut K) -> Result<(), OwnerError> {
    remove(owner, object, |_| true)
}

/// Takes the reference to `owner` away if it is the controller.
///
/// # Errors
/// [`OwnerError::NotOwned`] if `owner` is not the controller.
pub fn remove_controller_reference<O: Object, K: Resource>(
    owner: &O,
    object: &mut K,
) -> Result<(), OwnerError> {
    remove(owner, object, |reference| reference.controller == Some(true))
}

/// Whether `object` has a controller.
pub fn has_controller_reference<K: Resource>(object: &K) -> bool {
    references(object).iter().any(|reference| reference.controller == Some(true))
}

/// Whether `owner` is one of the owners of `object`.
pub fn has_owner_reference<O: Object, K: Resource>(owner: &O, object: &K) -> bool {
    let wanted = reference_to(owner);
    references(object).iter().any(|reference| is_same(reference, &wanted))
}

fn reference<O: Object, K: Resource<Scope: 'static>>(
    owner: &O,
    object: &K,
    controller: Option<bool>,
    options: OwnerOptions,
) -> Result<OwnerReference, OwnerError> {
    check_namespaces(owner, object)?;
    let reference = reference_to(owner);
    if reference.uid.is_empty() {
        return Err(OwnerError::NoUid(ObjectKey::of(owner).to_string()));
    }
    Ok(OwnerReference { controller, block_owner_deletion: options.block_owner_deletion, ..reference })
}

fn reference_to<O: Object>(owner: &O) -> OwnerReference {
    let kind = Kind::of::<O>();
    OwnerReference {
        api_version: kind.api_version(),
        kind: kind.kind().to_owned(),
        name: owner.meta().name.clone().unwrap_or_default(),
        uid: owner.meta().uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    }
}

fn check_namespaces<O: Object, K: Resource<Scope: 'static>>(owner: &O, object: &K) -> Result<(), OwnerError> {
    let (owner, object_key) = (ObjectKey::of(owner), ObjectKey::of(object));
    match (owner.namespace(), object_key.namespace()) {
        (None, _) => Ok(()),
        (Some(namespace), None) if scope_of::<K>() == Scope::Cluster => {
            Err(OwnerError::NamespacedOwnerOfClusterScoped {
                object: object_key.to_string(),
                owner_namespace: namespace.to_owned(),
            })
        }
        (Some(namespace), object_namespace) if object_namespace == Some(namespace) => Ok(()),
        (Some(namespace), object_namespace) => Err(OwnerError::OtherNamespace {
            owner_namespace: namespace.to_owned(),
            object_namespace: object_namespace.unwrap_or_default().to_owned(),
        }),
    }
}

/// The same owner: group, kind and name are equal. The version may differ, and the uid, if the owner was created anew.
fn is_same(left: &OwnerReference, right: &OwnerReference) -> bool {
    left.kind == right.kind
        && left.name == right.name
        && group_of(&left.api_version) == group_of(&right.api_version)
}

fn upsert<K: Resource>(object: &mut K, reference: OwnerReference) {
    let references = object.meta_mut().owner_references.get_or_insert_default();
    match references.iter_mut().find(|other| is_same(other, &reference)) {
        Some(same) => *same = reference,
        None => references.push(reference),
    }
}

fn remove<O: Object, K: Resource>(
    owner: &O,
    object: &mut K,
    also: impl Fn(&OwnerReference) -> bool,
) -> Result<(), OwnerError> {
    let wanted = reference_to(owner);
    let before = references(object).len();
    if let Some(references) = &mut object.meta_mut().owner_references {
        references.retain(|reference| !(is_same(reference, &wanted) && also(reference)));
    }
    if references(object).len() == before {
        let (object, owner) = (ObjectKey::of(object).to_string(), ObjectKey::of(owner).to_string());
        return Err(OwnerError::NotOwned { object, owner });
    }
    Ok(())
}

fn references<K: Resource>(object: &K) -> &[OwnerReference] {
    object.meta().owner_references.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Namespace, Node},
    };
    use kube::core::ObjectMeta;

    use super::*;

    fn meta(namespace: &str, name: &str, uid: &str) -> ObjectMeta {
        ObjectMeta {
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            name: Some(name.to_owned()),
            uid: (!uid.is_empty()).then(|| uid.to_owned()),
            ..ObjectMeta::default()
        }
    }

    fn deployment(namespace: &str, name: &str) -> Deployment {
        Deployment { metadata: meta(namespace, name, "u"), ..Deployment::default() }
    }

    fn config(namespace: &str) -> ConfigMap {
        ConfigMap { metadata: meta(namespace, "child", ""), ..ConfigMap::default() }
    }

    #[test]
    fn a_controller_reference_names_controller_and_blocks_owner_deletion() {
        let mut child = config("a");
        set_controller_reference(&deployment("a", "web"), &mut child).unwrap();
        let reference = &child.metadata.owner_references.as_ref().unwrap()[0];
        assert_eq!((reference.api_version.as_str(), reference.kind.as_str()), ("apps/v1", "Deployment"));
        assert_eq!((reference.controller, reference.block_owner_deletion), (Some(true), Some(true)));
        assert!(has_controller_reference(&child));
        assert!(has_owner_reference(&deployment("a", "web"), &child));
    }

    #[test]
    fn setting_twice_replaces_and_a_second_controller_is_refused() {
        let mut child = config("a");
        let owner = deployment("a", "web");
        set_owner_reference(&owner, &mut child).unwrap();
        set_controller_reference_with(&owner, &mut child, OwnerOptions::block_owner_deletion(false)).unwrap();
        assert_eq!(references(&child).len(), 1);
        assert_eq!(references(&child)[0].block_owner_deletion, Some(false));
        let error = set_controller_reference(&deployment("a", "other"), &mut child).unwrap_err();
        assert_eq!(error.to_string(), "object a/child is already owned by another Deployment controller web");
        set_owner_reference(&deployment("a", "other"), &mut child).unwrap();
        assert_eq!(references(&child).len(), 2);
    }

    #[test]
    fn another_version_of_the_owner_is_the_same_owner() {
        let mut child = config("a");
        let owner = deployment("a", "web");
        set_controller_reference(&owner, &mut child).unwrap();
        child.metadata.owner_references.as_mut().unwrap()[0].api_version = "apps/v1beta1".to_owned();
        set_controller_reference(&owner, &mut child).unwrap();
        assert_eq!(references(&child).len(), 1);
        assert_eq!(references(&child)[0].api_version, "apps/v1");
    }

    #[test]
    fn owners_that_the_garbage_collector_would_miss_are_refused() {
        let owner = deployment("a", "web");
        assert!(matches!(
            set_owner_reference(&owner, &mut config("b")),
            Err(OwnerError::OtherNamespace { .. })
        ));
        let mut node = Node { metadata: meta("", "n", ""), ..Node::default() };
        assert!(matches!(
            set_owner_reference(&owner, &mut node),
            Err(OwnerError::NamespacedOwnerOfClusterScoped { .. })
        ));
        let cluster_scoped = Namespace { metadata: meta("", "n", "u"), ..Namespace::default() };
        set_owner_reference(&cluster_scoped, &mut config("b")).unwrap();
        let unsaved = Deployment { metadata: meta("a", "web", ""), ..Deployment::default() };
        assert!(matches!(set_owner_reference(&unsaved, &mut config("a")), Err(OwnerError::NoUid(_))));
    }

    #[test]
    fn references_are_removed_once() {
        let (owner, mut child) = (deployment("a", "web"), config("a"));
        set_owner_reference(&owner, &mut child).unwrap();
        assert!(matches!(remove_controller_reference(&owner, &mut child), Err(OwnerError::NotOwned { .. })));
        remove_owner_reference(&owner, &mut child).unwrap();
        assert!(matches!(remove_owner_reference(&owner, &mut child), Err(OwnerError::NotOwned { .. })));
    }
}
