//! Owner references.

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, ReplicaSet},
        core::v1::{ConfigMap, Namespace, Node, PersistentVolume},
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kubewright::{
    controllerutil::{
        OwnerError, OwnerOptions, has_controller_reference, has_owner_reference, remove_controller_reference,
        remove_owner_reference, set_controller_reference, set_controller_reference_with, set_owner_reference,
        set_owner_reference_with,
    },
    kube::core::ObjectMeta,
    object::Object,
};

fn meta(namespace: Option<&str>, name: &str, uid: Option<&str>) -> ObjectMeta {
    ObjectMeta {
        namespace: namespace.map(ToOwned::to_owned),
        name: Some(name.to_owned()),
        uid: uid.map(ToOwned::to_owned),
        ..ObjectMeta::default()
    }
}

fn replica_set() -> ReplicaSet {
    ReplicaSet { metadata: meta(Some("ns"), "rs", Some("foo-uid")), ..ReplicaSet::default() }
}

fn deployment(name: &str) -> Deployment {
    Deployment { metadata: meta(Some("ns"), name, Some("foo-uid")), ..Deployment::default() }
}

/// An object of the namespace `ns` with these references.
fn dependent(references: &[OwnerReference]) -> ConfigMap {
    let mut object = ConfigMap { metadata: meta(Some("ns"), "dependent", None), ..ConfigMap::default() };
    object.metadata.owner_references = (!references.is_empty()).then(|| references.to_vec());
    object
}

/// What `owner` looks like as a reference without flags.
fn plain(kind: &str, name: &str) -> OwnerReference {
    OwnerReference {
        api_version: "apps/v1".to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        uid: "foo-uid".to_owned(),
        controller: None,
        block_owner_deletion: None,
    }
}

fn controlling(kind: &str, name: &str) -> OwnerReference {
    OwnerReference { controller: Some(true), block_owner_deletion: Some(true), ..plain(kind, name) }
}

/// `object` has these references, in this order.
#[track_caller]
fn check<K: Object>(object: &K, references: &[OwnerReference]) {
    assert_eq!(object.meta().owner_references.as_deref().unwrap_or_default(), references);
}

mod set_owner {
    use super::*;

    #[test]
    fn it_sets_a_reference_on_an_empty_list() {
        let mut object = dependent(&[]);
        set_owner_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[plain("Deployment", "foo")]);
    }

    #[test]
    fn it_does_not_duplicate_owner_references() {
        let mut object = dependent(&[plain("Deployment", "foo")]);
        set_owner_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[plain("Deployment", "foo")]);
    }

    #[test]
    fn it_updates_the_reference_of_another_version_or_uid_in_its_place() {
        let old = OwnerReference {
            api_version: "apps/v1alpha1".into(),
            uid: "old".into(),
            ..plain("Deployment", "foo")
        };
        let other = plain("ReplicaSet", "foo");
        let mut object = dependent(&[old, other.clone()]);
        set_owner_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[plain("Deployment", "foo"), other]);
    }

    #[test]
    fn it_appends_a_second_owner() {
        let mut object = dependent(&[plain("Deployment", "foo")]);
        set_owner_reference(&deployment("bar"), &mut object).unwrap();
        set_owner_reference(&replica_set(), &mut object).unwrap();
        check(&object, &[plain("Deployment", "foo"), plain("Deployment", "bar"), plain("ReplicaSet", "rs")]);
    }

    #[test]
    fn another_group_with_the_same_kind_and_name_is_another_owner() {
        let foreign = OwnerReference { api_version: "example.com/v1".into(), ..plain("Deployment", "foo") };
        let mut object = dependent(std::slice::from_ref(&foreign));
        set_owner_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[foreign, plain("Deployment", "foo")]);
    }

    #[test]
    fn it_honours_the_block_owner_deletion_option() {
        for block in [true, false] {
            let mut object = dependent(&[plain("Deployment", "foo")]);
            let options = OwnerOptions::block_owner_deletion(block);
            set_owner_reference_with(&deployment("foo"), &mut object, options).unwrap();
            let wanted = OwnerReference { block_owner_deletion: Some(block), ..plain("Deployment", "foo") };
            check(&object, &[wanted]);
        }
    }
}

