//! Finalizers, in memory and stored.

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::controllerutil::{
    add_finalizer, contains_finalizer, ensure_finalizer, release_finalizer, remove_finalizer,
};
use kubewright_testing::TestEnv;

use crate::common::{config_map, key};

const NAME: &str = "foo.bar.baz";

fn with(finalizers: &[&str]) -> ConfigMap {
    let mut object = config_map("object", &[]);
    object.metadata.finalizers = Some(finalizers.iter().map(ToString::to_string).collect());
    object
}

/// `change` of an object with `before` gives `changed`, and leaves `after`.
#[track_caller]
fn check(change: fn(&mut ConfigMap, &str) -> bool, before: &[&str], changed: bool, after: &[&str]) {
    let mut object = with(before);
    assert_eq!(change(&mut object, NAME), changed);
    assert_eq!(object.metadata.finalizers.unwrap(), after);
}

#[test]
fn add_adds_the_finalizer_when_it_is_absent_and_says_so() {
    check(add_finalizer, &[], true, &[NAME]);
    check(add_finalizer, &["other"], true, &["other", NAME]);
    let mut object = config_map("object", &[]);
    assert!(add_finalizer(&mut object, NAME));
    assert_eq!(object.metadata.finalizers.unwrap(), [NAME]);
}

#[test]
fn add_does_not_add_the_finalizer_when_it_is_present_and_says_so() {
    check(add_finalizer, &[NAME], false, &[NAME]);
    check(add_finalizer, &[NAME, "other", NAME], false, &[NAME, "other", NAME]);
}

#[test]
fn remove_removes_the_finalizer_if_it_is_present_and_says_so() {
    check(remove_finalizer, &[NAME], true, &[]);
    check(remove_finalizer, &["other", NAME, "another"], true, &["other", "another"]);
}

#[test]
fn remove_removes_all_equal_finalizers() {
    check(remove_finalizer, &[NAME, NAME], true, &[]);
    check(remove_finalizer, &[NAME, "other", NAME], true, &["other"]);
}

#[test]
fn remove_does_nothing_if_there_is_no_such_finalizer_and_says_so() {
    check(remove_finalizer, &[], false, &[]);
    check(remove_finalizer, &["other"], false, &["other"]);
    assert!(!remove_finalizer(&mut config_map("object", &[]), NAME));
}

#[test]
fn contains_looks_for_the_whole_name() {
    assert!(contains_finalizer(&with(&["other", NAME]), NAME));
    assert!(!contains_finalizer(&with(&["other", "foo.bar.baz.qux", "foo.bar"]), NAME));
    assert!(!contains_finalizer(&config_map("object", &[]), NAME));
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_is_stored_and_released_and_nothing_is_written_twice() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let created = env.create(&with(&["example.com/other"])).await;

    let stored = ensure_finalizer(&client, &created, "example.com/ours").await.unwrap().unwrap();
    assert_eq!(stored.metadata.finalizers.as_ref().unwrap(), &["example.com/other", "example.com/ours"]);
    assert_ne!(stored.metadata.resource_version, created.metadata.resource_version);
    assert!(ensure_finalizer(&client, &stored, "example.com/ours").await.unwrap().is_none());

    // From a state that is not the latest any more, nobody's finalizer is overwritten.
    let error = ensure_finalizer(&client, &created, "example.com/third").await.unwrap_err();
    assert!(error.is_conflict(), "{error:?}");
    let error = release_finalizer(&client, &created, "example.com/other").await.unwrap_err();
    assert!(error.is_conflict(), "{error:?}");

    env.delete::<ConfigMap>(&key("object")).await;
    let key = key("object");
    let is_deleting = |object: &ConfigMap| object.metadata.deletion_timestamp.is_some();
    let deleting = env.wait_for(&key, |object| object.is_some_and(is_deleting)).await.unwrap();
    release_finalizer(&client, &*deleting, "example.com/none-of-its").await.unwrap();
    release_finalizer(&client, &*deleting, "example.com/ours").await.unwrap();
    let has_ours = |object: &ConfigMap| contains_finalizer(object, "example.com/ours");
    let last = env.wait_for(&key, |object| !object.is_some_and(has_ours)).await.unwrap();
    assert_eq!(last.metadata.finalizers.as_ref().unwrap(), &["example.com/other"]);
    release_finalizer(&client, &*last, "example.com/other").await.unwrap();
    env.wait_gone::<ConfigMap>(&key).await;
}
