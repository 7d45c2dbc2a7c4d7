//! What a controller's builder accepts, row by row of controller-runtime's `pkg/builder` suite.
//!
//! Rows without a test here:
//! - "two reconcilers error": the reconciler is a parameter of `complete`.
//! - "newController error returned": controllers have no constructor to replace.
//! - "unregistered kind without name": a type is a kind, there is no scheme to register it with.
//! - "For/Owns with a custom request type error": they do not exist for other request types; the compiler says so.
//! - "logger passed": `the_log_constructor_makes_the_span_of_a_reconcile`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use common::{Counter, Journal, config_map, key, secret};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright::{
    controller::{Builder, ControllerOptions, OwnsOptions, WatchOptions},
    controllerutil::{set_controller_reference, set_owner_reference},
    event::Event,
    handler,
    kube::{api::Patch, core::PartialObjectMeta},
    manager::Manager,
    metrics::{Registry, registry},
    prelude::*,
};
use kubewright_testing::TestEnv;
use serde_json::json;

async fn manager() -> (TestEnv, Manager) {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    (env, manager)
}

async fn refused(build: impl FnOnce(Builder) -> Builder) -> String {
    let (_env, manager) = manager().await;
    build(Controller::builder(&manager)).complete(Counter::default()).unwrap_err().to_string()
}

#[tokio::test]
async fn what_is_missing_is_named() {
    assert_eq!(
        refused(|it| it.for_::<ConfigMap>().for_::<Secret>()).await,
        "for_() may be called once, and was called for ConfigMap and Secret"
    );
    assert_eq!(
        refused(|it| it.named("x").owns::<Secret>()).await,
        "owns() needs for_(): the owner's kind is not known"
    );
    assert_eq!(
        refused(|it| it.watches::<Secret>(handler::enqueue_request_for_object())).await,
        "the controller has no name: call for_() or named()"
    );
    assert_eq!(
        refused(|it| it.named("x")).await,
        "there are no watches configured, controller will never get triggered: \
         use for_(), owns(), watches() or watches_raw_source()"
    );
}

