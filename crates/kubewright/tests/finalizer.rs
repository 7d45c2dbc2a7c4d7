//! Finalizers by name: the rows of controller-runtime's `pkg/finalizer`.
//!
//! Every row has its test. The last one writes the objects as well, which upstream leaves to the reader.

#![allow(clippy::unwrap_used, reason = "these are tests, though not each function is marked as one")]

mod common;

use common::{Journal, config_map, events::paused, key};
use jiff::Timestamp;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Time};
use kubewright::{
    finalizer::{Changes, Failure, Finalizer, Finalizers},
    prelude::*,
};
use kubewright_testing::TestEnv;

/// Does what it was told, and writes down that it ran.
struct Scripted {
    name: &'static str,
    changes: Changes,
    error: Option<&'static str>,
    journal: Journal,
}

impl Finalizer<ConfigMap> for Scripted {
    async fn finalize(&self, _object: &mut ConfigMap) -> Result<Changes, Failure> {
        self.journal.write(self.name);
        match self.error {
            Some(error) => Err(Failure::new(error).with_changes(self.changes)),
            None => Ok(self.changes),
        }
    }
}

/// A finalizer of the table: its name, what it changes, and its error.
type Script = (&'static str, Changes, Option<&'static str>);

/// An object of the table: whether it is being deleted, and its finalizers.
type State<'a> = (bool, &'a [&'a str]);

/// What is expected: the finalizers left, the changes, those that failed, and those that ran.
struct Wanted<'a> {
    left: &'a [&'a str],
    changes: Changes,
    failed: &'a [&'a str],
    ran: &'a [&'a str],
}

fn finalizers(scripts: &[Script], journal: &Journal) -> Finalizers<ConfigMap> {
    let mut finalizers = Finalizers::new();
    for &(name, changes, error) in scripts {
        finalizers.register(name, Scripted { name, changes, error, journal: journal.clone() }).unwrap();
    }
    finalizers
}

#[track_caller]
fn check((deleting, before): State<'_>, scripts: &[Script], wanted: &Wanted<'_>) {
    let journal = Journal::default();
    let mut object = config_map("object", &[]);
    object.metadata.deletion_timestamp = deleting.then_some(Time(Timestamp::UNIX_EPOCH));
    object.metadata.finalizers =
        (!before.is_empty()).then(|| before.iter().map(ToString::to_string).collect());
    let result = paused(finalizers(scripts, &journal).finalize(&mut object));
    assert_eq!(object.metadata.finalizers.unwrap_or_default(), wanted.left);
    assert_eq!(result.changes, wanted.changes);
    assert_eq!(result.failed.iter().map(|error| error.name.as_str()).collect::<Vec<_>>(), wanted.failed);
    assert_eq!(journal.lines(), wanted.ran);
}

const FIRST: &str = "finalizers.sigs.k8s.io/testfinalizer";
const SECOND: &str = "finalizers.sigs.k8s.io/testfinalizer2";

fn none() -> Changes {
    Changes::none()
}

mod register {
    use super::*;

    #[test]
    fn a_finalizer_is_registered_and_another_of_the_same_key_is_an_error() {
        let mut finalizers = finalizers(&[(FIRST, none(), None)], &Journal::default());
        let again = Scripted { name: FIRST, changes: none(), error: None, journal: Journal::default() };
        let error = finalizers.register(FIRST, again).unwrap_err();
        assert_eq!(error.to_string(), format!("finalizer for key {FIRST:?} already registered"));
        let another = Scripted { name: SECOND, changes: none(), error: None, journal: Journal::default() };
        finalizers.register(SECOND, another).unwrap();
    }
}

mod finalize {
    use super::*;

    #[test]
    fn a_finalizer_is_added_when_the_deletion_timestamp_is_unset_and_it_does_not_exist() {
        let wanted = Wanted { left: &[FIRST], changes: none().updated(), failed: &[], ran: &[] };
        check((false, &[]), &[(FIRST, none(), None)], &wanted);
        // Beside somebody else's.
        let wanted = Wanted { left: &["other", FIRST], changes: none().updated(), failed: &[], ran: &[] };
        check((false, &["other"]), &[(FIRST, none(), None)], &wanted);
    }

    #[test]
    fn the_finalizer_runs_and_goes_when_the_deletion_timestamp_is_set_and_it_exists() {
        let wanted = Wanted { left: &[], changes: none().updated(), failed: &[], ran: &[FIRST] };
        check((true, &[FIRST]), &[(FIRST, none(), None)], &wanted);
    }

    #[test]
    fn nothing_happens_when_the_deletion_timestamp_is_set_and_the_finalizer_does_not_exist() {
        let wanted = Wanted { left: &["other"], changes: none(), failed: &[], ran: &[] };
        check((true, &["other"]), &[(FIRST, none(), None)], &wanted);
        let wanted = Wanted { left: &[], changes: none(), failed: &[], ran: &[] };
        check((true, &[]), &[(FIRST, none(), None)], &wanted);
    }

    #[test]
    fn nothing_happens_when_the_deletion_timestamp_is_unset_and_the_finalizer_exists() {
        let wanted = Wanted { left: &[FIRST], changes: none(), failed: &[], ran: &[] };
        check((false, &[FIRST]), &[(FIRST, none(), None)], &wanted);
    }

