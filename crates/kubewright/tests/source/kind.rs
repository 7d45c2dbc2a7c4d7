//! Kinds, through an informer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kubewright::{
    event::Event,
    handler::{EventHandler, Requests, enqueue_mapped, enqueue_request_for_object},
    kube::{
        Api,
        api::{ApiResource, DynamicObject, Patch, PostParams},
        core::PartialObjectMeta,
    },
    object::Object,
    prelude::*,
    source::KindSource,
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, Status},
};
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    Heard, chain,
    common::{Counter, Journal, config_map, key},
    control, step, telling,
    widget::Widget,
};

/// Creates, changes and deletes an object, and hears of each.
async fn check_life_of<K: Object + Serialize>(
    env: TestEnv,
    manager: Manager,
    source: KindSource<K, Request>,
    mut heard: Heard,
    object: &K,
) {
    let name = Request::of(object);
    env.create(&step(object, "0")).await;
    let counter = control(&manager, source);
    let client = manager.client();
    let running = env.run(manager);
    assert_eq!(heard.next().await, format!("initial {name} 0"));
    counter.wait_for(&name, 1).await;

    let other = Request::new("default", "later");
    let mut later = step(object, "1");
    later.meta_mut().name = Some("later".into());
    env.create(&later).await;
    assert_eq!(heard.next().await, format!("create {other} 1"));
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "step": "2" } } }));
    client.patch::<K, _>(&name, &patch).await.unwrap();
    assert_eq!(heard.next().await, format!("update {name} 0 to 2"));
    env.delete::<K>(&name).await;
    assert_eq!(heard.next().await, format!("delete {name} 2, unknown: false"));
    // For each event its object was enqueued.
    counter.wait_for(&other, 1).await;
    counter.wait_for(&name, 3).await;
    running.stop().await.unwrap();
    assert_eq!(heard.rest(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_provides_create_update_and_delete_events() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (handler, heard) = telling::<ConfigMap>();
    let source = source::kind(manager.cache(), handler);
    check_life_of(env, manager, source, heard, &config_map("object", &[])).await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_provides_create_update_and_delete_events() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (handler, heard) = telling::<ConfigMap>();
    let source = source::informer(manager.cache(), handler);
    check_life_of(env, manager, source, heard, &config_map("object", &[])).await;
}

#[tokio::test(start_paused = true)]
async fn a_custom_kind_provides_create_update_and_delete_events() {
    let env = TestEnv::start().await;
    env.install_crds([Widget::definition()]).await;
    let manager = env.manager().build().await.unwrap();
    let (handler, heard) = telling::<Widget>();
    let source = source::kind(manager.cache(), handler);
    check_life_of(env, manager, source, heard, &Widget::new("object", 1)).await;
}

#[tokio::test(start_paused = true)]
async fn the_initial_list_is_enqueued_with_low_priority_and_what_changes_later_is_not() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let journal = Journal::default();
    let priorities = journal.clone();
    let handler = move |event: &Event<ConfigMap>, requests: &Requests<'_, Request>| {
        priorities.write(format!("{} {}", event.object().key().name(), requests.options().priority));
        requests.add(event.object().key().clone());
    };
    let counter = control(&manager, source::kind(manager.cache(), handler));
    env.create(&config_map("before", &[])).await;
    let running = env.run(manager);
    counter.wait_for(&key("before"), 1).await;
    env.create(&config_map("after", &[])).await;
    counter.wait_for(&key("after"), 1).await;
    running.stop().await.unwrap();
    assert_eq!(journal.lines(), ["before -100", "after 0"]);
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_provides_events_of_the_same_objects() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let (handler, mut heard) = telling::<PartialObjectMeta<ConfigMap>>();
    let counter = control(&manager, source::kind(manager.cache(), handler));
    env.create(&step(&config_map("object", &[("data", "not sent")]), "0")).await;
    let running = env.run(manager);
    assert_eq!(heard.next().await, "initial default/object 0");
    env.delete::<ConfigMap>(&key("object")).await;
    assert_eq!(heard.next().await, "delete default/object 0, unknown: false");
    counter.wait_for(&key("object"), 1).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_source_of_another_cluster_s_cache_hears_of_that_cluster() {
    let (here, there) = (TestEnv::start().await, TestEnv::start().await);
    let manager = here.manager().build().await.unwrap();
    let other = there.manager().build().await.unwrap();
    let counter =
        control(&manager, source::kind::<ConfigMap, _>(other.cache(), enqueue_request_for_object()));
    let (running, running_there) = (here.run(manager), there.run(other));
    here.create(&config_map("here", &[])).await;
    there.create(&config_map("there", &[])).await;
    counter.wait_for(&key("there"), 1).await;
    running.stop().await.unwrap();
    running_there.stop().await.unwrap();
    assert_eq!(counter.of(&key("here")), 0);
}

