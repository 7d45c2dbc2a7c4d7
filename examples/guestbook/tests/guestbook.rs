//! The life of a guestbook, from its creation to what stays of it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use guestbook::{ARCHIVE, FINALIZER, Guestbook, GuestbookSpec, Story};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Event, Service},
};
use kube::{
    CustomResourceExt as _,
    api::{ListParams, Patch},
};
use kubewright::{controllerutil::conditions, prelude::*, webhook::WebhookServer};
use kubewright_testing::{RunningManager, TestEnv, apiserver::Controllers};
use serde_json::json;

async fn operator() -> (TestEnv, RunningManager, Client) {
    let env = TestEnv::builder().controllers(Controllers::default()).start().await;
    env.install_crds([Guestbook::crd()]).await;
    let manager = env.manager().build().await.unwrap();
    guestbook::add_to_manager(&manager, Story::silent()).unwrap();
    let webhooks = WebhookServer::default();
    guestbook::webhooks::register(&webhooks).unwrap();
    env.install_webhooks("guestbook", &webhooks).await;
    let client = manager.client();
    let running = env.run(manager);
    (env, running, client)
}

fn guestbook(env: &TestEnv, key: &Request, replicas: i32) -> Guestbook {
    let spec = GuestbookSpec { image: "example.com/guestbook:1".into(), replicas, message: "hello".into() };
    Guestbook { metadata: env.meta(key), spec, status: None }
}

fn is_ready(guestbook: Option<&Guestbook>, replicas: i32) -> bool {
    guestbook.is_some_and(|guestbook| {
        guestbook.status.as_ref().is_some_and(|status| {
            status.available_replicas == replicas
                && status.observed_generation == guestbook.metadata.generation
                && conditions::is_true(&status.conditions, "Ready")
        })
    })
}

#[tokio::test(start_paused = true)]
async fn a_guestbook_gets_its_children_and_becomes_ready() {
    let (env, running, client) = operator().await;
    let key = Request::new("default", "hall");
    env.create(&guestbook(&env, &key, 2)).await;
    let ready = env.wait_for::<Guestbook>(&key, |guestbook| is_ready(guestbook, 2)).await.unwrap();
    assert_eq!(ready.metadata.finalizers.as_deref().unwrap(), [FINALIZER]);

    let deployment = client.get::<Deployment>(&key).await.unwrap();
    let owner = &deployment.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!(
        (owner.kind.as_str(), owner.uid.as_str()),
        ("Guestbook", ready.metadata.uid.as_deref().unwrap())
    );
    assert!(client.get::<Service>(&key).await.is_ok());
    assert_eq!(client.get::<ConfigMap>(&key).await.unwrap().data.as_ref().unwrap()["MESSAGE"], "hello");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_changed_spec_reaches_the_children_and_the_status_speaks_of_it() {
    let (env, running, client) = operator().await;
    let key = Request::new("default", "hall");
    env.create(&guestbook(&env, &key, 1)).await;
    env.wait_for::<Guestbook>(&key, |guestbook| is_ready(guestbook, 1)).await;
    let change = Patch::Merge(json!({ "spec": { "replicas": 5, "message": "new" } }));
    client.patch::<Guestbook, _>(&key, &change).await.unwrap();
    env.wait_for::<Guestbook>(&key, |guestbook| is_ready(guestbook, 5)).await;
    assert_eq!(client.get::<ConfigMap>(&key).await.unwrap().data.as_ref().unwrap()["MESSAGE"], "new");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_child_that_somebody_deletes_comes_back() {
    let (env, running, _client) = operator().await;
    let key = Request::new("default", "hall");
    env.create(&guestbook(&env, &key, 1)).await;
    env.wait_for::<Guestbook>(&key, |guestbook| is_ready(guestbook, 1)).await;
    let child = env.wait_for::<Service>(&key, |service| service.is_some()).await.unwrap();
    env.delete::<Service>(&key).await;
    env.wait_for::<Service>(&key, |service| service.is_some_and(|it| it.metadata.uid != child.metadata.uid))
        .await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deleted_guestbook_leaves_its_message_and_takes_its_children() {
    let (env, running, client) = operator().await;
    let key = Request::new("default", "hall");
    env.create(&guestbook(&env, &key, 1)).await;
    env.wait_for::<Guestbook>(&key, |guestbook| is_ready(guestbook, 1)).await;
    env.delete::<Guestbook>(&key).await;
    env.wait_gone::<Guestbook>(&key).await;
    env.wait_gone::<Deployment>(&key).await;
    env.wait_gone::<Service>(&key).await;
    env.wait_gone::<ConfigMap>(&key).await;
    let archive = client.get::<ConfigMap>(&key.sibling(ARCHIVE)).await.unwrap();
    assert_eq!(archive.data.as_ref().unwrap()["hall"], "hello");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_guestbook_without_a_message_welcomes_and_a_wrong_one_is_refused_with_the_reason() {
    let (env, running, client) = operator().await;
    let (key, wrong) = (Request::new("default", "hall"), Request::new("default", "crowd"));
    let mut silent = guestbook(&env, &key, 1);
    silent.spec.message.clear();
    assert_eq!(env.create(&silent).await.spec.message, "welcome");
    let refused = client.create(&guestbook(&env, &wrong, 51)).await.unwrap_err();
    let reason = std::error::Error::source(&refused).unwrap().to_string();
    let expected = "admission webhook \"vguestbook-v1.kb.io\" denied the request: spec.replicas: 51 is not between 0 and 50";
    assert!(reason.contains(expected), "{reason}");
    let grown = Patch::Merge(json!({ "spec": { "replicas": 51 } }));
    assert!(client.patch::<Guestbook, _>(&key, &grown).await.is_err());
    running.stop().await.unwrap();
}

/// As `kubectl describe` shows them.
#[tokio::test(start_paused = true)]
async fn what_was_done_to_a_guestbook_is_in_its_events() {
    let (env, running, client) = operator().await;
    let key = Request::new("default", "hall");
    env.create(&guestbook(&env, &key, 1)).await;
    env.wait_for::<Guestbook>(&key, |guestbook| is_ready(guestbook, 1)).await;
    let change = Patch::Merge(json!({ "spec": { "replicas": 5 } }));
    client.patch::<Guestbook, _>(&key, &change).await.unwrap();
    env.wait_for::<Guestbook>(&key, |guestbook| is_ready(guestbook, 5)).await;
    running.stop().await.unwrap();

    let events: kube::Api<Event> = kube::Api::namespaced(env.kube(), "default");
    let about = ListParams::default().fields("involvedObject.kind=Guestbook,involvedObject.name=hall");
    let events = events.list(&about).await.unwrap().items;
    let mut notes: Vec<_> = events.iter().filter_map(|event| event.message.as_deref()).collect();
    notes.sort_unstable();
    assert_eq!(
        notes,
        ["changed its Deployment", "created its ConfigMap", "created its Deployment", "created its Service"]
    );
}
