//! Finalizers by name: the rows of controller-runtime's `pkg/finalizer`, each with the writes that upstream leaves to the caller.

#![allow(clippy::unwrap_used, reason = "these are tests, though not each function is marked as one")]

mod common;

use std::time::Duration;

use common::{Journal, config_map, key};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim};
use kubewright::{
    finalizer::{Finalizer, Finalizers, FinalizersError},
    prelude::*,
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, Verb},
};

/// What a finalizer changes of its object.
#[derive(Clone, Copy, PartialEq)]
enum Changes {
    Nothing,
    Labels,
    Status,
    Both,
}

use Changes::{Both, Labels, Nothing};

/// Does what it was told, and writes down that it ran.
struct Scripted {
    name: &'static str,
    changes: Changes,
    error: Option<&'static str>,
    journal: Journal,
}

impl Finalizer<PersistentVolumeClaim> for Scripted {
    async fn finalize(&self, object: &mut PersistentVolumeClaim) -> Result<(), BoxError> {
        self.journal.write(self.name);
        if matches!(self.changes, Labels | Both) {
            object.metadata.labels.get_or_insert_default().insert("finalized".into(), "yes".into());
        }
        if matches!(self.changes, Changes::Status | Both) {
            object.status.get_or_insert_default().phase = Some("Finalized".into());
        }
        self.error.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// A finalizer of the table: its name, what it changes, and its error.
type Script = (&'static str, Changes, Option<&'static str>);

/// An object of the table: whether it is being deleted, and its finalizers.
type Before<'a> = (bool, &'a [&'a str]);

/// What is expected: the finalizers left (`None`: the object is gone), what has been written beside them, how many writes it took, those that failed, and those that ran.
struct Wanted<'a> {
    left: Option<&'a [&'a str]>,
    changes: Changes,
    writes: usize,
    failed: &'a [&'a str],
    ran: &'a [&'a str],
}

const UNTOUCHED: Wanted<'static> = Wanted { left: None, changes: Nothing, writes: 0, failed: &[], ran: &[] };

fn finalizers(scripts: &[Script], journal: &Journal) -> Finalizers<PersistentVolumeClaim> {
    let mut finalizers = Finalizers::new();
    for &(name, changes, error) in scripts {
        finalizers.register(name, Scripted { name, changes, error, journal: journal.clone() }).unwrap();
    }
    finalizers
}

fn claim(finalizers: &[&str]) -> PersistentVolumeClaim {
    let mut claim = PersistentVolumeClaim {
        metadata: config_map("object", &[]).metadata,
        ..PersistentVolumeClaim::default()
    };
    claim.metadata.finalizers = Some(finalizers.iter().map(ToString::to_string).collect());
    claim
}

async fn check((is_deleting, before): Before<'_>, scripts: &[Script], wanted: Wanted<'_>) {
    let env = TestEnv::start().await;
    env.create(&claim(before)).await;
    if is_deleting {
        env.delete::<PersistentVolumeClaim>(&key("object")).await;
    }
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    let writes = env.server().faults().add(
        Fault::delay(Duration::ZERO)
            .when(|it| {
                it.is(Verb::Patch, "persistentvolumeclaims") || it.is(Verb::Update, "persistentvolumeclaims")
            })
            .always(),
    );

    let journal = Journal::default();
    let result = finalizers(scripts, &journal).finalize(&client, &key("object")).await;
    assert_eq!(journal.lines(), wanted.ran);
    assert_eq!(writes.fired(), wanted.writes);
    match result {
        Ok(object) => {
            assert_eq!(wanted.failed, [""; 0]);
            assert_eq!(object.is_some(), !is_deleting, "there is something left to reconcile");
        }
        Err(FinalizersError::Failed { failed, .. }) => {
            assert_eq!(failed.iter().map(|error| &*error.name).collect::<Vec<_>>(), wanted.failed);
        }
        Err(error) => panic!("{error:?}"),
    }

    running.stop().await.unwrap();
    let stored = client.live().get::<PersistentVolumeClaim>(&key("object")).await.optional().unwrap();
    let Some(left) = wanted.left else {
        return assert_eq!(stored, None);
    };
    let stored = stored.unwrap();
    assert_eq!(stored.metadata.finalizers.as_deref().unwrap_or_default(), left);
    assert_eq!(stored.metadata.labels.is_some(), matches!(wanted.changes, Labels | Both));
    let phase = stored.status.as_ref().and_then(|status| status.phase.as_deref());
    assert_eq!(phase == Some("Finalized"), matches!(wanted.changes, Changes::Status | Both));
}

const FIRST: &str = "finalizers.sigs.k8s.io/testfinalizer";
const SECOND: &str = "finalizers.sigs.k8s.io/testfinalizer2";

