use jiff::Timestamp;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Time};

use super::*;

/// Fails, or changes the status, as it is told.
struct Scripted(Result<Changes, &'static str>);

impl Finalizer<ConfigMap> for Scripted {
    async fn finalize(&self, _object: &mut ConfigMap) -> Result<Changes, Failure> {
        self.0.map_err(Into::into)
    }
}

fn finalizers(scripts: &[(&str, Result<Changes, &'static str>)]) -> Finalizers<ConfigMap> {
    let mut finalizers = Finalizers::new();
    for (name, script) in scripts {
        finalizers.register(*name, Scripted(*script)).unwrap();
    }
    finalizers
}

fn object(deleting: bool, names: &[&str]) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.deletion_timestamp = deleting.then_some(Time(Timestamp::UNIX_EPOCH));
    object.metadata.finalizers = Some(names.iter().map(ToString::to_string).collect());
    object
}

#[track_caller]
fn check(
    (deleting, before): (bool, &[&str]),
    scripts: &[(&str, Result<Changes, &'static str>)],
    (after, changes, failed): (&[&str], Changes, &[&str]),
) {
    let mut object = object(deleting, before);
    let result = futures::executor::block_on(finalizers(scripts).finalize(&mut object));
    assert_eq!(object.metadata.finalizers.unwrap(), after);
    assert_eq!(result.changes, changes);
    assert_eq!(result.failed.iter().map(|error| error.name.as_str()).collect::<Vec<_>>(), failed);
}

#[test]
fn a_name_is_registered_once() {
    let mut finalizers = finalizers(&[("a/b", Ok(Changes::none()))]);
    let error = finalizers.register("a/b", Scripted(Ok(Changes::none()))).unwrap_err();
    assert_eq!(error.to_string(), "finalizer for key \"a/b\" already registered");
}

#[test]
fn a_living_object_gets_what_it_lacks_and_nothing_runs() {
    let scripts = [("a/1", Err("never called")), ("a/2", Ok(Changes::none()))];
    check((false, &["a/1"]), &scripts, (&["a/1", "a/2"], Changes::none().updated(), &[]));
    check((false, &["a/1", "a/2"]), &scripts, (&["a/1", "a/2"], Changes::none(), &[]));
}

#[test]
fn a_deleting_object_loses_the_finalizers_that_succeed_and_keeps_those_that_fail() {
    let scripts = [("a/1", Err("not yet")), ("a/2", Ok(Changes::none().status_updated()))];
    check(
        (true, &["other", "a/1", "a/2"]),
        &scripts,
        (&["other", "a/1"], Changes::none().updated().status_updated(), &["a/1"]),
    );
}

#[test]
fn a_finalizer_that_the_object_does_not_have_does_not_run() {
    check((true, &["other"]), &[("a/1", Err("never called"))], (&["other"], Changes::none(), &[]));
}
