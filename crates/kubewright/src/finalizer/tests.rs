use jiff::Timestamp;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Time};

use super::*;

/// Puts another object in the place of the one that it is given, and fails as it is told.
struct Rude(Result<(), &'static str>);

impl Finalizer<ConfigMap> for Rude {
    async fn finalize(&self, object: &mut ConfigMap) -> Result<(), BoxError> {
        *object = ConfigMap { immutable: Some(true), ..ConfigMap::default() };
        self.0.map_err(Into::into)
    }
}

#[track_caller]
fn check_left(before: &[&str], scripts: &[(&str, Result<(), &'static str>)], after: Option<&[&str]>) {
    let mut finalizers = Finalizers::new();
    for (name, script) in scripts {
        finalizers.register(*name, Rude(*script)).unwrap();
    }
    let mut object = ConfigMap::default();
    object.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    object.metadata.uid = Some("u".to_owned());
    object.metadata.resource_version = Some("7".to_owned());
    object.metadata.finalizers =
        Some(before.iter().map(ToString::to_string).collect::<Vec<_>>()).filter(|all| !all.is_empty());
    let failed = futures::executor::block_on(finalizers.run(&mut object));
    let meta = object.metadata;
    assert_eq!(meta.finalizers, after.map(|all| all.iter().map(ToString::to_string).collect()));
    assert_eq!((meta.uid.as_deref(), meta.resource_version.as_deref()), (Some("u"), Some("7")));
    assert_eq!(failed.len(), scripts.iter().filter(|(_, script)| script.is_err()).count());
}

#[test]
fn a_finalizer_cannot_take_away_what_is_not_its_own() {
    let scripts = [("a/1", Err("not yet")), ("a/2", Ok(()))];
    check_left(&["other", "a/1", "a/2"], &scripts, Some(&["other", "a/1"]));
    check_left(&["a/2"], &[("a/2", Ok(()))], None);
    check_left(&["other"], &[], Some(&["other"]));
}

#[test]
fn all_that_failed_are_named_with_their_causes() {
    let failed = |name: &str, cause: &str| FinalizeError { name: name.to_owned(), source: cause.into() };
    let error = FinalizersError::Failed {
        kind: crate::object::Kind::of::<ConfigMap>(),
        key: ObjectKey::new("default", "a"),
        failed: vec![failed("a/1", "not yet"), failed("a/2", "never")],
    };
    assert_eq!(
        error.to_string(),
        "failed to finalize ConfigMap \"default/a\": finalizer a/1 failed: not yet; finalizer a/2 failed: never"
    );
}
