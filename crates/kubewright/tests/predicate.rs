//! Which events pass: the rows of controller-runtime's `pkg/predicate`.
//!
//! | rows without a test | why |
//! |---|---|
//! | missing old or new object, in each of the `…Changed` predicates | an update has both of its states, and neither is nil |
//! | `And()` and `Or()` of nothing | `and` and `or` have two sides |
//! | `Funcs` with a nil function, for each type of event | a closure that does not speak of a type says `true` for it |

#![allow(clippy::unwrap_used, reason = "these are tests, though not each function is marked as one")]

mod common;

use common::{
    Journal,
    events::{at, create, delete, generic, initial, pod, resync, tombstone, update},
};
use k8s_openapi::{
    api::core::v1::Pod,
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
};
use kubewright::{
    event::{AnyObject, Event},
    kube::core::{Expression, Selector},
    predicate::{
        Predicate, Verdict, annotations_changed, filter, generation_changed, has_label, labels_changed,
        resource_version_changed, selector,
    },
};

/// Whether `predicate` lets `event` pass.
#[track_caller]
fn check(predicate: &impl Predicate<Pod>, event: &Event<Pod>, passes: bool) {
    assert_eq!(predicate.judge(event).passes(), passes, "{event:?}");
}

/// Creates, deletes and generic events of `object`.
fn others(object: &Pod) -> [Event<Pod>; 5] {
    [initial(object), create(object), delete(object), tombstone(object), generic(object)]
}

