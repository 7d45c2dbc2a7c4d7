//! The tree against serde's.

use std::collections::{BTreeMap, hash_map::DefaultHasher};
use std::hash::{Hash, Hasher};

use proptest::{collection::vec, prelude::*, sample::select};

use super::{map::MANY, *};

/// Values as serde has them, with names that repeat.
fn values() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,6}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Into::into),
            vec((names(), inner), 0..6).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn names() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "metadata", "ä\"~/", ""]).prop_map(str::to_owned)
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// One change of a map.
#[derive(Debug, Clone)]
enum Change {
    Insert(u16, i64),
    Remove(u16),
    Entry(u16, i64),
    RetainFrom(u16),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let key = || 0_u16..400;
    let change = prop_oneof![
        6 => (key(), any::<i64>()).prop_map(|(key, value)| Change::Insert(key, value)),
        2 => key().prop_map(Change::Remove),
        2 => (key(), any::<i64>()).prop_map(|(key, value)| Change::Entry(key, value)),
        1 => (0_u16..20).prop_map(Change::RetainFrom),
    ];
    vec(change, 0..40)
}

proptest! {
    #[test]
    fn it_reads_prints_and_compares_as_serde_does(one in values(), other in values()) {
        let text = one.to_string();
        let read = decode(text.as_bytes(), 100).unwrap();
        // Neither of them reads the last digits of every number with an exponent.
        let one: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.to_string(), one.to_string());
        prop_assert_eq!(&read, &Value::from(one.clone()));
        prop_assert_eq!(&serde_json::Value::from(read.clone()), &one);
        prop_assert_eq!(read == Value::from(other.clone()), one == other);
        prop_assert_eq!(hash(&read), hash(&Value::from(one)));
    }

    #[test]
    fn pointers_lead_where_they_lead_serde(value in values(), steps in vec(prop_oneof![names(), "[0-9+]{1,2}"], 0..4)) {
        let escape = |step: &String| format!("/{}", step.replace('~', "~0").replace('/', "~1"));
        let pointer: String = steps.iter().map(escape).collect();
        let found = Value::from(value.clone()).pointer(&pointer).cloned();
        prop_assert_eq!(found, value.pointer(&pointer).cloned().map(Value::from));
    }

    #[test]
    fn a_map_is_what_a_tree_is(size in select(vec![0, 3, MANY - 5, MANY + 5]), changes in changes()) {
        let name = |key: u16| format!("k{key}");
        // Twice as far apart as there are keys to change: some are there, some are not.
        let start = (0..size).map(|index| (name(u16::try_from(index).unwrap() * 2), 0_i64));
        let mut model: BTreeMap<String, Value> = start.map(|(key, value)| (key, value.into())).collect();
        let mut map: Map = model.iter().rev().map(|(key, value)| (key.as_str(), value.clone())).collect();
        for change in changes {
            match change {
                Change::Insert(key, value) => {
                    let before = map.insert(name(key).into(), value.into());
                    prop_assert_eq!(before, model.insert(name(key), value.into()));
                }
                Change::Remove(key) => prop_assert_eq!(map.remove(&name(key)), model.remove(&name(key))),
                Change::Entry(key, value) => {
                    let found = map.entry(name(key)).or_insert(value.into()).clone();
                    prop_assert_eq!(&found, model.entry(name(key)).or_insert(value.into()));
                }
                Change::RetainFrom(digit) => {
                    let from = digit.to_string();
                    map.retain(|key, _| key[1..] >= *from);
                    model.retain(|key, _| key[1..] >= *from);
                }
            }
            prop_assert_eq!(map.len(), model.len());
        }
        prop_assert!(map.iter().map(|(key, value)| (key.as_str(), value)).eq(model.iter().map(|(key, value)| (key.as_str(), value))));
        prop_assert!(map.iter_mut().map(|(key, value)| (key.to_string(), value.take())).eq(model.clone()));
        map.iter_mut().zip(model.values()).for_each(|((_, place), value)| *place = value.clone());
        let other: Map = model.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        prop_assert_eq!(&map, &other, "however its fields are kept");
        prop_assert_eq!(hash(&map), hash(&other));
        for (key, value) in &model {
            prop_assert_eq!(map.get(key), Some(value));
        }
        prop_assert!(map.into_iter().map(|(key, value)| (key.to_string(), value)).eq(model));
    }
}

#[test]
fn of_repeated_fields_the_last_one_counts() {
    for (text, value) in [
        (r#"{"a": 1, "b": {"a": 1}}"#, json!({"a": 1, "b": {"a": 1}})),
        (r#"{"a": 1, "a": 2, "a": 3}"#, json!({"a": 3})),
        (r#"{"spec": {"x": 1}, "sp\u0065c": null}"#, json!({"spec": null})),
        (r#"[{"c": 1, "b": 2, "a": 3, "b": 4}]"#, json!([{"a": 3, "b": 4, "c": 1}])),
    ] {
        assert_eq!(decode(text.as_bytes(), 100).unwrap(), value, "{text}");
    }
}

#[test]
fn depth_is_limited_while_reading() {
    let nested = |levels: usize| format!("{}1{}", r#"{"a":["#.repeat(levels), "]}".repeat(levels));
    assert!(decode(nested(5).as_bytes(), 10).is_ok());
    assert!(decode(nested(5).as_bytes(), 9).unwrap_err().to_string().starts_with(TOO_DEEP));
}

#[test]
fn the_fields_of_one_document_share_their_names() {
    let Value::Array(items) = decode(br#"[{"a": 0}, {"a": 0}]"#, 100).unwrap() else { panic!("a list") };
    let names: Vec<&Key> = items.iter().filter_map(|item| item.as_object()?.keys().next()).collect();
    assert!(std::ptr::eq(names[0].as_str(), names[1].as_str()));
}

#[test]
fn what_is_written_by_index_is_made() {
    let mut value = Value::Null;
    value["a"]["b"] = "c".into();
    value["list"] = json!([1, 2]);
    value["list"][1] = 3.into();
    assert_eq!(value, json!({"a": {"b": "c"}, "list": [1, 3]}));
    assert_eq!((&value["x"]["y"], &value["list"][7]), (&Value::Null, &Value::Null));
}
