//! Reads see own writes, whatever the answers to these look like.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use k8s_openapi::api::core::v1::{
    ConfigMap, Namespace, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount,
};
use kubewright::{
    client::{Client, Optional as _},
    kube::{
        self,
        api::{DeleteParams, Patch, Preconditions},
        core::{ApiResource, DynamicObject, GroupVersionKind, ObjectMeta, PartialObjectMeta},
    },
    object::{Kind, Object, ObjectKey, Scope},
};
use kubewright_testing::{
    RunningManager, TestEnv,
    apiserver::{Fault, Status, Verb},
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::common::{config_map, key};

/// How late the watch is. A read that does not wait for it shows what was before.
const LATE: Duration = Duration::from_secs(3);

/// A client whose cache hears of nothing for a while after its first `events`, the end of the list among them.
async fn deaf_after(env: &TestEnv, plural: &'static str, events: usize) -> (Client, RunningManager) {
    let faults = env.server().faults();
    faults.add(Fault::cut_watch(events).when(move |request| request.is(Verb::Watch, plural)));
    faults.add(Fault::delay(LATE).when(move |request| request.is(Verb::Watch, plural)).after(1));
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    (client, running)
}

fn from<K: Object>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

fn named(more: &Value) -> Value {
    let mut object = json!({ "metadata": { "namespace": "default", "name": "a" } });
    object.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    object
}

/// After the write that takes the last finalizer, and after a deletion that answers with the object or without it, the next read finds nothing.
async fn check_removed<K: Object + Serialize>(plural: &'static str, more: Value) {
    for held in [true, false] {
        let env = TestEnv::start().await;
        let mut object = from::<K>(named(&more));
        object.meta_mut().finalizers = held.then(|| vec!["example.com/hold".to_owned()]);
        env.create(&object).await;
        // The object, the end of the list, and the beginning of the deletion; before them the Service of the server.
        let others = usize::from(plural == "services");
        let (client, running) = deaf_after(&env, plural, others + if held { 3 } else { 2 }).await;
        client.get::<K>(&key("a")).await.unwrap();
        client.delete::<K>(&key("a"), &DeleteParams::default()).await.unwrap();
        if held {
            assert!(client.get::<K>(&key("a")).await.unwrap().meta().deletion_timestamp.is_some());
            let release = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
            client.patch::<K, _>(&key("a"), &release).await.unwrap();
        }
        let start = Instant::now();
        let stale = client.clone().without_own_writes();
        assert!(stale.get::<K>(&key("a")).await.is_ok(), "{plural}: the watch is not late");
        let read = client.get::<K>(&key("a")).await;
        assert!(read.unwrap_err().is_not_found(), "{plural}, held: {held}");
        assert_eq!(client.list::<K>().in_namespace("default").await.unwrap().len(), others);
        assert!(start.elapsed() >= LATE);
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_write_has_removed_is_gone_for_the_next_read_of_any_kind() {
    let container = json!({ "name": "c", "image": "i" });
    let claim =
        json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } });
    check_removed::<ConfigMap>("configmaps", json!({})).await;
    check_removed::<Secret>("secrets", json!({})).await;
    check_removed::<ServiceAccount>("serviceaccounts", json!({})).await;
    check_removed::<Service>("services", json!({ "spec": { "ports": [{ "port": 80 }] } })).await;
    check_removed::<Pod>("pods", json!({ "spec": { "containers": [container] } })).await;
    check_removed::<PersistentVolumeClaim>("persistentvolumeclaims", json!({ "spec": claim })).await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_still_empties_itself_is_not_taken_for_gone() {
    let env = TestEnv::start().await;
    env.create(&Namespace { metadata: env.meta(&ObjectKey::cluster_scoped("n")), ..Namespace::default() })
        .await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    let name = ObjectKey::cluster_scoped("n");
    client.get::<Namespace>(&name).await.unwrap();
    client.delete::<Namespace>(&name, &DeleteParams::default()).await.unwrap();
    let label = Patch::Merge(json!({ "metadata": { "labels": { "a": "b" } } }));
    client.patch::<Namespace, _>(&name, &label).await.unwrap();
    let start = Instant::now();
    assert_eq!(client.get::<Namespace>(&name).await.unwrap().metadata.labels.as_ref().unwrap()["a"], "b");
    assert!(start.elapsed() < Duration::from_secs(1));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_was_only_tried_or_was_refused_is_not_waited_for() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    client.get::<ConfigMap>(&key("a")).await.unwrap();
    let start = Instant::now();
    client.delete::<ConfigMap>(&key("a"), &DeleteParams::default().dry_run()).await.unwrap();
    let other = Preconditions { uid: Some("other".into()), resource_version: None };
    let refused = DeleteParams::default().preconditions(other);
    assert!(client.delete::<ConfigMap>(&key("a"), &refused).await.unwrap_err().is_conflict());
    let live_reads = env.server().faults().add(Fault::delay(Duration::ZERO).when(is_list).always());
    client.get::<ConfigMap>(&key("a")).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(live_reads.fired(), 0);
    running.stop().await.unwrap();
}

fn is_list(request: &kubewright_testing::apiserver::RequestInfo) -> bool {
    request.is(Verb::List, "configmaps")
}

#[tokio::test(start_paused = true)]
async fn a_child_whose_creation_was_not_answered_is_found_and_not_created_again() {
    for generated in [false, true] {
        let env = TestEnv::start().await;
        let (client, running) = deaf_after(&env, "configmaps", 1).await;
        assert!(client.list::<ConfigMap>().await.unwrap().is_empty());
        env.server().faults().add(Fault::lose_answer().when(|it| it.is(Verb::Create, "configmaps")));
        let mut child = config_map("child", &[]);
        if generated {
            child.metadata.generate_name = child.metadata.name.take();
        }
        client.create(&child).await.unwrap_err();
        let start = Instant::now();
        assert_eq!(client.list::<ConfigMap>().await.unwrap().len(), 1, "generated: {generated}");
        assert!(start.elapsed() >= LATE, "it came with the watch");
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_and_a_deletion_that_were_not_answered_are_seen() {
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[("value", "old")])).await;
    env.create(&config_map("b", &[])).await;
    let (client, running) = deaf_after(&env, "configmaps", 3).await;
    client.get::<ConfigMap>(&key("a")).await.unwrap();
    env.server().faults().add(Fault::lose_answer().when(|it| it.is(Verb::Patch, "configmaps")));
    env.server().faults().add(Fault::lose_answer().when(|it| it.is(Verb::Delete, "configmaps")));
    let patch = Patch::Merge(json!({ "data": { "value": "new" } }));
    client.patch::<ConfigMap, _>(&key("a"), &patch).await.unwrap_err();
    client.delete::<ConfigMap>(&key("b"), &DeleteParams::default()).await.unwrap_err();
    assert_eq!(client.get::<ConfigMap>(&key("a")).await.unwrap().data.as_ref().unwrap()["value"], "new");
    assert!(client.get::<ConfigMap>(&key("b")).await.optional().unwrap().is_none());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_write_that_came_to_nothing_holds_up_one_read_and_no_other() {
    let env = TestEnv::start().await;
    let (client, running) = deaf_after(&env, "configmaps", 1).await;
    assert!(client.list::<ConfigMap>().await.unwrap().is_empty());
    let broken = Status::service_unavailable("the storage is away");
    env.server().faults().add(Fault::respond(broken).when(|it| it.is(Verb::Create, "configmaps")));
    client.create(&config_map("a", &[])).await.unwrap_err();
    let asked = env.server().faults().add(Fault::delay(Duration::ZERO).when(is_list).always());
    let start = Instant::now();
    for _ in 0..3 {
        assert!(client.get::<ConfigMap>(&key("a")).await.unwrap_err().is_not_found());
    }
    assert!(start.elapsed() < LATE);
    assert_eq!(asked.fired(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_caller_gave_up_is_seen() {
    let env = TestEnv::start().await;
    env.server().faults().add(Fault::cut_watch(1).when(|it| it.is(Verb::Watch, "configmaps")));
    env.server().faults().add(Fault::delay(LATE).when(|it| it.is(Verb::Watch, "configmaps")).after(1));
    let slow = kube::Client::new(LateAnswers(env.server().service()), "default");
    let manager = kubewright::manager::Manager::builder().kube_client(slow).build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    assert!(client.list::<ConfigMap>().await.unwrap().is_empty());
    let child = config_map("child", &[]);
    let given_up = tokio::time::timeout(Duration::from_secs(1), client.create(&child)).await;
    assert!(given_up.is_err());
    assert_eq!(client.list::<ConfigMap>().await.unwrap().len(), 1);
    running.stop().await.unwrap();
}

/// Carries out each POST at once, and answers a minute later.
#[derive(Clone)]
struct LateAnswers<S>(S);

impl<S, B> tower_service::Service<http::Request<B>> for LateAnswers<S>
where
    S: tower_service::Service<http::Request<B>, Future: Send + 'static>,
    S::Response: Send,
    S::Error: Send,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let is_post = request.method() == http::Method::POST;
        let answer = self.0.call(request);
        Box::pin(async move {
            let answer = answer.await;
            if is_post {
                tokio::time::sleep(Duration::from_secs(60)).await;
            }
            answer
        })
    }
}

/// A kind in two versions.
fn definition() -> Value {
    let schema =
        json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let version = |name: &str, storage: bool| json!({ "name": name, "served": true, "storage": storage, "schema": schema });
    json!({
        "metadata": { "name": "gadgets.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "plural": "gadgets", "kind": "Gadget" },
            "versions": [version("v1", true), version("v2", false)],
        },
    })
}

#[tokio::test(start_paused = true)]
async fn a_write_in_one_version_or_form_is_seen_by_reads_in_another() {
    let env = TestEnv::start().await;
    env.install_crds([serde_json::from_value(definition()).unwrap()]).await;
    let kind = |version: &str| {
        let gvk = GroupVersionKind::gvk("example.com", version, "Gadget");
        Kind::new(ApiResource::from_gvk(&gvk), Scope::Namespaced)
    };
    let (client, running) = deaf_after(&env, "gadgets", 1).await;
    let old = client.objects::<DynamicObject>(kind("v1"));
    assert!(old.list().await.unwrap().is_empty());
    let new = client.objects::<DynamicObject>(kind("v2"));
    let gadget = DynamicObject::new("a", &kind("v2").api_resource()).within("default");
    let stored = new.create(&gadget).await.unwrap();
    let read = old.get(&key("a")).await.unwrap();
    assert_eq!(read.metadata.uid, stored.metadata.uid);
    assert_eq!(old.list().await.unwrap().len(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn objects_of_which_only_metadata_is_known_are_not_stored() {
    let env = TestEnv::start().await;
    let client = env.manager().build().await.unwrap().client();
    let metadata = config_map("a", &[]).metadata;
    let partial: PartialObjectMeta<ConfigMap> =
        PartialObjectMeta { types: None, metadata, _phantom: std::marker::PhantomData };
    let error = client.create(&partial).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot create ConfigMap using only metadata: patch it, or use the whole type"
    );
    client.update(&partial).await.unwrap_err();
    client.status().update(&partial).await.unwrap_err();
    let config_maps = Kind::of::<ConfigMap>();
    let views = client.objects::<PartialObjectMeta<ConfigMap>>(config_maps.clone());
    views.create(&partial).await.unwrap_err();
    let dynamic = DynamicObject::new("a", &config_maps.api_resource()).within("default");
    client.objects::<DynamicObject>(config_maps.metadata_only()).create(&dynamic).await.unwrap_err();
    assert!(client.live().get::<ConfigMap>(&key("a")).await.unwrap_err().is_not_found());
}

#[tokio::test(start_paused = true)]
async fn a_namespace_is_empty_or_ignored_where_a_kind_has_none() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    env.create(&config_map("a", &[])).await;
    let metadata = ObjectMeta { name: Some("n".into()), ..ObjectMeta::default() };
    client.create(&Namespace { metadata, ..Namespace::default() }).await.unwrap();
    let key = ObjectKey::new("ignored", "n");
    let label = Patch::Merge(json!({ "metadata": { "labels": { "a": "b" } } }));
    client.patch::<Namespace, _>(&key, &label).await.unwrap();
    assert!(client.get::<Namespace>(&key).await.unwrap().metadata.labels.as_ref().unwrap().contains_key("a"));
    assert!(client.live().get::<Namespace>(&key).await.is_ok());
    let all = client.list::<Namespace>().in_namespace("ignored").with_label("a", "b").await.unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(client.list::<ConfigMap>().in_namespace("").await.unwrap().len(), 1);
    client.delete::<Namespace>(&key, &DeleteParams::default()).await.unwrap();
    running.stop().await.unwrap();
}