#[tokio::test]
async fn two_controllers_for_one_kind_need_two_names() {
    let (_env, manager) = manager().await;
    Controller::builder(&manager).for_::<ConfigMap>().complete(Counter::default()).unwrap();
    let error = Controller::builder(&manager).for_::<ConfigMap>().complete(Counter::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is a controller named \"configmap\" already: give one of them another name with named()"
    );
    Controller::builder(&manager).for_::<ConfigMap>().named("other").complete(Counter::default()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn two_controllers_for_one_kind_both_reconcile() {
    let (env, manager) = manager().await;
    let (first, second) = (Counter::default(), Counter::default());
    Controller::builder(&manager).for_::<ConfigMap>().complete(first.clone()).unwrap();
    Controller::builder(&manager).for_::<ConfigMap>().named("second").complete(second.clone()).unwrap();
    let running = env.run(manager);
    env.create(&config_map("a", &[])).await;
    first.wait_for(&key("a"), 1).await;
    second.wait_for(&key("a"), 1).await;
    running.stop().await.unwrap();
}

#[tokio::test]
async fn concurrency_is_the_builders_then_the_kinds_then_the_managers() {
    let env = TestEnv::start().await;
    let mut defaults = ControllerOptions::default();
    defaults.max_concurrent_reconciles = NonZeroUsize::new(2).unwrap();
    defaults.group_kind_concurrency.insert("ConfigMap".into(), NonZeroUsize::new(3).unwrap());
    defaults.group_kind_concurrency.insert("Deployment.apps".into(), NonZeroUsize::new(4).unwrap());
    let manager = env.manager().controller_defaults(defaults).build().await.unwrap();
    let workers = |builder: Builder| {
        let debug = format!("{:?}", builder.build(Counter::default()).unwrap());
        debug.split("max_concurrent_reconciles: ").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    let builder = || Controller::builder(&manager);
    assert_eq!(workers(builder().for_::<Secret>()), "2");
    assert_eq!(workers(builder().for_::<ConfigMap>()), "3");
    assert_eq!(workers(builder().for_::<k8s_openapi::api::apps::v1::Deployment>()), "4");
    assert_eq!(workers(builder().for_::<ConfigMap>().max_concurrent_reconciles(5)), "5");
    assert_eq!(workers(builder().for_::<ConfigMap>().with_options(ControllerOptions::default())), "1");
}

/// Which of three ConfigMaps are reconciled because of Secrets that they own, as controller or not.
async fn owners(configure: impl FnOnce(Builder) -> Builder) -> Vec<usize> {
    let (env, manager) = manager().await;
    let counter = Counter::default();
    let mut owners = Vec::new();
    for name in ["controller", "owner", "stranger"] {
        owners.push(env.create(&config_map(name, &[])).await);
    }
    configure(Controller::builder(&manager)).complete(counter.clone()).unwrap();
    let running = env.run(manager);
    for owner in &owners {
        counter.wait_for(&Request::of(owner), 1).await;
    }
    let mut owned = secret("owned");
    set_controller_reference(&owners[0], &mut owned).unwrap();
    set_owner_reference(&owners[1], &mut owned).unwrap();
    env.create(&owned).await;
    counter.wait_for(&key("controller"), 2).await;
    env.delete::<Secret>(&key("owned")).await;
    counter.wait_for(&key("controller"), 3).await;
    running.stop().await.unwrap();
    ["controller", "owner", "stranger"].map(|name| counter.of(&key(name)) - 1).into()
}

#[tokio::test(start_paused = true)]
async fn owned_objects_reconcile_their_controller() {
    assert_eq!(owners(|it| it.for_::<ConfigMap>().owns::<Secret>()).await, [2, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn the_owner_may_be_named_after_the_owned() {
    assert_eq!(owners(|it| it.owns::<Secret>().for_::<ConfigMap>()).await, [2, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn owned_objects_reconcile_every_owner_if_asked_to() {
    assert_eq!(
        owners(|it| it.for_::<ConfigMap>().owns_with::<Secret>(OwnsOptions::new().match_every_owner())).await,
        [2, 2, 0]
    );
}

#[tokio::test(start_paused = true)]
async fn owned_objects_can_be_watched_by_their_metadata_alone() {
    assert_eq!(owners(|it| it.for_::<ConfigMap>().owns::<PartialObjectMeta<Secret>>()).await, [2, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn watches_work_without_a_kind_that_the_controller_is_for() {
    let (env, manager) = manager().await;
    let counter = Counter::default();
    Controller::builder(&manager)
        .named("watcher")
        .watches::<Secret>(handler::enqueue_mapped(|_: &Secret| [key("mapped"), key("mapped")]))
        .complete(counter.clone())
        .unwrap();
    let running = env.run(manager);
    env.create(&secret("a")).await;
    counter.wait_for(&key("mapped"), 1).await;
    running.stop().await.unwrap();
    assert_eq!(counter.of(&key("mapped")), 1);
}

#[tokio::test(start_paused = true)]
async fn metadata_watches_see_metadata_and_reads_of_the_same_form_share_them() {
    let (env, manager) = manager().await;
    let (journal, counter, client) = (Journal::default(), Counter::default(), manager.client());
    let seen = journal.clone();
    Controller::builder(&manager)
        .for_::<PartialObjectMeta<ConfigMap>>()
        .watches::<PartialObjectMeta<Secret>>(handler::enqueue_mapped(
            move |it: &PartialObjectMeta<Secret>| {
                seen.write(format!(
                    "{} {}",
                    it.types.as_ref().unwrap().kind,
                    it.metadata.name.as_ref().unwrap()
                ));
                Some(key("from-secret"))
            },
        ))
        .complete(counter.clone())
        .unwrap();
    let running = env.run(manager);
    env.create(&config_map("a", &[("x", "y")])).await;
    env.create(&secret("b")).await;
    counter.wait_for(&key("a"), 1).await;
    counter.wait_for(&key("from-secret"), 1).await;
    let read = client.get::<PartialObjectMeta<ConfigMap>>(&key("a")).await.unwrap();
    assert_eq!(read.metadata.name.as_deref(), Some("a"));
    running.stop().await.unwrap();
    assert_eq!(journal.lines(), ["PartialObjectMetadata b"]);
}

#[tokio::test(start_paused = true)]
async fn predicates_of_a_watch_concern_that_watch_and_filters_concern_all_but_raw_sources() {
    let (env, manager) = manager().await;
    let (counter, client) = (Counter::default(), manager.client());
    let not_hidden = |event: &Event<kubewright::event::AnyObject>| event.object().key().name() != "hidden";
    let marked = WatchOptions::new().with_predicate(predicate::selector(
        kubewright::kube::core::Selector::from_iter([("mark".to_owned(), "yes".to_owned())]),
    ));
    Controller::builder(&manager)
        .for_::<ConfigMap>()
        .watches_with::<Secret>(handler::enqueue_request_for_object(), marked)
        .watches_raw_source(source::func(|_context, queue: Queue<Request>| async move {
            queue.add(key("hidden"));
            Ok(())
        }))
        .with_event_filter(not_hidden)
        .complete(counter.clone())
        .unwrap();
    let running = env.run(manager);
    running.elected().await;
    counter.wait_for(&key("hidden"), 1).await;
    env.create(&config_map("hidden", &[])).await;
    env.create(&secret("unmarked")).await;
    env.create(&secret("hidden")).await;
    env.create(&config_map("seen", &[])).await;
    let mut with_mark = secret("marked");
    with_mark.metadata.labels = Some([("mark".to_owned(), "yes".to_owned())].into());
    env.create(&with_mark).await;
    counter.wait_for(&key("seen"), 1).await;
    counter.wait_for(&key("marked"), 1).await;
    // An object that loses its mark is heard of once more.
    let unmark = Patch::Merge(json!({ "metadata": { "labels": { "mark": null } } }));
    client.patch::<Secret, _>(&key("marked"), &unmark).await.unwrap();
    counter.wait_for(&key("marked"), 2).await;
    running.stop().await.unwrap();
    assert_eq!((counter.of(&key("hidden")), counter.of(&key("unmarked"))), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_controller_may_have_requests_of_another_type() {
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum Work {
        Sweep,
        Look(Request),
    }
    #[derive(Clone)]
    struct Worker(Journal, tokio::sync::watch::Sender<usize>);
    impl Reconciler<Work> for Worker {
        type Error = BoxError;
        async fn reconcile(&self, _context: Context, work: Work) -> Result<Action, BoxError> {
            self.0.write(format!("{work:?}"));
            self.1.send_modify(|runs| *runs += 1);
            Ok(Action::await_change())
        }
    }
    let (env, manager) = manager().await;
    let worker = Worker(Journal::default(), tokio::sync::watch::Sender::default());
    let mut runs = worker.1.subscribe();
    Controller::typed::<Work>(&manager)
        .named("worker")
        .watches::<ConfigMap>(handler::enqueue_mapped(|it: &ConfigMap| {
            [Work::Look(Request::of(it)), Work::Sweep]
        }))
        .complete(worker.clone())
        .unwrap();
    let running = env.run(manager);
    env.create(&config_map("a", &[])).await;
    let both = runs.wait_for(|runs| *runs == 2);
    assert!(tokio::time::timeout(Duration::from_secs(60), both).await.is_ok());
    running.stop().await.unwrap();
    assert_eq!(worker.0.lines(), ["Look(default/a)", "Sweep"]);
}

#[tokio::test(start_paused = true)]
async fn the_log_constructor_makes_the_span_of_a_reconcile() {
    let (env, manager) = manager().await;
    let (journal, counter) = (Journal::default(), Counter::default());
    let seen = Arc::new(journal.clone());
    Controller::builder(&manager)
        .log_constructor(move |controller, request, id| {
            seen.write(format!("{controller} {request} {}", id.to_string().len()));
            tracing::Span::none()
        })
        .for_::<ConfigMap>()
        .complete(counter.clone())
        .unwrap();
    let running = env.run(manager);
    env.create(&config_map("a", &[])).await;
    counter.wait_for(&key("a"), 1).await;
    running.stop().await.unwrap();
    assert_eq!(journal.lines(), ["configmap default/a 36"]);
}

#[tokio::test(start_paused = true)]
async fn managers_with_a_registry_each_are_measured_apart() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let measured = async |name: &str| {
        let manager = env.manager().metrics_registry(Registry::new()).build().await.unwrap();
        let counter = Counter::default();
        Controller::builder(&manager).for_::<ConfigMap>().named(name).complete(counter.clone()).unwrap();
        let running = env.run(manager.clone());
        counter.wait_for(&key("a"), 1).await;
        running.stop().await.unwrap();
        manager.metrics_registry().text()
    };
    let (one, other) = (measured("one").await, measured("other").await);
    assert!(one.contains(r#"controller_runtime_max_concurrent_reconciles{controller="one"} 1"#), "{one}");
    assert!(!one.contains("other") && !other.contains(r#""one""#));
    assert!(!registry().text().contains(r#"controller="one""#));
}