#[test]
fn a_finalizer_is_registered_and_another_of_the_same_key_is_an_error() {
    let journal = Journal::default();
    let mut finalizers = finalizers(&[(FIRST, Nothing, None)], &journal);
    let mut register = |name| {
        finalizers.register(name, Scripted { name, changes: Nothing, error: None, journal: journal.clone() })
    };
    let error = register(FIRST).unwrap_err();
    assert_eq!(error.to_string(), format!("finalizer for key {FIRST:?} already registered"));
    register(SECOND).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_is_added_when_the_deletion_timestamp_is_unset_and_it_does_not_exist() {
    let one = [(FIRST, Both, Some("never called"))];
    check((false, &[]), &one, Wanted { left: Some(&[FIRST]), writes: 1, ..UNTOUCHED }).await;
    let wanted = Wanted { left: Some(&["example.com/other", FIRST]), writes: 1, ..UNTOUCHED };
    check((false, &["example.com/other"]), &one, wanted).await;
}

#[tokio::test(start_paused = true)]
async fn the_finalizer_runs_and_goes_when_the_deletion_timestamp_is_set_and_it_exists() {
    let wanted = Wanted { left: None, writes: 1, ran: &[FIRST], ..UNTOUCHED };
    check((true, &[FIRST]), &[(FIRST, Nothing, None)], wanted).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_happens_when_the_deletion_timestamp_is_set_and_the_finalizer_does_not_exist() {
    let other: &[&str] = &["example.com/other"];
    let wanted = Wanted { left: Some(other), ..UNTOUCHED };
    check((true, other), &[(FIRST, Both, Some("never called"))], wanted).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_happens_when_the_deletion_timestamp_is_unset_and_the_finalizer_exists() {
    let wanted = Wanted { left: Some(&[FIRST]), ..UNTOUCHED };
    check((false, &[FIRST]), &[(FIRST, Both, Some("never called"))], wanted).await;
}

#[tokio::test(start_paused = true)]
async fn multiple_finalizers_are_all_added_and_then_all_run_in_the_order_of_their_names() {
    // Registered the other way round.
    let scripts = [(SECOND, Nothing, None), (FIRST, Nothing, None)];
    let wanted = Wanted { left: Some(&[FIRST, SECOND]), writes: 1, ..UNTOUCHED };
    check((false, &[]), &scripts, wanted).await;
    let wanted = Wanted { left: None, writes: 1, ran: &[FIRST, SECOND], ..UNTOUCHED };
    check((true, &[SECOND, FIRST]), &scripts, wanted).await;
}

#[tokio::test(start_paused = true)]
async fn without_finalizers_nothing_happens() {
    let other: &[&str] = &["example.com/other"];
    check((false, other), &[], Wanted { left: Some(other), ..UNTOUCHED }).await;
    check((true, other), &[], Wanted { left: Some(other), ..UNTOUCHED }).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_finalizer_changes_is_written_whether_it_succeeds_or_fails() {
    let both: &[&str] = &["example.com/other", FIRST];
    for (changes, writes) in [(Nothing, 0), (Labels, 1), (Changes::Status, 1), (Both, 2)] {
        let wanted = Wanted { left: Some(both), changes, writes, failed: &[FIRST], ran: &[FIRST] };
        check((true, both), &[(FIRST, changes, Some("fails"))], wanted).await;
    }
    for (changes, writes) in [(Nothing, 1), (Labels, 1), (Changes::Status, 2), (Both, 2)] {
        let left: &[&str] = &["example.com/other"];
        let wanted = Wanted { left: Some(left), changes, writes, ran: &[FIRST], ..UNTOUCHED };
        check((true, both), &[(FIRST, changes, None)], wanted).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_status_of_an_object_that_goes_with_its_last_finalizer_is_no_error() {
    let wanted = Wanted { left: None, writes: 2, ran: &[FIRST], ..UNTOUCHED };
    check((true, &[FIRST]), &[(FIRST, Both, None)], wanted).await;
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_that_fails_holds_up_no_other() {
    let scripts = [(FIRST, Changes::Status, Some("fails")), (SECOND, Nothing, None)];
    let wanted = Wanted {
        left: Some(&[FIRST]),
        changes: Changes::Status,
        writes: 2,
        failed: &[FIRST],
        ran: &[FIRST, SECOND],
    };
    check((true, &[FIRST, SECOND]), &scripts, wanted).await;
    let scripts = [(FIRST, Nothing, Some("one")), (SECOND, Nothing, Some("two"))];
    let wanted =
        Wanted { left: Some(&[FIRST, SECOND]), failed: &[FIRST, SECOND], ran: &[FIRST, SECOND], ..UNTOUCHED };
    check((true, &[FIRST, SECOND]), &scripts, wanted).await;
}

#[tokio::test(start_paused = true)]
async fn an_object_goes_when_its_last_finalizer_has_run() {
    struct Note(Journal);
    impl Finalizer<ConfigMap> for Note {
        async fn finalize(&self, object: &mut ConfigMap) -> Result<(), BoxError> {
            // Any error will do.
            let _number: u32 = object.data.as_ref().unwrap()["number"].parse()?;
            self.0.write("cleaned up");
            Ok(())
        }
    }
    let env = TestEnv::start().await;
    let journal = Journal::default();
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let mut finalizers = Finalizers::new();
    finalizers.register(FIRST, Note(journal.clone())).unwrap();
    let finalizers = std::sync::Arc::new(finalizers);
    let reconciler = kubewright::reconcile::from_fn(move |_: Context, request: Request| {
        // The reconciler is called many times, and its future owns what it needs.
        let (client, finalizers) = (client.clone(), std::sync::Arc::clone(&finalizers));
        async move {
            finalizers.finalize(&client, &request).await?;
            Ok::<_, BoxError>(Action::await_change())
        }
    });
    Controller::builder(&manager).for_::<ConfigMap>().complete(reconciler).unwrap();
    let running = env.run(manager);

    env.create(&config_map("object", &[("number", "1")])).await;
    let is_held = |object: &ConfigMap| object.metadata.finalizers.is_some();
    env.wait_for::<ConfigMap>(&key("object"), |object| object.is_some_and(is_held)).await;
    assert_eq!(journal.lines(), [""; 0]);
    env.delete::<ConfigMap>(&key("object")).await;
    env.wait_gone::<ConfigMap>(&key("object")).await;
    assert_eq!(journal.lines(), ["cleaned up"]);
    running.stop().await.unwrap();
}