mod remove_and_has {
    use super::*;

    #[test]
    fn it_removes_the_owner_reference_and_leaves_the_others() {
        let mut object = dependent(&[plain("Deployment", "foo"), plain("Deployment", "bar")]);
        remove_owner_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[plain("Deployment", "bar")]);
        remove_owner_reference(&deployment("bar"), &mut object).unwrap();
        check(&object, &[]);
    }

    #[test]
    fn it_removes_the_owner_reference_that_set_controller_reference_made() {
        let mut object = dependent(&[]);
        set_controller_reference(&deployment("foo"), &mut object).unwrap();
        assert!(has_controller_reference(&object));
        assert!(has_owner_reference(&deployment("foo"), &object));
        remove_owner_reference(&deployment("foo"), &mut object).unwrap();
        assert!(!has_controller_reference(&object));
        check(&object, &[]);
    }

    #[test]
    fn it_removes_a_reference_of_another_version() {
        let old = OwnerReference { api_version: "apps/v1beta1".into(), ..plain("Deployment", "foo") };
        let mut object = dependent(&[old]);
        remove_owner_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[]);
    }

    #[test]
    fn it_errors_when_removing_a_reference_that_does_not_exist() {
        let mut object = dependent(&[plain("Deployment", "foo")]);
        let error = remove_owner_reference(&deployment("bar"), &mut object).unwrap_err();
        assert_eq!(error.to_string(), "ns/dependent does not have an owner reference for ns/bar");
        check(&object, &[plain("Deployment", "foo")]);
    }

    #[test]
    fn it_errors_when_removing_from_an_object_without_references() {
        let mut object = dependent(&[]);
        let error = remove_owner_reference(&deployment("foo"), &mut object).unwrap_err();
        assert!(matches!(error, OwnerError::NotOwned { .. }));
        check(&object, &[]);
    }

    #[test]
    fn it_removes_the_controller_reference() {
        let mut object = dependent(&[controlling("Deployment", "foo"), plain("Deployment", "bar")]);
        remove_controller_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[plain("Deployment", "bar")]);
    }

    #[test]
    fn it_errors_when_removing_a_controller_that_is_not_there() {
        for references in [
            vec![],
            vec![plain("Deployment", "foo")],
            vec![OwnerReference { controller: Some(false), ..plain("Deployment", "foo") }],
            // Somebody else is the controller.
            vec![plain("Deployment", "foo"), controlling("Deployment", "bar")],
        ] {
            let mut object = dependent(&references);
            let error = remove_controller_reference(&deployment("foo"), &mut object).unwrap_err();
            assert!(matches!(error, OwnerError::NotOwned { .. }), "{error}");
            check(&object, &references);
        }
    }

    #[test]
    fn it_tells_whether_there_is_a_controller() {
        assert!(!has_controller_reference(&dependent(&[])));
        assert!(!has_controller_reference(&dependent(&[plain("Deployment", "foo")])));
        let not = OwnerReference { controller: Some(false), ..plain("Deployment", "foo") };
        assert!(!has_controller_reference(&dependent(&[not])));
        let both = [plain("Deployment", "bar"), controlling("Deployment", "foo")];
        assert!(has_controller_reference(&dependent(&both)));
    }

    #[test]
    fn it_tells_whether_the_owner_is_one() {
        let object = dependent(&[plain("Deployment", "bar"), plain("Deployment", "foo")]);
        assert!(has_owner_reference(&deployment("foo"), &object));
        assert!(!has_owner_reference(&deployment("baz"), &object));
        assert!(!has_owner_reference(&replica_set(), &object));
        assert!(!has_owner_reference(&deployment("foo"), &dependent(&[])));
    }
}

mod set_controller {
    use super::*;

