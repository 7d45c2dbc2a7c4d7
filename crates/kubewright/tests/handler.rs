//! Which requests an event becomes: the rows of controller-runtime's `pkg/handler`.
//!
//! | rows without a test | why |
//! |---|---|
//! | `EnqueueRequestForObject` for an event without an object | an [`Observed`](kubewright::event::Observed) is never nil, and an update has both of its states |
//! | `EnqueueRequestForOwner`: nil object, nil type, a type that the scheme does not know | the owner is a type parameter |
//! | low priority: a plain queue is left as it is | there is one queue, and it has priorities |

#![allow(clippy::unwrap_used, reason = "these are tests, though not each function is marked as one")]

mod common;

use std::time::Duration;

use common::{
    Journal,
    events::{create, delete, generic, handled, initial, pod, resync, tombstone, update},
};
use k8s_openapi::{
    api::{
        apps::v1::ReplicaSet,
        core::v1::{Node, Pod, Service},
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kubewright::{
    event::Event,
    handler::{
        EventHandler, LOW_PRIORITY, Requests, enqueue_mapped, enqueue_mapped_async,
        enqueue_request_for_object, enqueue_request_for_owner,
    },
    reconcile::Request,
    workqueue::AddOptions,
};

/// `handler` makes these requests of `event`, in this order, and no other.
#[track_caller]
fn check(handler: &impl EventHandler<Pod>, event: &Event<Pod>, wanted: &[&str]) {
    let requests: Vec<_> =
        handled(handler, event).into_iter().map(|(request, _)| request.to_string()).collect();
    assert_eq!(requests, wanted, "{event:?}");
}

mod object {
    use super::*;

    #[test]
    fn the_object_of_a_create_update_delete_and_generic_event_is_enqueued() {
        let (foo, bar) = (pod("foo"), pod("bar"));
        let handler = enqueue_request_for_object();
        check(&handler, &initial(&foo), &["biz/foo"]);
        check(&handler, &create(&foo), &["biz/foo"]);
        check(&handler, &update(&foo, &foo), &["biz/foo"]);
        check(&handler, &delete(&foo), &["biz/foo"]);
        check(&handler, &tombstone(&foo), &["biz/foo"]);
        check(&handler, &generic(&foo), &["biz/foo"]);
        // The key of an object does not change; the new state is what counts.
        check(&handler, &update(&foo, &bar), &["biz/bar"]);
    }
}

mod map_func {
    use super::*;

    /// Two requests that the object has nothing to do with.
    fn constant(_: &Pod) -> [Request; 2] {
        [Request::new("foo", "bar"), Request::new("biz", "baz")]
    }

    fn names(pod: &Pod) -> Vec<Request> {
        let name = pod.metadata.name.as_deref().unwrap();
        ["bar", "baz"].map(|suffix| Request::of(pod).sibling(format!("{name}-{suffix}"))).to_vec()
    }

    #[test]
    fn the_requests_of_the_function_are_enqueued_for_create_delete_and_generic_events() {
        let foo = pod("foo");
        for event in [initial(&foo), create(&foo), delete(&foo), tombstone(&foo), generic(&foo)] {
            check(&enqueue_mapped(constant), &event, &["foo/bar", "biz/baz"]);
        }
    }

    #[test]
    fn an_update_is_mapped_from_both_objects() {
        let event = update(&pod("old"), &pod("new"));
        check(&enqueue_mapped(names), &event, &["biz/old-bar", "biz/old-baz", "biz/new-bar", "biz/new-baz"]);
    }

    #[test]
    fn equal_requests_of_one_event_are_one() {
        let twice = |_: &Pod| vec![Request::new("a", "b"), Request::new("a", "c"), Request::new("a", "b")];
        check(&enqueue_mapped(twice), &create(&pod("foo")), &["a/b", "a/c"]);
        check(&enqueue_mapped(twice), &update(&pod("foo"), &pod("foo")), &["a/b", "a/c"]);
    }

    #[test]
    fn no_request_is_nothing_to_do() {
        check(&enqueue_mapped(|_: &Pod| None::<Request>), &create(&pod("foo")), &[]);
    }

    #[test]
    fn a_function_that_waits_is_waited_for_and_maps_both_objects_of_an_update() {
        let slow = enqueue_mapped_async(|pod: std::sync::Arc<Pod>| async move {
            tokio::time::advance(Duration::from_secs(1)).await;
            names(&pod)
        });
        check(&slow, &create(&pod("foo")), &["biz/foo-bar", "biz/foo-baz"]);
        check(&slow, &update(&pod("foo"), &pod("foo")), &["biz/foo-bar", "biz/foo-baz"]);
        let event = update(&pod("old"), &pod("new"));
        check(&slow, &event, &["biz/old-bar", "biz/old-baz", "biz/new-bar", "biz/new-baz"]);
    }

    #[test]
    fn requests_may_be_of_any_type() {
        let lengths = enqueue_mapped(|pod: &Pod| [pod.metadata.name.as_ref().map_or(0, String::len)]);
        assert_eq!(handled(&lengths, &update(&pod("a"), &pod("abc"))), [(1, 0), (3, 0)]);
    }
}

mod owner {
    use super::*;

    fn owned_by(references: &[OwnerReference]) -> Pod {
        let mut pod = pod("child");
        pod.metadata.owner_references = Some(references.to_vec());
        pod
    }

    fn reference(api_version: &str, kind: &str, name: &str) -> OwnerReference {
        let (api_version, kind, name) = (api_version.to_owned(), kind.to_owned(), name.to_owned());
        OwnerReference { api_version, kind, name, ..OwnerReference::default() }
    }

    fn replica_set(name: &str) -> OwnerReference {
        reference("apps/v1", "ReplicaSet", name)
    }

    fn controller(name: &str) -> OwnerReference {
        OwnerReference { controller: Some(true), ..replica_set(name) }
    }

    #[test]
    fn the_owner_of_the_object_of_a_create_delete_and_generic_event_is_enqueued() {
        let child = owned_by(&[replica_set("foo-parent")]);
        for event in [initial(&child), create(&child), delete(&child), tombstone(&child), generic(&child)] {
            check(&enqueue_request_for_owner::<ReplicaSet>(), &event, &["biz/foo-parent"]);
        }
    }

    #[test]
    fn an_update_enqueues_the_owners_of_both_objects() {
        let event =
            update(&owned_by(&[replica_set("foo1-parent")]), &owned_by(&[replica_set("foo2-parent")]));
        check(&enqueue_request_for_owner::<ReplicaSet>(), &event, &["biz/foo1-parent", "biz/foo2-parent"]);
    }

    #[test]
    fn an_update_with_the_same_owner_in_both_objects_enqueues_it_once() {
        let child = owned_by(&[replica_set("foo-parent")]);
        check(&enqueue_request_for_owner::<ReplicaSet>(), &update(&child, &child), &["biz/foo-parent"]);
    }

    #[test]
    fn a_lost_owner_hears_of_the_update_that_took_the_object_away() {
        let event = update(&owned_by(&[replica_set("foo-parent")]), &pod("child"));
        check(&enqueue_request_for_owner::<ReplicaSet>(), &event, &["biz/foo-parent"]);
    }

    #[test]
    fn which_references_are_owners_of_the_kind() {
        #[track_caller]
        fn check_reference(reference: OwnerReference, wanted: &[&str]) {
            check(&enqueue_request_for_owner::<ReplicaSet>(), &create(&owned_by(&[reference])), wanted);
        }
        // The group and kind match, whatever the version.
        check_reference(reference("apps/v1", "ReplicaSet", "parent"), &["biz/parent"]);
        check_reference(reference("apps/v2", "ReplicaSet", "parent"), &["biz/parent"]);
        // The group does not match.
        check_reference(reference("extensions/v1", "ReplicaSet", "parent"), &[]);
        check_reference(reference("v1", "ReplicaSet", "parent"), &[]);
        // The kind does not match.
        check_reference(reference("apps/v1", "Deployment", "parent"), &[]);
        // The APIVersion is invalid.
        check_reference(reference("apps/v1/fail", "ReplicaSet", "parent"), &[]);
        check_reference(reference("", "ReplicaSet", "parent"), &[]);
        // The core group has no name.
        let of_service = owned_by(&[reference("v1", "Service", "parent")]);
        check(&enqueue_request_for_owner::<Service>(), &create(&of_service), &["biz/parent"]);
    }

    #[test]
    fn an_invalid_api_version_hides_no_other_owner() {
        let child = owned_by(&[reference("a/b/c", "ReplicaSet", "broken"), replica_set("whole")]);
        check(&enqueue_request_for_owner::<ReplicaSet>(), &create(&child), &["biz/whole"]);
    }

    #[test]
    fn a_cluster_scoped_owner_is_enqueued_without_a_namespace() {
        let child = owned_by(&[reference("v1", "Node", "node-1")]);
        let handler = enqueue_request_for_owner::<Node>();
        check(&handler, &create(&child), &["node-1"]);
        assert_eq!(handled(&handler, &create(&child)), [(Request::cluster_scoped("node-1"), 0)]);
    }

    #[test]
    fn requests_of_another_type_are_made_of_the_owners_keys() {
        let event =
            update(&owned_by(&[replica_set("foo1-parent")]), &owned_by(&[replica_set("foo2-parent")]));
        let handler =
            enqueue_request_for_owner::<ReplicaSet>().as_requests(|key| ("east", key.name().to_owned()));
        let requests: Vec<_> = handled(&handler, &event).into_iter().map(|(request, _)| request).collect();
        assert_eq!(requests, [("east", "foo1-parent".to_owned()), ("east", "foo2-parent".to_owned())]);
    }

    #[test]
    fn an_object_without_owners_enqueues_nothing() {
        check(&enqueue_request_for_owner::<ReplicaSet>(), &create(&pod("orphan")), &[]);
        check(&enqueue_request_for_owner::<ReplicaSet>(), &create(&owned_by(&[])), &[]);
    }

    #[test]
    fn all_owners_of_the_kind_are_enqueued() {
        let child = owned_by(&[
            replica_set("foo-parent"),
            reference("apps/v1", "Deployment", "other-kind"),
            controller("bar-parent"),
            replica_set("baz-parent"),
        ]);
        let wanted = ["biz/foo-parent", "biz/bar-parent", "biz/baz-parent"];
        check(&enqueue_request_for_owner::<ReplicaSet>(), &create(&child), &wanted);
    }

    #[test]
    fn with_only_controller_owner_the_controller_alone_is_enqueued() {
        let handler = enqueue_request_for_owner::<ReplicaSet>().only_controller_owner();
        let first = owned_by(&[controller("foo-parent"), replica_set("bar-parent")]);
        check(&handler, &create(&first), &["biz/foo-parent"]);
        let second = owned_by(&[replica_set("foo-parent"), controller("bar-parent")]);
        check(&handler, &create(&second), &["biz/bar-parent"]);
        let not = OwnerReference { controller: Some(false), ..replica_set("baz-parent") };
        check(&handler, &create(&owned_by(&[replica_set("foo-parent"), not])), &[]);
        check(&handler, &create(&pod("orphan")), &[]);
    }
}

mod funcs {
    use super::*;

    /// A handler that speaks of one type of event is what upstream's `Funcs` with one function set is.
    #[test]
    fn a_function_is_called_for_each_event_with_the_object_and_the_queue() {
        let journal = Journal::default();
        let log = journal.clone();
        let handler = move |event: &Event<Pod>, requests: &Requests<'_, Request>| {
            log.write(match event {
                Event::Create { object, is_in_initial_list } => {
                    format!("create {:?}, initial: {is_in_initial_list}", object.key())
                }
                Event::Update { object_old, object_new } => {
                    format!("update {:?} to {:?}", object_old.key(), object_new.key())
                }
                Event::Delete { object, delete_state_unknown } => {
                    format!("delete {:?}, unknown: {delete_state_unknown}", object.key())
                }
                Event::Generic { object } => format!("generic {:?}", object.key()),
            });
            requests.add(Request::new("called", "yes"));
        };
        let foo = pod("foo");
        for event in [create(&foo), update(&foo, &pod("bar")), tombstone(&foo), generic(&foo)] {
            check(&handler, &event, &["called/yes"]);
        }
        assert_eq!(
            journal.lines(),
            [
                "create biz/foo, initial: false",
                "update biz/foo to biz/bar",
                "delete biz/foo, unknown: true",
                "generic biz/foo",
            ]
        );
    }

    #[test]
    fn what_a_function_does_not_speak_of_is_not_enqueued() {
        let on_delete = |event: &Event<Pod>, requests: &Requests<'_, Request>| {
            if let Event::Delete { object, .. } = event {
                requests.add(object.key().clone());
            }
        };
        let foo = pod("foo");
        check(&on_delete, &delete(&foo), &["biz/foo"]);
        for event in [initial(&foo), create(&foo), update(&foo, &foo), generic(&foo)] {
            check(&on_delete, &event, &[]);
        }
    }
}

