//! What an author writes: the rows of controller-runtime's `pkg/reconcile`.
//!
//! | rows without a test | why |
//! |---|---|
//! | `IsZero` of a nil result | an [`Action`] is never nil |
//! | a terminal error around nil | a [`TerminalError`] always has a cause |
//! | `Requeue: true` | deprecated upstream, absent here: return an error |

#![allow(clippy::unwrap_used, reason = "these are tests, though not each function is marked as one")]

mod common;

use std::{error::Error, sync::Arc, time::Duration};

use common::{Counter, Journal, config_map, key};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright::{
    client::ClientError,
    prelude::*,
    reconcile::{ObjectReconciler, TerminalError, as_reconciler, from_fn},
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, Status},
};

mod action {
    use super::*;

    /// Upstream's `Result.IsZero`.
    #[test]
    fn an_action_is_zero_when_it_asks_for_nothing() {
        assert_eq!(Action::await_change(), Action::default());
        assert_eq!(Action::await_change().requeue_after(), None);
        assert_eq!(Action::await_change().priority(), None);
        assert_ne!(Action::requeue(Duration::from_secs(1)), Action::default());
        assert_ne!(Action::requeue(Duration::ZERO), Action::default());
        assert_ne!(Action::await_change().with_priority(0), Action::default());
    }

    #[test]
    fn an_action_says_what_was_asked_for() {
        let action = Action::requeue(Duration::from_secs(1)).with_priority(-3);
        assert_eq!(action.requeue_after(), Some(Duration::from_secs(1)));
        assert_eq!(action.priority(), Some(-3));
        assert_eq!(Action::requeue(Duration::ZERO).requeue_after(), Some(Duration::ZERO));
    }
}

mod func {
    use super::*;

    #[tokio::test]
    async fn the_function_is_called_with_the_request_and_its_result_returned() {
        let reconciler = from_fn(|_: Context, request: Request| async move {
            assert_eq!(request, Request::new("foo", "bar"));
            Ok::<_, BoxError>(Action::requeue(Duration::from_secs(1)))
        });
        let action = reconciler.reconcile(Context::detached(), Request::new("foo", "bar")).await.unwrap();
        assert_eq!(action, Action::requeue(Duration::from_secs(1)));
    }

    #[tokio::test]
    async fn the_function_is_called_with_the_context_and_its_error_returned() {
        let context = Context::detached();
        let id = context.reconcile_id();
        let reconciler = from_fn(move |context: Context, request: u8| async move {
            assert_eq!(context.reconcile_id(), id);
            Err(format!("hello world {request}"))
        });
        assert_eq!(reconciler.reconcile(context, 7).await, Err("hello world 7".to_owned()));
    }

    #[tokio::test]
    async fn a_shared_reconciler_is_a_reconciler() {
        let counter = Arc::new(Counter::default());
        let action =
            Reconciler::reconcile(&Arc::clone(&counter), Context::detached(), key("a")).await.unwrap();
        assert_eq!(action, Action::await_change());
        assert_eq!(counter.of(&key("a")), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_function_is_what_a_controller_runs() {
        let env = TestEnv::start().await;
        let manager = env.manager().build().await.unwrap();
        let counter = Counter::default();
        let counts = counter.clone();
        let reconciler = from_fn(move |_: Context, request: Request| {
            counts.count(&request);
            std::future::ready(Ok::<_, BoxError>(Action::await_change()))
        });
        Controller::builder(&manager).for_::<ConfigMap>().complete(reconciler).unwrap();
        let running = env.run(manager);
        env.create(&config_map("a", &[])).await;
        counter.wait_for(&key("a"), 1).await;
        running.stop().await.unwrap();
    }
}

mod terminal_error {
    use super::*;

    #[derive(Debug, PartialEq, thiserror::Error)]
    #[error("custom error: {0}")]
    struct Custom(u8);

    #[test]
    fn it_unwraps_to_its_cause() {
        let terminal = TerminalError::new(Custom(1));
        assert_eq!(terminal.source().unwrap().downcast_ref::<Custom>(), Some(&Custom(1)));
    }

    /// Upstream's text is `terminal error: custom error: 1`; a chain that is printed says the same, once.
    #[test]
    fn it_says_what_it_is_and_then_its_cause() {
        let terminal = TerminalError::new(Custom(1));
        assert_eq!(terminal.to_string(), "terminal error");
        assert_eq!(terminal.source().unwrap().to_string(), "custom error: 1");
    }

    #[test]
    fn it_is_found_by_itself_and_anywhere_in_a_chain() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] BoxError);

