use std::{collections::BTreeMap, time::Duration};

use proptest::prelude::*;

use super::{
    log::Change,
    state::{Expired, Guard, Key, Limits, NotCreated, Prefix, State},
    store::Store,
};
use crate::object::Draft;

fn draft(text: &str) -> Draft {
    let before = r#"{"metadata":{"resourceVersion":""#;
    let after = format!(r#""}},"data":"{text}"}}"#);
    let bytes = format!("{before}{after}").into_bytes();
    Draft::new(bytes, before.len(), 12..before.len() + 2)
}

fn text(revision: u64, text: &str) -> String {
    format!(r#"{{"metadata":{{"resourceVersion":"{revision}"}},"data":"{text}"}}"#)
}

fn limits(events_per_prefix: usize) -> Limits {
    Limits { events_per_prefix, log_bytes: usize::MAX }
}

fn prefix() -> Prefix {
    "pods".into()
}

#[test]
fn document_says_its_revision_and_its_metadata() {
    let document = draft("x").at(9);
    assert_eq!(document.bytes(), text(9, "x").as_bytes());
    assert_eq!(document.metadata(), br#"{"resourceVersion":"9"}"#);
    let later = document.at(1234);
    assert_eq!(later.bytes(), text(1234, "x").as_bytes());
    assert_eq!(later.metadata(), br#"{"resourceVersion":"1234"}"#);
    assert_eq!(later.at(9), document);
}

#[test]
fn every_write_takes_one_revision_and_a_no_op_takes_none() {
    let mut state = State::new(limits(10), 1);
    let key = Key::new("a", "x");
    let first = state.create(&prefix(), &key, &draft("1"), &[]).unwrap();
    assert_eq!(state.revision(), first.revision());
    assert!(state.create(&prefix(), &key, &draft("1"), &[]).is_err());
    let same = state.replace(&prefix(), &key, first.revision(), &draft("1")).unwrap();
    assert_eq!(same, first);
    let second = state.replace(&prefix(), &key, first.revision(), &draft("2")).unwrap();
    assert_eq!(second.revision(), first.revision() + 1);
    let stale = state.replace(&prefix(), &key, first.revision(), &draft("3")).unwrap_err();
    assert_eq!(stale.current, Some(second.clone()));
    let gone = state.remove(&prefix(), &key, second.revision()).unwrap();
    assert_eq!(gone.revision(), second.revision() + 1);
    assert_eq!(state.get("pods", &key), None);
}

#[test]
fn a_guard_refuses_what_was_read_too_early() {
    let mut state = State::new(limits(10), 1);
    let parent = Key::new("", "n");
    let read = state.create(&"namespaces".into(), &parent, &draft("1"), &[]).unwrap();
    let guard = Guard { prefix: "namespaces", key: parent.clone(), revision: read.revision() };
    let create = |state: &mut State, name: &str| {
        state.create(&prefix(), &Key::new("n", name), &draft("1"), std::slice::from_ref(&guard))
    };
    create(&mut state, "a").unwrap();
    assert!(matches!(create(&mut state, "a"), Err(NotCreated::Taken(_))));
    let read = state.replace(&"namespaces".into(), &parent, read.revision(), &draft("2")).unwrap();
    assert!(matches!(create(&mut state, "b"), Err(NotCreated::Moved)));
    state.remove(&"namespaces".into(), &parent, read.revision()).unwrap();
    assert!(matches!(create(&mut state, "c"), Err(NotCreated::Moved)));
    assert_eq!(state.last_change("pods"), read.revision() - 1);
}

#[test]
fn keys_are_ordered_as_one_string() {
    let mut state = State::new(limits(10), 1);
    for namespace in ["a", "a-b"] {
        state.create(&prefix(), &Key::new(namespace, "x"), &draft("1"), &[]).unwrap();
    }
    let snapshot = state.snapshot("pods");
    let keys: Vec<_> = snapshot.range("", "").map(|(key, _)| key.to_string()).collect();
    assert_eq!(keys, ["a-b/x", "a/x"]);
    let keys: Vec<_> = snapshot.range("a", "").map(|(key, _)| key.to_string()).collect();
    assert_eq!(keys, ["a/x"]);
    assert_eq!(snapshot.range("a", "a/x\0").count(), 0);
}

#[test]
fn a_reader_behind_the_log_has_expired() {
    let mut state = State::new(limits(2), 1);
    let key = Key::new("", "x");
    let mut last = state.create(&prefix(), &key, &draft("0"), &[]).unwrap();
    for round in 1..4 {
        last = state.replace(&prefix(), &key, last.revision(), &draft(&round.to_string())).unwrap();
    }
    // Revisions 2 to 5 were written, and the log holds the last two.
    assert_eq!(state.read("pods", 2, 10).unwrap_err(), Expired { requested: 2, oldest: 3 });
    assert_eq!(state.read("pods", 3, 10).unwrap().len(), 2);
    assert_eq!(state.past("pods", 2).unwrap_err().to_string(), "too old resource version: 2 (3)");
}

#[test]
fn compaction_expires_new_readers_but_not_one_that_is_up_to_date() {
    let store = Store::new(limits(10), 1);
    store.create(&prefix(), &Key::new("", "x"), &draft("0"), &[]).unwrap();
    let (_, mut current) = store.snapshot_and_watch(&prefix());
    let mut behind = store.watch(&prefix(), 1).unwrap();
    store.compact();
    assert!(behind.read(10).is_err());
    assert!(store.watch(&prefix(), 1).is_err());
    assert_eq!(current.read(10).unwrap().len(), 0);
    store.create(&prefix(), &Key::new("", "y"), &draft("0"), &[]).unwrap();
    assert_eq!(current.read(10).unwrap().len(), 1);
}

#[tokio::test]
async fn a_watcher_wakes_for_its_own_prefix() {
    let store = Store::new(limits(10), 1);
    let mut watcher = store.watch(&prefix(), 1).unwrap();
    let waiting = async {
        watcher.changed().await;
        watcher.read(10).unwrap().len()
    };
    let writing = async {
        tokio::task::yield_now().await;
        store.create(&"other".into(), &Key::new("", "x"), &draft("0"), &[]).unwrap();
        tokio::task::yield_now().await;
        store.create(&prefix(), &Key::new("", "x"), &draft("0"), &[]).unwrap();
    };
    let (seen, ()) = tokio::join!(waiting, writing);
    assert_eq!(seen, 1);
    store.reached(3).await;
}

#[test]
fn all_logs_together_are_bounded_and_the_oldest_events_go_first() {
    let log_bytes = 2000;
    let mut state = State::new(Limits { events_per_prefix: 100, log_bytes }, 1);
    let long = "x".repeat(300);
    for prefix in ["a", "b"] {
        let key = Key::new("", "x");
        let mut last = state.create(&prefix.into(), &key, &draft(&long), &[]).unwrap();
        for round in 0..5 {
            let text = format!("{long}{round}");
            last = state.replace(&prefix.into(), &key, last.revision(), &draft(&text)).unwrap();
            assert!(state.log_bytes() <= log_bytes);
        }
    }
    assert!(state.read("a", 1, 10).is_err(), "older");
    assert!(!state.read("b", state.revision() - 2, 10).unwrap().is_empty());
    state.compact();
    assert_eq!(state.log_bytes(), 0);
}

#[test]
fn a_prefix_that_is_withdrawn_goes_with_its_last_event_and_may_come_back() {
    let mut state = State::new(limits(10), 1);
    let key = Key::new("", "x");
    let made = state.create(&prefix(), &key, &draft("1"), &[]).unwrap();
    state.withdraw("pods");
    state.age(made.revision());
    assert!(state.get("pods", &key).is_some(), "not while something is stored");
    let gone = state.remove(&prefix(), &key, made.revision()).unwrap();
    assert_eq!(state.read("pods", made.revision(), 10).unwrap().len(), 1, "watchers hear of the end");
    assert_eq!(state.age(gone.revision()), [prefix()]);
    assert_eq!((state.log_bytes(), state.partitions()), (0, 0));
    assert!(state.read("pods", made.revision(), 10).is_err());
    state.create(&prefix(), &key, &draft("2"), &[]).unwrap();
    assert!(state.read("pods", made.revision(), 10).is_err());
    assert_eq!(state.read("pods", gone.revision(), 10).unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_past_is_kept_for_five_minutes_and_a_quiet_prefix_can_still_be_watched() {
    let store = Store::new(limits(10), 1);
    let create = |prefix: &str, name: &str| {
        store.create(&prefix.into(), &Key::new("", name), &draft("1"), &[]).unwrap().revision()
    };
    let quiet = create("quiet", "x");
    let first = create("pods", "a");
    tokio::time::advance(Duration::from_secs(299)).await;
    let second = create("pods", "b");
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(store.snapshot_at(&prefix(), first).unwrap().objects.len(), 1);
    tokio::time::advance(Duration::from_secs(301)).await;
    let third = create("pods", "c");
    assert!(store.snapshot_at(&prefix(), first).is_err());
    assert!(store.watch(&prefix(), first).is_err());
    assert_eq!(store.snapshot_at(&prefix(), second).unwrap().objects.len(), 2);
    assert!(store.watch(&"quiet".into(), quiet).is_ok());
    tokio::time::advance(Duration::from_secs(3600)).await;
    assert!(store.snapshot_at(&prefix(), second).is_err());
    assert!(store.watch(&prefix(), third).is_ok());
}

#[test]
fn a_snapshot_that_is_kept_reads_as_it_was() {
    let store = Store::new(limits(1), 1);
    let made = store.create(&prefix(), &Key::new("", "a"), &draft("1"), &[]).unwrap();
    store.create(&prefix(), &Key::new("", "b"), &draft("1"), &[]).unwrap();
    for _ in 0..2 {
        assert_eq!(store.snapshot_at(&prefix(), made.revision()).unwrap().objects.len(), 1);
    }
    store.compact();
    assert!(store.snapshot_at(&prefix(), made.revision()).is_err());
}

/// What a test does to the store.
#[derive(Debug, Clone)]
enum Step {
    Create(u8, u8),
    Replace(u8, u8),
    Remove(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..4u8, 0..3u8).prop_map(|(key, value)| Step::Create(key, value)),
        (0..4u8, 0..3u8).prop_map(|(key, value)| Step::Replace(key, value)),
        (0..4u8).prop_map(Step::Remove),
    ];
    proptest::collection::vec(step, 0..60)
}

/// The model: a map of texts, and its copy at every revision.
type Model = BTreeMap<String, String>;

fn run(steps: &[Step], capacity: usize) -> (State, BTreeMap<u64, Model>) {
    let mut state = State::new(limits(capacity), 1);
    let mut model = Model::new();
    let mut history = BTreeMap::from([(state.revision(), model.clone())]);
    for step in steps {
        let before = state.revision();
        match step {
            Step::Create(name, value) => {
                let key = Key::new("n", &name.to_string());
                let result = state.create(&prefix(), &key, &draft(&value.to_string()), &[]);
                assert_eq!(result.is_ok(), !model.contains_key(key.as_str()));
                if let Ok(document) = result {
                    model.insert(key.to_string(), text(document.revision(), &value.to_string()));
                }
            }
            Step::Replace(name, value) => {
                let key = Key::new("n", &name.to_string());
                let expected = state.get("pods", &key).map_or(0, |found| found.revision());
                let result = state.replace(&prefix(), &key, expected, &draft(&value.to_string()));
                assert_eq!(result.is_ok(), model.contains_key(key.as_str()));
                if let Ok(document) = result {
                    model.insert(key.to_string(), text(document.revision(), &value.to_string()));
                }
            }
            Step::Remove(name) => {
                let key = Key::new("n", &name.to_string());
                let expected = state.get("pods", &key).map_or(0, |found| found.revision());
                assert_eq!(
                    state.remove(&prefix(), &key, expected).is_ok(),
                    model.remove(key.as_str()).is_some()
                );
            }
        }
        assert!(state.revision() <= before + 1);
        history.insert(state.revision(), model.clone());
    }
    (state, history)
}

fn texts(snapshot: &super::Snapshot) -> Model {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    snapshot.objects.iter().map(|(key, document)| (key.to_string(), text(document.bytes()))).collect()
}

proptest! {
    #[test]
    fn every_revision_within_the_log_reads_as_it_was(steps in steps(), capacity in 1..80usize) {
        let (state, history) = run(&steps, capacity);
        for (revision, model) in &history {
            if let Ok(past) = state.past("pods", *revision) {
                prop_assert_eq!(&texts(&past.snapshot()), model);
            } else {
                prop_assert!(history.len() > capacity, "nothing may expire before the log is full");
            }
        }
        prop_assert_eq!(&texts(&state.snapshot("pods")), &history[&state.revision()]);
    }

    #[test]
    fn a_watch_from_any_revision_replays_to_the_same_map(steps in steps(), batch in 1..5usize) {
        let (state, history) = run(&steps, 1000);
        for (revision, model) in &history {
            let mut replayed = model.clone();
            let mut cursor = *revision;
            loop {
                let events = state.read("pods", cursor, batch).unwrap();
                let Some(last) = events.last() else { break };
                for event in &events {
                    prop_assert!(event.revision > cursor, "no event comes twice or out of order");
                    cursor = event.revision;
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                    match &event.change {
                        Change::Created { new } => {
                            prop_assert!(replayed.insert(event.key.to_string(), text(new.bytes())).is_none());
                        }
                        Change::Updated { old, new } => {
                            let before = replayed.insert(event.key.to_string(), text(new.bytes()));
                            prop_assert_eq!(before, Some(text(old.bytes())));
                        }
                        Change::Deleted { old } => {
                            prop_assert_eq!(replayed.remove(event.key.as_str()), Some(text(old.bytes())));
                        }
                    }
                }
                prop_assert_eq!(cursor, last.revision);
            }
            prop_assert_eq!(&replayed, &history[&state.revision()]);
        }
    }
}