mod low_priority {
    use super::*;

    fn owned() -> Pod {
        let mut pod = pod("child");
        pod.metadata.owner_references = Some(vec![OwnerReference {
            api_version: "apps/v1".into(),
            kind: "ReplicaSet".into(),
            name: "parent".into(),
            controller: Some(true),
            ..OwnerReference::default()
        }]);
        pod
    }

    fn key() -> Request {
        Request::new("biz", "key")
    }

    /// One request of each type of event, and its priority.
    #[track_caller]
    fn check_priorities(handler: &impl EventHandler<Pod>, unchanged: i32, changed: i32) {
        #[track_caller]
        fn priority(handler: &impl EventHandler<Pod>, event: &Event<Pod>, wanted: i32, case: &str) {
            let priorities: Vec<_> =
                handled(handler, event).into_iter().map(|(_, priority)| priority).collect();
            assert_eq!(priorities, [wanted], "{case}");
        }
        let child = owned();
        priority(handler, &initial(&child), unchanged, "a create of the initial list is lowered");
        priority(handler, &create(&child), changed, "a later create is not");
        priority(
            handler,
            &resync(&child),
            unchanged,
            "an update with an unchanged resourceVersion is lowered",
        );
        priority(handler, &update(&child, &child), changed, "an update with another resourceVersion is not");
        priority(handler, &delete(&child), changed, "a delete is not");
        priority(handler, &tombstone(&child), changed, "a tombstone is not");
        priority(handler, &generic(&child), changed, "a generic event is not");
    }