        assert!(TerminalError::is_in_chain(&TerminalError::new("inner")));
        assert!(TerminalError::is_in_chain(&Outer(Outer(TerminalError::new(Custom(1)).into()).into())));
        assert!(!TerminalError::is_in_chain(&Custom(1)));
        assert!(!TerminalError::is_in_chain(&Outer(Custom(1).into())));
        // A text that only looks like one is none.
        let text: BoxError = "terminal error".into();
        assert!(!TerminalError::is_in_chain(text.as_ref()));
    }
}

mod as_a_reconciler {
    use super::*;

    /// Writes down the objects that it is handed, and refuses those that are called `bad`.
    struct Recorder(Journal);

    impl ObjectReconciler<ConfigMap> for Recorder {
        type Error = String;

        async fn reconcile(&self, context: Context, object: Arc<ConfigMap>) -> Result<Action, String> {
            assert!(!context.cancellation().is_cancelled());
            let name = object.metadata.name.as_deref().unwrap();
            self.0.write(name);
            if name == "bad" { Err("refused".into()) } else { Ok(Action::requeue(Duration::from_secs(9))) }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_existing_object_is_read_and_handed_on() {
        let env = TestEnv::start().await;
        env.create(&config_map("existing", &[])).await;
        env.create(&config_map("bad", &[])).await;
        let manager = env.manager().build().await.unwrap();
        let journal = Journal::default();
        let reconciler = as_reconciler::<ConfigMap, _>(manager.client(), Recorder(journal.clone()));
        let running = env.run(manager);
        running.elected().await;

        let action = reconciler.reconcile(Context::detached(), key("existing")).await.unwrap();
        assert_eq!(action, Action::requeue(Duration::from_secs(9)));
        let error = reconciler.reconcile(Context::detached(), key("bad")).await.unwrap_err();
        assert_eq!(error.to_string(), "refused");
        assert_eq!(journal.lines(), ["existing", "bad"]);
        running.stop().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_that_does_not_exist_needs_nothing_and_is_not_handed_on() {
        let env = TestEnv::start().await;
        let manager = env.manager().build().await.unwrap();
        let journal = Journal::default();
        let reconciler = as_reconciler::<ConfigMap, _>(manager.client(), Recorder(journal.clone()));
        let running = env.run(manager);
        running.elected().await;
        let action = reconciler.reconcile(Context::detached(), key("missing")).await.unwrap();
        assert_eq!(action, Action::await_change());
        assert_eq!(journal.lines(), [""; 0]);
        running.stop().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn another_error_of_the_read_is_returned() {
        struct Never;
        impl ObjectReconciler<Secret> for Never {
            type Error = BoxError;
            async fn reconcile(&self, _: Context, _: Arc<Secret>) -> Result<Action, BoxError> {
                panic!("there is no object to hand on")
            }
        }
        let env = TestEnv::start().await;
        let forbidden = Status::new(http::StatusCode::FORBIDDEN, "Forbidden", "secrets is forbidden");
        env.server().faults().add(Fault::respond(forbidden).when(|it| it.follows("secrets")).always());
        let manager = env.manager().build().await.unwrap();
        let reconciler = as_reconciler::<Secret, _>(manager.client(), Never);
        let running = env.run(manager);
        running.elected().await;
        let error = reconciler.reconcile(Context::detached(), key("any")).await.unwrap_err();
        let error = error.downcast::<ClientError>().unwrap();
        assert!(error.is_forbidden(), "{error:?}");
        let error = kubewright::error_chain(&*error);
        assert!(error.starts_with("failed to get Secret \"default/any\": "), "{error}");
        assert!(error.ends_with("secrets is forbidden"), "{error}");
        running.stop().await.unwrap();
    }
}