#[tokio::test(start_paused = true)]
async fn all_predicates_have_to_pass_and_the_first_that_does_not_ends_the_event() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let journal = Journal::default();
    let judge = |name: &'static str, drops: &'static str| {
        let journal = journal.clone();
        move |event: &Event<ConfigMap>| {
            let event = match event {
                Event::Create { .. } => "create",
                Event::Update { .. } => "update",
                Event::Delete { .. } => "delete",
                Event::Generic { .. } => "generic",
            };
            journal.write(format!("{name} {event}"));
            event != drops
        }
    };
    let (handler, mut heard) = telling::<ConfigMap>();
    let source = source::kind(manager.cache(), handler)
        .with_predicate(judge("first", "create"))
        .with_predicate(judge("second", "update"));
    let counter = control(&manager, source);
    let client = manager.client();
    let running = env.run(manager);

    env.create(&step(&config_map("object", &[]), "0")).await;
    let patch = Patch::Merge(json!({ "data": { "changed": "yes" } }));
    client.patch::<ConfigMap, _>(&key("object"), &patch).await.unwrap();
    env.delete::<ConfigMap>(&key("object")).await;
    assert_eq!(heard.next().await, "delete default/object 0, unknown: false");
    counter.wait_for(&key("object"), 1).await;
    running.stop().await.unwrap();
    assert_eq!(
        journal.lines(),
        ["first create", "first update", "second update", "first delete", "second delete"]
    );
    assert_eq!(heard.rest(), [""; 0]);
}

/// Upstream drops what is not of the type that it watches; here the object itself is of the kind, and its content is not what the type says.
#[tokio::test(start_paused = true)]
async fn an_object_that_is_not_what_its_type_says_is_left_out_and_holds_up_no_other() {
    let env = TestEnv::start().await;
    env.install_crds([Widget::definition()]).await;
    let manager = env.manager().build().await.unwrap();
    let mapped = enqueue_mapped(|widget: &Widget| [Request::of(widget)]);
    let counter = control(&manager, source::kind(manager.cache(), mapped));
    let client = manager.client();
    let create_broken = async |name: &str| {
        let resource = ApiResource::erase::<Widget>(&());
        let api = Api::<DynamicObject>::namespaced_with(env.kube(), "default", &resource);
        let data = json!({ "size": "not a number" });
        api.create(&PostParams::default(), &DynamicObject::new(name, &resource).data(data)).await.unwrap();
    };
    create_broken("broken-before").await;
    env.create(&Widget::new("before", 1)).await;
    let running = env.run(manager);
    counter.wait_for(&key("before"), 1).await;
    create_broken("broken-after").await;
    env.create(&Widget::new("after", 1)).await;
    counter.wait_for(&key("after"), 1).await;
    for name in ["broken-before", "broken-after"] {
        assert_eq!(counter.of(&key(name)), 0, "{name}");
        assert!(client.get::<Widget>(&key(name)).await.is_err(), "{name}");
    }
    running.stop().await.unwrap();
}

mod sync {
    use super::*;

    /// Takes a third of a second for each object, and never ends with the one numbered `stuck_at`.
    struct Slow {
        seen: AtomicUsize,
        stuck_at: usize,
    }