fn map(pairs: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn labelled(labels: &[(&str, &str)]) -> Pod {
    let mut pod = pod("foo");
    pod.metadata.labels = Some(map(labels));
    pod
}

fn annotated(annotations: &[(&str, &str)]) -> Pod {
    let mut pod = pod("foo");
    pod.metadata.annotations = Some(map(annotations));
    pod
}

mod funcs {
    use super::*;

    #[test]
    fn a_function_is_called_with_each_type_of_event_and_its_answer_counts() {
        let foo = pod("foo");
        let events = [create(&foo), update(&foo, &foo), delete(&foo), generic(&foo)];
        let is_type = [
            |event: &Event<Pod>| matches!(event, Event::Create { .. }),
            |event: &Event<Pod>| matches!(event, Event::Update { .. }),
            |event: &Event<Pod>| matches!(event, Event::Delete { .. }),
            |event: &Event<Pod>| matches!(event, Event::Generic { .. }),
        ];
        for (number, is_type) in is_type.into_iter().enumerate() {
            for (other, event) in events.iter().enumerate() {
                check(&is_type, event, number == other);
            }
        }
    }

    #[test]
    fn a_function_sees_both_objects_of_an_update() {
        let renamed = |event: &Event<Pod>| {
            event.object_old().is_some_and(|old| old.key().name() == "foo")
                && event.object().key().name() == "baz"
        };
        check(&renamed, &update(&pod("foo"), &pod("baz")), true);
        check(&renamed, &update(&pod("baz"), &pod("foo")), false);
    }
}

mod changed {
    use super::*;

    fn generation(generation: Option<i64>) -> Pod {
        let mut pod = pod("foo");
        pod.metadata.generation = generation;
        pod
    }

    #[test]
    fn resource_version_unchanged_and_changed() {
        let foo = pod("foo");
        check(&resource_version_changed(), &update(&at(1, &foo), &at(1, &foo)), false);
        check(&resource_version_changed(), &resync(&foo), false);
        check(&resource_version_changed(), &update(&at(1, &foo), &at(2, &foo)), true);
    }

    #[test]
    fn generation_unchanged_and_changed() {
        check(&generation_changed(), &update(&generation(Some(1)), &generation(Some(1))), false);
        check(&generation_changed(), &update(&generation(Some(1)), &generation(Some(2))), true);
        // A kind without a generation never passes, as its docs say.
        check(&generation_changed(), &update(&generation(None), &generation(None)), false);
    }

    /// The same rows for both maps: no change, a value changed, one added, one removed.
    #[test]
    fn annotations_and_labels_unchanged_changed_added_and_removed() {
        #[track_caller]
        fn check_both(old: &[(&str, &str)], new: &[(&str, &str)], passes: bool) {
            check(&labels_changed(), &update(&labelled(old), &labelled(new)), passes);
            check(&annotations_changed(), &update(&annotated(old), &annotated(new)), passes);
            // Neither speaks of the other's map.
            check(&labels_changed(), &update(&annotated(old), &annotated(new)), false);
            check(&annotations_changed(), &update(&labelled(old), &labelled(new)), false);
        }
        let before = [("booz", "wooz")];
        check_both(&[], &[], false);
        check_both(&before, &before, false);
        check_both(&before, &[("booz", "zooz")], true);
        check_both(&before, &[("booz", "wooz"), ("zooz", "qooz")], true);
        check_both(&[("booz", "wooz"), ("zooz", "qooz")], &before, true);
        check_both(&[], &before, true);
        check_both(&before, &[], true);
    }

    #[test]
    fn an_empty_map_is_no_map() {
        check(&labels_changed(), &update(&pod("foo"), &labelled(&[])), false);
        check(&annotations_changed(), &update(&pod("foo"), &annotated(&[])), false);
        check(&annotations_changed(), &update(&annotated(&[]), &pod("foo")), false);
    }

    #[test]
    fn an_object_created_anew_under_the_same_name_has_changed() {
        let with_uid = |uid: &str| {
            let mut pod = generation(Some(1));
            pod.metadata.uid = Some(uid.to_owned());
            at(1, &pod)
        };
        for changed in
            [generation_changed(), labels_changed(), annotations_changed(), resource_version_changed()]
        {
            check(&changed, &update(&with_uid("1"), &with_uid("2")), true);
            check(&changed, &update(&with_uid("1"), &with_uid("1")), false);
        }
    }

    #[test]
    fn other_events_pass_and_are_not_spoken_of() {
        for changed in
            [generation_changed(), labels_changed(), annotations_changed(), resource_version_changed()]
        {
            for event in others(&pod("foo")) {
                assert_eq!(changed.judge(&event), Verdict::Indifferent, "{changed:?} {event:?}");
                check(&changed, &event, true);
            }
        }
    }

    #[test]
    fn objects_of_any_kind_are_judged_by_their_metadata() {
        #[track_caller]
        fn check_any(predicate: &impl Predicate<AnyObject>, event: &Event<Pod>, passes: bool) {
            assert_eq!(predicate.judge(&event.any()).passes(), passes);
        }
        check_any(&generation_changed(), &update(&generation(Some(1)), &generation(Some(2))), true);
        check_any(&generation_changed(), &update(&generation(Some(1)), &generation(Some(1))), false);
        let labels = update(&labelled(&[]), &labelled(&[("a", "b")]));
        check_any(&labels_changed(), &labels, true);
        check_any(&annotations_changed(), &labels, false);
        check_any(&generation_changed().or(labels_changed()), &labels, true);
        check_any(&generation_changed().and(labels_changed()), &labels, false);
        check_any(&selector(Expression::Exists("a".into())), &create(&labelled(&[("a", "b")])), true);
        check_any(&selector(Expression::Exists("a".into())), &create(&pod("foo")), false);
    }
}

mod boolean_logic {
    use super::*;

    fn pass(_: &Event<Pod>) -> bool {
        true
    }

    fn fail(_: &Event<Pod>) -> bool {
        false
    }

    /// For each type of event.
    #[track_caller]
    fn check_all(predicate: &impl Predicate<Pod>, passes: bool) {
        let object = pod("foo");
        for event in others(&object).into_iter().chain([update(&object, &object)]) {
            check(predicate, &event, passes);
        }
    }

    #[test]
    fn and_passes_when_both_pass() {
        check_all(&pass.and(pass), true);
        check_all(&pass.and(fail), false);
        check_all(&fail.and(pass), false);
        check_all(&fail.and(fail), false);
    }

    #[test]
    fn or_passes_when_either_passes() {
        check_all(&pass.or(pass), true);
        check_all(&pass.or(fail), true);
        check_all(&fail.or(pass), true);
        check_all(&fail.or(fail), false);
    }

    #[test]
    fn not_passes_what_the_predicate_drops() {
        check_all(&pass.not(), false);
        check_all(&fail.not(), true);
        check_all(&pass.not().not(), true);
    }

    #[test]
    fn combinations_nest() {
        check_all(&fail.or(pass).and(pass), true);
        check_all(&fail.and(pass).or(fail), false);
        check_all(&fail.or(fail).not().and(pass), true);
    }

    #[test]
    fn the_second_side_is_asked_only_when_it_can_make_a_difference() {
        let journal = Journal::default();
        let log = journal.clone();
        let asked = move |_: &Event<Pod>| {
            log.write("asked");
            true
        };
        check(&fail.and(asked.clone()), &create(&pod("foo")), false);
        check(&pass.or(asked.clone()), &create(&pod("foo")), true);
        assert_eq!(journal.lines(), [""; 0]);
        check(&pass.and(asked.clone()), &create(&pod("foo")), true);
        check(&fail.or(asked), &create(&pod("foo")), true);
        assert_eq!(journal.lines(), ["asked", "asked"]);
    }

    /// What `# Differences from Go` of the module says: upstream's `Not` would hide every creation and deletion.
    #[test]
    fn indifference_is_never_turned_into_a_refusal() {
        let not = generation_changed().not();
        for event in others(&pod("foo")) {
            check(&not, &event, true);
            check(&generation_changed().or(labels_changed()), &event, true);
            check(&generation_changed().and(labels_changed()), &event, true);
            // The one who speaks decides.
            check(&generation_changed().or(fail), &event, false);
            check(&fail.or(generation_changed()), &event, false);
            check(&generation_changed().and(fail), &event, false);
            check(&pass.and(generation_changed()), &event, true);
        }
        let foo = pod("foo");
        check(&not, &update(&foo, &foo), true);
    }

    #[test]
    fn updates_of_spec_or_labels_pass_together() {
        let either = generation_changed().or(labels_changed());
        let mut new_spec = labelled(&[]);
        new_spec.metadata.generation = Some(2);
        check(&either, &update(&labelled(&[]), &new_spec), true);
        check(&either, &update(&labelled(&[]), &labelled(&[("a", "b")])), true);
        check(&either, &update(&labelled(&[]), &annotated(&[("a", "b")])), false);
    }
}

mod filters {
    use super::*;

    /// Upstream's `NewPredicateFuncs` with a namespace filter.
    #[test]
    fn a_filter_of_the_namespace_judges_each_type_of_event() {
        let in_namespace =
            |wanted: &'static str| filter(move |object| object.key().namespace() == Some(wanted));
        let foo = pod("foo");
        for event in [create(&foo), initial(&foo), delete(&foo), generic(&foo), update(&foo, &foo)] {
            check(&in_namespace("biz"), &event, true);
            check(&in_namespace("other"), &event, false);
        }
    }

    /// What `# Differences from Go` of [`filter`] says.
    #[test]
    fn an_object_that_enters_or_leaves_the_selection_is_heard_of() {
        let in_selection = filter(|object| object.labels().contains_key("in"));
        let (inside, outside) = (labelled(&[("in", "")]), labelled(&[]));
        check(&in_selection, &update(&inside, &inside), true);
        check(&in_selection, &update(&outside, &inside), true);
        check(&in_selection, &update(&inside, &outside), true);
        check(&in_selection, &update(&outside, &outside), false);
    }

    #[test]
    fn a_deletion_whose_final_state_is_unknown_passes() {
        check(&filter(|_| false), &tombstone(&pod("foo")), true);
        check(&filter(|_| false), &delete(&pod("foo")), false);
    }

    #[test]
    fn a_label_selector_passes_objects_that_match() {
        let foo_bar = selector(Selector::from_iter([("foo", "bar")]));
        let (matching, other) = (labelled(&[("foo", "bar")]), labelled(&[("bar", "foo")]));
        for event in others(&matching).into_iter().chain([update(&matching, &matching)]) {
            check(&foo_bar, &event, true);
        }
        for event in [create(&other), delete(&other), generic(&other), update(&other, &other)] {
            check(&foo_bar, &event, false);
        }
        check(&foo_bar, &create(&pod("no-labels")), false);
    }

    #[test]
    fn a_label_is_had_whatever_its_value() {
        check(&has_label("foo"), &create(&labelled(&[("foo", "bar")])), true);
        check(&has_label("foo"), &create(&labelled(&[("foo", "")])), true);
        check(&has_label("foo"), &create(&labelled(&[("bar", "foo")])), false);
        check(&has_label("foo"), &update(&labelled(&[("foo", "bar")]), &pod("no-labels")), true);
    }

    #[test]
    fn an_empty_label_selector_matches_everything() {
        check(&selector(Selector::default()), &create(&pod("no-labels")), true);
    }

    #[test]
    fn a_bad_label_selector_is_an_error_before_there_is_a_predicate() {
        let requirement = |operator: &str, values: Option<Vec<String>>| {
            let (key, operator) = ("app".to_owned(), operator.to_owned());
            let requirement = LabelSelectorRequirement { key, operator, values };
            let bad = LabelSelector { match_expressions: Some(vec![requirement]), match_labels: None };
            Selector::try_from(bad).map(selector)
        };
        assert!(requirement("Invented", None).is_err());
        assert!(requirement("In", None).is_err());
        let one_of_two = requirement("In", Some(vec!["a".to_owned(), "b".to_owned()])).unwrap();
        check(&one_of_two, &create(&labelled(&[("app", "b")])), true);
        check(&one_of_two, &create(&labelled(&[("app", "c")])), false);
    }
}