    #[test]
    fn of_the_handlers_that_ship() {
        check_priorities(&enqueue_request_for_object(), LOW_PRIORITY, 0);
        check_priorities(&enqueue_request_for_owner::<ReplicaSet>(), LOW_PRIORITY, 0);
        check_priorities(&enqueue_request_for_owner::<ReplicaSet>().only_controller_owner(), LOW_PRIORITY, 0);
        check_priorities(&enqueue_mapped(|_: &Pod| [key()]), LOW_PRIORITY, 0);
        check_priorities(&enqueue_mapped_async(|_: std::sync::Arc<Pod>| async { [key()] }), LOW_PRIORITY, 0);
    }

    #[test]
    fn of_what_a_function_adds_without_a_priority() {
        let add = |_: &Event<Pod>, requests: &Requests<'_, Request>| requests.add(key());
        check_priorities(&add, LOW_PRIORITY, 0);
        let add_after = |_: &Event<Pod>, requests: &Requests<'_, Request>| {
            requests.add_after(key(), Duration::from_secs(1));
        };
        check_priorities(&add_after, LOW_PRIORITY, 0);
        let add_rate_limited =
            |_: &Event<Pod>, requests: &Requests<'_, Request>| requests.add_rate_limited(key());
        check_priorities(&add_rate_limited, LOW_PRIORITY, 0);
        let add_with = |_: &Event<Pod>, requests: &Requests<'_, Request>| {
            requests.add_with(requests.options().after(Duration::from_secs(1)), [key()]);
        };
        check_priorities(&add_with, LOW_PRIORITY, 0);
    }

    #[test]
    fn add_with_keeps_an_explicit_priority() {
        let explicit = |_: &Event<Pod>, requests: &Requests<'_, Request>| {
            requests.add_with(requests.options().priority(7), [key()]);
        };
        check_priorities(&explicit, 7, 7);
        let zero = |_: &Event<Pod>, requests: &Requests<'_, Request>| {
            requests.add_with(AddOptions::new().priority(0), [key()]);
        };
        check_priorities(&zero, 0, 0);
    }

    /// The documented number.
    #[test]
    fn low_is_minus_one_hundred() {
        assert_eq!(LOW_PRIORITY, -100);
    }
}
