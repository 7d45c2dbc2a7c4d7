use super::*;
use crate::cache::{reflector::Target, store::Store};

fn informer(namespace: Option<&str>, label_selector: Option<&str>) -> Informer {
    let target = Target {
        kind: Kind::of::<k8s_openapi::api::core::v1::ConfigMap>(),
        namespace: namespace.map(ToOwned::to_owned),
        label_selector: label_selector.map(ToOwned::to_owned),
        field_selector: None,
    };
    Informer::new(target, Store::new(0, false), &crate::metrics::Registry::new())
}

#[test]
fn a_write_that_an_informer_does_not_select_is_not_waited_for() {
    let key = ObjectKey::new("a", "x");
    assert!(hears_of(&informer(None, None), &key));
    assert!(hears_of(&informer(Some("a"), None), &key));
    assert!(!hears_of(&informer(Some("b"), None), &key));
    // It holds no such object.
    assert!(!hears_of(&informer(None, Some("x=y")), &key));
}

#[test]
fn a_doubt_is_resolved_by_its_own_answer_only() {
    let (informer, key) = (informer(None, None), ObjectKey::new("a", "x"));
    let stored = Write::stored(5, Some("u"));
    let mut writes = Writes::default();
    let first = writes.next_doubt();
    writes.by_key.insert(key.clone(), Write::unknown(first));
    let second = writes.next_doubt();
    writes.by_key.insert(key.clone(), Write::unknown(second));
    writes.resolve(&key, first, Some(stored.clone()), &informer);
    assert_eq!(writes.by_key[&key].doubt(), Some(second), "another write was lost since");
    writes.resolve(&key, second, Some(stored.clone()), &informer);
    assert_eq!(writes.by_key[&key], stored);
    // Unseen for long, and then not there: the object of that uid has to go from the cache.
    writes.distrust(&key, &stored);
    let third = writes.by_key[&key].doubt().unwrap();
    writes.resolve(&key, third, None, &informer);
    assert_eq!(writes.by_key[&key].doubt(), None);
    writes.by_key.insert(key.clone(), Write::unknown(9));
    writes.resolve(&key, 9, None, &informer);
    assert!(writes.by_key.is_empty(), "nobody knows of such an object");
}