    impl EventHandler<ConfigMap> for Slow {
        async fn handle(&self, event: &Event<ConfigMap>, requests: &Requests<'_, Request>) {
            if self.seen.fetch_add(1, Ordering::SeqCst) == self.stuck_at {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep_until(Instant::now() + Duration::from_millis(330)).await;
            requests.add(event.object().key().clone());
        }
    }

    /// A manager with 900 ConfigMaps before it, and a handler that takes five minutes for them.
    async fn with_900_objects(stuck_at: usize) -> (TestEnv, Manager, Counter) {
        let env = TestEnv::start().await;
        for number in 0..900 {
            env.create(&config_map(&number.to_string(), &[])).await;
        }
        let manager = env.manager().build().await.unwrap();
        let slow = Slow { seen: AtomicUsize::new(0), stuck_at };
        let counter = control(&manager, source::kind(manager.cache(), slow));
        (env, manager, counter)
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_handler_has_as_long_as_it_gets_further() {
        let (env, manager, counter) = with_900_objects(usize::MAX).await;
        let running = env.run(manager);
        tokio::time::sleep_until(Instant::now() + Duration::from_secs(400)).await;
        assert_eq!(counter.of(&key("899")), 1);
        running.stop().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_handler_that_is_stuck_is_named_with_how_far_it_got() {
        let (env, manager, _counter) = with_900_objects(412).await;
        let error = chain(&env.run(manager).ended().await.unwrap_err());
        let expected = "timed out waiting for kind source: ConfigMap to sync: no progress within 120s, 412 of 900 handled, at work on default/";
        let (before, stuck) = error.rsplit_once(expected).unwrap_or_else(|| panic!("{error}"));
        assert!(before.ends_with(": ") && stuck.parse::<usize>().unwrap() < 900, "{error}");
    }

    /// A controller of a kind that cannot be listed gives up after its `cache_sync_timeout`, and says why.
    async fn check_gives_up<K: Object>(env: TestEnv, because: &str) {
        let manager = env.manager().build().await.unwrap();
        let source = source::kind::<K, Request>(manager.cache(), enqueue_request_for_object());
        let (limit, counter) = (Duration::from_secs(7), Counter::default());
        Controller::builder(&manager)
            .named("test")
            .watches_raw_source(source)
            .cache_sync_timeout(limit)
            .complete(counter)
            .unwrap();
        let start = Instant::now();
        let error = chain(&env.run(manager).ended().await.unwrap_err());
        assert_eq!(start.elapsed().as_secs(), limit.as_secs());
        let kind = kubewright::object::Kind::of::<K>();
        assert!(error.contains(&format!("failed to wait for kind source: {kind} to sync")), "{error}");
        assert!(error.contains(because), "{error}");
    }

    /// Upstream: the kind is not in the cache, or the cache does not know it.
    #[tokio::test(start_paused = true)]
    async fn a_kind_that_is_not_served_ends_in_an_error_that_names_it() {
        check_gives_up::<Widget>(TestEnv::start().await, "the API server answered 404").await;
    }

    /// Upstream: the cache fails to sync.
    #[tokio::test(start_paused = true)]
    async fn a_kind_that_may_not_be_listed_ends_in_an_error_that_says_so() {
        let env = TestEnv::start().await;
        let forbidden = Status::new(http::StatusCode::FORBIDDEN, "Forbidden", "configmaps is forbidden");
        env.server().faults().add(Fault::respond(forbidden).when(|it| it.follows("configmaps")).always());
        check_gives_up::<ConfigMap>(env, "configmaps is forbidden").await;
    }

    /// Upstream asks for the kind again every ten seconds.
    #[tokio::test(start_paused = true)]
    async fn a_kind_that_is_defined_within_the_timeout_is_watched() {
        let env = TestEnv::start().await;
        let manager = env.manager().build().await.unwrap();
        let counter =
            control(&manager, source::kind::<Widget, _>(manager.cache(), enqueue_request_for_object()));
        let refused =
            env.server().faults().add(Fault::delay(Duration::ZERO).always().when(|it| it.follows("widgets")));
        let running = env.run(manager);
        // Once it has been refused twice it is waiting for its next try.
        let refused_twice = async {
            while refused.fired() < 2 {
                tokio::time::advance(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(100), refused_twice).await.unwrap();
        env.install_crds([Widget::definition()]).await;
        env.create(&Widget::new("late", 1)).await;
        counter.wait_for(&key("late"), 1).await;
        running.stop().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_reconcile_comes_after_the_handler_has_seen_the_whole_initial_list() {
        const OBJECTS: usize = 20;
        let env = TestEnv::start().await;
        for number in 0..OBJECTS {
            env.create(&config_map(&format!("object-{number}"), &[])).await;
        }
        let manager = env.manager().build().await.unwrap();
        let handled = Arc::new(AtomicUsize::new(0));
        let slowly = {
            let handled = Arc::clone(&handled);
            kubewright::handler::enqueue_mapped_async(move |config: Arc<ConfigMap>| {
                let handled = Arc::clone(&handled);
                async move {
                    // Workers have every chance to begin meanwhile.
                    tokio::task::yield_now().await;
                    tokio::time::advance(Duration::from_millis(1)).await;
                    handled.fetch_add(1, Ordering::SeqCst);
                    [Request::of(&*config)]
                }
            })
        };
        let counter = Counter::default();
        let counts = counter.clone();
        let reconciler = kubewright::reconcile::from_fn(move |_: Context, request: Request| {
            counts.count(&request);
            std::future::ready(match handled.load(Ordering::SeqCst) {
                OBJECTS => Ok(Action::await_change()),
                early => Err(format!("reconciled after {early} objects")),
            })
        });
        Controller::builder(&manager)
            .named("test")
            .watches_raw_source(source::kind(manager.cache(), slowly))
            .max_concurrent_reconciles(4)
            .complete(reconciler)
            .unwrap();
        let running = env.run(manager);
        for number in 0..OBJECTS {
            counter.wait_for(&key(&format!("object-{number}")), 1).await;
        }
        running.stop().await.unwrap();
        // Nobody came early, so nobody failed and was tried again.
        for number in 0..OBJECTS {
            assert_eq!(counter.of(&key(&format!("object-{number}"))), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_informer_that_does_not_sync_holds_up_nobody() {
        let env = TestEnv::start().await;
        let manager = env.manager().build().await.unwrap();
        let counter = Counter::default();
        let client = manager.client();
        Controller::builder(&manager)
            .for_::<ConfigMap>()
            .watches_raw_source(source::informer::<Widget, _>(manager.cache(), enqueue_request_for_object()))
            .cache_sync_timeout(Duration::from_secs(1))
            .complete(counter.clone())
            .unwrap();
        let running = env.run(manager);
        env.create(&config_map("first", &[])).await;
        counter.wait_for(&key("first"), 1).await;
        // Long after the timeout, the controller is alive; and what appears in the end is heard of.
        tokio::time::advance(Duration::from_secs(100)).await;
        client.create(&config_map("second", &[])).await.unwrap();
        counter.wait_for(&key("second"), 1).await;
        env.install_crds([Widget::definition()]).await;
        env.create(&Widget::new("late", 1)).await;
        counter.wait_for(&key("late"), 1).await;
        running.stop().await.unwrap();
    }
}

/// Upstream's `String()`.
#[tokio::test]
async fn the_name_of_a_source_says_its_type_and_its_kind() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let cache = manager.cache();
    let kind = source::kind::<ConfigMap, Request>(cache, enqueue_request_for_object());
    assert_eq!(kind.name(), "kind source: ConfigMap");
    let kind = source::kind::<Deployment, Request>(cache, enqueue_request_for_object());
    assert_eq!(kind.name(), "kind source: Deployment.apps");
    let informer = source::informer::<Widget, Request>(cache, enqueue_request_for_object());
    assert_eq!(informer.name(), "kind source: Widget.example.com");
    // Metadata alone is another form of the same kind.
    let metadata =
        source::kind::<PartialObjectMeta<Deployment>, Request>(cache, enqueue_request_for_object());
    assert_eq!(metadata.name(), "kind source: Deployment.apps");
}