    #[test]
    fn it_sets_the_controller_of_an_object_without_one() {
        let mut object = dependent(&[]);
        set_controller_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[controlling("Deployment", "foo")]);
    }

    #[test]
    fn it_errors_if_another_controller_has_the_object() {
        let mut object = dependent(&[]);
        set_controller_reference(&replica_set(), &mut object).unwrap();
        let error = set_controller_reference(&deployment("foo"), &mut object).unwrap_err();
        assert_eq!(
            error.to_string(),
            "object ns/dependent is already owned by another ReplicaSet controller rs"
        );
        check(&object, &[controlling("ReplicaSet", "rs")]);
    }

    #[test]
    fn it_does_not_duplicate_an_existing_controller_reference() {
        let mut object = dependent(&[]);
        for _ in 0..2 {
            set_controller_reference(&deployment("foo"), &mut object).unwrap();
            check(&object, &[controlling("Deployment", "foo")]);
        }
    }

    #[test]
    fn it_replaces_the_owner_reference_of_the_same_owner() {
        let not = OwnerReference { controller: Some(false), ..plain("Deployment", "foo") };
        let mut object = dependent(&[not, plain("Deployment", "bar")]);
        set_controller_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[controlling("Deployment", "foo"), plain("Deployment", "bar")]);
    }

    #[test]
    fn it_replaces_the_reference_to_an_owner_of_another_version_or_uid() {
        let old = OwnerReference {
            api_version: "apps/v1beta1".into(),
            uid: "old".into(),
            ..controlling("Deployment", "foo")
        };
        let mut object = dependent(&[old]);
        set_controller_reference(&deployment("foo"), &mut object).unwrap();
        check(&object, &[controlling("Deployment", "foo")]);
    }

    #[test]
    fn it_honours_the_block_owner_deletion_option() {
        let mut object = dependent(&[]);
        let options = OwnerOptions::block_owner_deletion(false);
        set_controller_reference_with(&deployment("foo"), &mut object, options).unwrap();
        check(
            &object,
            &[OwnerReference { block_owner_deletion: Some(false), ..controlling("Deployment", "foo") }],
        );
    }
}

/// The rules hold for owners and controllers alike.
mod scope {
    use super::*;

    #[track_caller]
    fn check_both<O: Object, K: Object>(owner: &O, object: &K, error: Option<&str>) {
        let result = set_owner_reference(owner, &mut object.clone());
        assert_eq!(result.map_err(|error| error.to_string()).err().as_deref(), error);
        let result = set_controller_reference(owner, &mut object.clone());
        assert_eq!(result.map_err(|error| error.to_string()).err().as_deref(), error);
    }

    #[test]
    fn a_cross_namespace_owner_is_an_error() {
        let object = ConfigMap { metadata: meta(Some("other"), "dependent", None), ..ConfigMap::default() };
        check_both(
            &deployment("foo"),
            &object,
            Some(
                "cross-namespace owner references are disallowed, owner's namespace ns, obj's namespace other",
            ),
        );
    }

    #[test]
    fn a_namespaced_owner_of_a_cluster_scoped_object_is_an_error() {
        let volume = PersistentVolume { metadata: meta(None, "pv", None), ..PersistentVolume::default() };
        check_both(
            &deployment("foo"),
            &volume,
            Some("cluster-scoped pv must not have a namespace-scoped owner, owner's namespace ns"),
        );
    }

    #[test]
    fn a_cluster_scoped_owner_may_own_anything() {
        let node = Node { metadata: meta(None, "node", Some("foo-uid")), ..Node::default() };
        check_both(&node, &dependent(&[]), None);
        check_both(&node, &Namespace { metadata: meta(None, "n", None), ..Namespace::default() }, None);
    }

    #[test]
    fn an_owner_of_the_same_namespace_may_own() {
        check_both(&deployment("foo"), &dependent(&[]), None);
    }

    /// A difference from Go that its docs name.
    #[test]
    fn an_owner_that_was_never_stored_is_an_error() {
        let unsaved = Deployment { metadata: meta(Some("ns"), "foo", None), ..Deployment::default() };
        check_both(&unsaved, &dependent(&[]), Some("the owner ns/foo has no uid: create it first"));
    }
}