    #[test]
    fn multiple_finalizers_are_all_added_and_then_all_run_in_the_order_of_their_names() {
        // Registered the other way round.
        let scripts: [Script; 2] = [(SECOND, none(), None), (FIRST, none(), None)];
        let wanted = Wanted { left: &[FIRST, SECOND], changes: none().updated(), failed: &[], ran: &[] };
        check((false, &[]), &scripts, &wanted);
        let wanted = Wanted { left: &[], changes: none().updated(), failed: &[], ran: &[FIRST, SECOND] };
        check((true, &[SECOND, FIRST]), &scripts, &wanted);
    }

    #[test]
    fn without_finalizers_nothing_happens() {
        let wanted = Wanted { left: &["other"], changes: none(), failed: &[], ran: &[] };
        check((false, &["other"]), &[], &wanted);
        check((true, &["other"]), &[], &wanted);
    }

    #[test]
    fn the_result_and_the_error_of_each_finalizer_count() {
        /// One finalizer runs, with this result and this error.
        #[track_caller]
        fn check_one(changes: Changes, error: Option<&'static str>, left: &[&str], wanted: Changes) {
            let failed: &[&str] = if error.is_some() { &[FIRST] } else { &[] };
            let wanted = Wanted { left, changes: wanted, failed, ran: &[FIRST] };
            check((true, &[FIRST]), &[(FIRST, changes, error)], &wanted);
        }
        // A finalizer that succeeds goes, which is an update whatever it says of itself.
        check_one(none(), None, &[], none().updated());
        check_one(none().updated(), None, &[], none().updated());
        check_one(none().status_updated(), None, &[], none().updated().status_updated());
        // One that fails stays. What it has changed is to be written all the same.
        check_one(none(), Some("fails"), &[FIRST], none());
        check_one(none().updated(), Some("fails"), &[FIRST], none().updated());
        check_one(none().status_updated(), Some("fails"), &[FIRST], none().status_updated());
        let both = none().updated().status_updated();
        check_one(both, Some("fails"), &[FIRST], both);
    }

    #[test]
    fn a_finalizer_that_fails_holds_up_no_other() {
        let scripts: [Script; 2] = [(FIRST, none().status_updated(), Some("fails")), (SECOND, none(), None)];
        let wanted = Wanted {
            left: &[FIRST],
            changes: none().updated().status_updated(),
            failed: &[FIRST],
            ran: &[FIRST, SECOND],
        };
        check((true, &[FIRST, SECOND]), &scripts, &wanted);
        let scripts: [Script; 2] = [(FIRST, none(), Some("one")), (SECOND, none(), Some("two"))];
        let wanted = Wanted {
            left: &[FIRST, SECOND],
            changes: none(),
            failed: &[FIRST, SECOND],
            ran: &[FIRST, SECOND],
        };
        check((true, &[FIRST, SECOND]), &scripts, &wanted);
    }

    #[test]
    fn an_error_names_its_finalizer_and_keeps_its_cause() {
        let mut object = config_map("object", &[]);
        object.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        object.metadata.finalizers = Some(vec![FIRST.to_owned()]);
        let finalizers = finalizers(&[(FIRST, none(), Some("the archive is full"))], &Journal::default());
        let result = paused(finalizers.finalize(&mut object));
        assert_eq!(result.failed[0].to_string(), format!("finalizer {FIRST} failed"));
        assert_eq!(result.failed[0].source.to_string(), "the archive is full");
    }

    #[test]
    fn any_error_of_a_finalizer_becomes_a_failure() {
        struct Parses;
        impl Finalizer<ConfigMap> for Parses {
            async fn finalize(&self, object: &mut ConfigMap) -> Result<Changes, Failure> {
                let _number: u32 = object.metadata.name.as_deref().unwrap_or_default().parse()?;
                Ok(Changes::none())
            }
        }
        let mut finalizers = Finalizers::new();
        finalizers.register(FIRST, Parses).unwrap();
        let mut object = config_map("seven", &[]);
        object.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        object.metadata.finalizers = Some(vec![FIRST.to_owned()]);
        let result = paused(finalizers.finalize(&mut object));
        assert!(result.failed[0].source.is::<std::num::ParseIntError>());
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_goes_when_its_last_finalizer_has_run_and_the_caller_has_written_that() {
    let env = TestEnv::start().await;
    let journal = Journal::default();
    let scripts: [Script; 2] = [(FIRST, none(), None), (SECOND, none(), None)];
    let finalizers = std::sync::Arc::new(finalizers(&scripts, &journal));
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let reconciler = kubewright::reconcile::from_fn(move |_: Context, request: Request| {
        // The reconciler is called many times, and its future owns what it needs.
        let (client, finalizers) = (client.clone(), std::sync::Arc::clone(&finalizers));
        async move {
            let Some(object) = client.get::<ConfigMap>(&request).await.optional()? else {
                return Ok(Action::await_change());
            };
            let mut object = ConfigMap::clone(&object);
            let result = finalizers.finalize(&mut object).await;
            if result.changes.updated {
                client.update(&object).await?;
            }
            assert!(result.failed.is_empty());
            Ok::<_, BoxError>(Action::await_change())
        }
    });
    Controller::builder(&manager).for_::<ConfigMap>().complete(reconciler).unwrap();
    let running = env.run(manager);

    env.create(&config_map("object", &[])).await;
    env.wait_for::<ConfigMap>(&key("object"), |object| {
        object.is_some_and(|object| {
            object.metadata.finalizers.as_deref().is_some_and(|all| all == [FIRST, SECOND])
        })
    })
    .await;
    assert_eq!(journal.lines(), [""; 0]);
    env.delete::<ConfigMap>(&key("object")).await;
    env.wait_gone::<ConfigMap>(&key("object")).await;
    assert_eq!(journal.lines(), [FIRST, SECOND]);
    running.stop().await.unwrap();
}
