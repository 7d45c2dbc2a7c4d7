//! What a helper has not seen, or does not know, stays as others have written it.

use std::{borrow::Cow, cell::Cell, time::Duration};

use k8s_openapi::{
    api::core::v1::{ConfigMap, Service},
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kubewright::{
    BoxError,
    client::{Client, ClientError},
    controllerutil::{
        CreateOrUpdateError, OperationResult, add_finalizer, create_or_patch, create_or_update,
        ensure_finalizer, release_finalizer, update_status,
    },
    finalizer::{Finalizer, Finalizers, FinalizersError},
    k8s_openapi::NamespaceResourceScope,
    kube::{
        Resource,
        api::{DeleteParams, Patch},
        core::{ApiResource, DynamicObject, GroupVersionKind, ObjectMeta, TypeMeta},
    },
    object::{Kind, Scope},
};
use kubewright_testing::{
    RunningManager, TestEnv,
    apiserver::{Fault, RequestInfo, Verb},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::common::{config_map, key};

/// A client whose cache sees nothing of `plural` after the first `objects` of it; it does not wait for its own writes either.
async fn behind(env: &TestEnv, plural: &'static str, objects: usize) -> (Client, RunningManager) {
    let faults = env.server().faults();
    let of_plural = move |request: &RequestInfo| request.is(Verb::Watch, plural);
    faults.add(Fault::cut_watch(objects + 1).when(of_plural));
    faults.add(Fault::delay(Duration::from_secs(3600)).when(of_plural).after(1));
    let (client, running) = running(env).await;
    (client.without_own_writes(), running)
}

async fn running(env: &TestEnv) -> (Client, RunningManager) {
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    (client, running)
}

fn patched(patch: Value) -> Patch<Value> {
    Patch::Merge(patch)
}

fn is_conflict<T>(result: Result<T, CreateOrUpdateError>) -> bool {
    matches!(result, Err(CreateOrUpdateError::Client(error)) if error.is_conflict())
}

/// As somebody renders it: without anything that the API server or others have written.
fn rendered() -> ConfigMap {
    let mut rendered = config_map("a", &[("ours", "new")]);
    rendered.metadata.labels = Some([("ours".to_owned(), "l".to_owned())].into());
    rendered
}

/// Both functions act on the object that they were computed for.
macro_rules! rows_of_both {
    ($function:ident) => {
        use super::*;

        #[tokio::test(start_paused = true)]
        async fn finalizers_and_owners_that_others_have_just_added_stay() {
            let env = TestEnv::start().await;
            let stored = env.create(&config_map("a", &[])).await;
            let (client, running) = behind(&env, "configmaps", 1).await;
            client.get::<ConfigMap>(&key("a")).await.unwrap();
            let owner = OwnerReference { kind: "K".into(), api_version: "v1".into(), name: "o".into(), uid: "u".into(), ..Default::default() };
            let theirs = json!({ "metadata": { "finalizers": ["example.com/theirs"], "ownerReferences": [owner] } });
            client.patch::<ConfigMap, _>(&key("a"), &patched(theirs)).await.unwrap();

            let ours = |it: &mut ConfigMap| {
                add_finalizer(it, "example.com/ours");
            };
            assert!(is_conflict($function(&client, config_map("a", &[]), ours).await));
            let live: ConfigMap = client.live().get(&key("a")).await.unwrap();
            assert_eq!(live.metadata.finalizers.unwrap(), ["example.com/theirs"]);
            assert_eq!(live.metadata.owner_references.unwrap(), [owner]);
            assert_eq!(live.metadata.uid, stored.metadata.uid);
            running.stop().await.unwrap();
        }

        #[tokio::test(start_paused = true)]
        async fn another_object_of_the_name_is_not_touched() {
            let env = TestEnv::start().await;
            env.create(&config_map("a", &[("value", "old")])).await;
            let (client, running) = behind(&env, "configmaps", 1).await;
            client.get::<ConfigMap>(&key("a")).await.unwrap();
            client.delete::<ConfigMap>(&key("a"), &DeleteParams::default()).await.unwrap();
            client.create(&config_map("a", &[("value", "another")])).await.unwrap();

            let ours = |it: &mut ConfigMap| {
                it.metadata.labels.get_or_insert_default().insert("ours".into(), "l".into());
            };
            assert!(is_conflict($function(&client, config_map("a", &[]), ours).await));
            let live: ConfigMap = client.live().get(&key("a")).await.unwrap();
            assert_eq!((live.metadata.labels, &*live.data.unwrap()["value"]), (None, "another"));
            running.stop().await.unwrap();
        }

        #[tokio::test(start_paused = true)]
        async fn a_rendered_object_put_in_its_place_takes_nothing_from_others_and_is_no_unconditional_write() {
            let env = TestEnv::start().await;
            let mut theirs = config_map("a", &[("ours", "old")]);
            theirs.metadata.labels = Some([("theirs".to_owned(), "l".to_owned())].into());
            theirs.metadata.finalizers = Some(vec!["example.com/theirs".into()]);
            let created = env.create(&theirs).await;
            let (client, running) = running(&env).await;
            let put = |it: &mut ConfigMap| *it = rendered();
            let (stored, result) = $function(&client, config_map("a", &[]), put).await.unwrap();
            assert_eq!(result, OperationResult::Updated);
            assert_eq!(stored.metadata.uid, created.metadata.uid);
            assert_eq!(stored.metadata.labels.unwrap().into_keys().collect::<Vec<_>>(), ["ours", "theirs"]);
            assert_eq!(stored.metadata.finalizers.unwrap(), ["example.com/theirs"]);
            assert_eq!(stored.data.unwrap()["ours"], "new");
            let (_, result) = $function(&client, config_map("a", &[]), put).await.unwrap();
            assert_eq!(result, OperationResult::Unchanged);
            running.stop().await.unwrap();
        }

        #[tokio::test(start_paused = true)]
        async fn an_edit_may_take_away_what_it_means() {
            let env = TestEnv::start().await;
            let mut object = config_map("a", &[]);
            object.metadata.labels = Some([("gone".to_owned(), "l".to_owned()), ("kept".to_owned(), "l".to_owned())].into());
            env.create(&object).await;
            let (client, running) = running(&env).await;
            let take = |it: &mut ConfigMap| {
                it.metadata.labels.get_or_insert_default().remove("gone");
            };
            let (stored, _) = $function(&client, config_map("a", &[]), take).await.unwrap();
            assert_eq!(stored.metadata.labels.unwrap().into_keys().collect::<Vec<_>>(), ["kept"]);
            running.stop().await.unwrap();
        }

        #[tokio::test(start_paused = true)]
        async fn fields_that_the_rust_type_does_not_know_stay() {
            let (env, client, running) = newer().await;
            let edit = |it: &mut Older| {
                it.spec.colour = "blue".into();
                it.spec.parts[1].size = 20;
            };
            let (stored, result) = $function(&client, Older::new(), edit).await.unwrap();
            assert_eq!((result, &*stored.spec.colour), (OperationResult::Updated, "blue"));
            let spec = live(&env).await.data["spec"].clone();
            assert_eq!(spec, json!({
                "colour": "blue", "shape": "round",
                "parts": [{ "name": "x", "size": 1, "weight": 7 }, { "name": "y", "size": 20, "weight": 8 }],
            }));
            running.stop().await.unwrap();
        }

        #[tokio::test(start_paused = true)]
        async fn a_write_that_the_api_server_answers_without_a_change_is_not_sent_at_every_run() {
            let env = TestEnv::start().await;
            let (client, running) = running(&env).await;
            env.create(&service()).await;
            // The API server puts its default back.
            let reset = |it: &mut Service| {
                it.spec.as_mut().unwrap().session_affinity = None;
                it.spec.as_mut().unwrap().ports.as_mut().unwrap()[0].protocol = None;
            };
            let writes = env.server().faults().add(
                Fault::delay(Duration::ZERO)
                    .when(|it| it.is(Verb::Update, "services") || it.is(Verb::Patch, "services"))
                    .always(),
            );
            for _ in 0..5 {
                let (_, result) = $function(&client, service(), reset).await.unwrap();
                assert_eq!(result, OperationResult::Unchanged);
            }
            assert_eq!(writes.fired(), 1);
            // From another state it is another change.
            client
                .patch::<Service, _>(&key("a"), &patched(json!({ "spec": { "sessionAffinity": "ClientIP" } })))
                .await
                .unwrap();
            let (stored, result) = $function(&client, service(), reset).await.unwrap();
            assert_eq!(result, OperationResult::Updated);
            assert_eq!(stored.spec.unwrap().session_affinity.as_deref(), Some("None"));
            running.stop().await.unwrap();
        }
    };
}

mod update {
    rows_of_both!(create_or_update);
}

mod patch {
    rows_of_both!(create_or_patch);

    #[tokio::test(start_paused = true)]
    async fn an_older_status_does_not_overwrite_a_newer_one() {
        let (env, client, running) = newer().await;
        let (stale, also_running) = behind(&env, "things", 1).await;
        stale.get::<Older>(&key("a")).await.unwrap();
        let newer = patched(json!({ "status": { "seen": 9 } }));
        client.status().patch::<Older, _>(&key("a"), &newer).await.unwrap();
        let both = |it: &mut Older| {
            it.metadata.labels.get_or_insert_default().insert("a".into(), "b".into());
            it.status.get_or_insert_default().seen = 2;
        };
        assert!(is_conflict(create_or_patch(&stale, Older::new(), both).await));
        assert_eq!(live(&env).await.data["status"]["seen"], 9);
        running.stop().await.unwrap();
        also_running.stop().await.unwrap();
    }
}

fn service() -> Service {
    serde_json::from_value(json!({
        "metadata": { "namespace": "default", "name": "a" },
        "spec": { "ports": [{ "port": 80 }] },
    }))
    .unwrap()
}

/// What an older release knows of a kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Older {
    #[serde(flatten)]
    types: TypeMeta,
    metadata: ObjectMeta,
    #[serde(default)]
    spec: OlderSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<OlderStatus>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct OlderSpec {
    #[serde(default)]
    colour: String,
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Part {
    name: String,
    size: i32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct OlderStatus {
    #[serde(default)]
    seen: i64,
}

impl Older {
    fn new() -> Self {
        let types = TypeMeta { api_version: "example.com/v1".into(), kind: "Older".into() };
        Self { types, metadata: config_map("a", &[]).metadata, spec: OlderSpec::default(), status: None }
    }
}

impl Resource for Older {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Older".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "example.com".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "things".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn things() -> Kind {
    Kind::new(
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("example.com", "v1", "Older"), "things"),
        Scope::Namespaced,
    )
}

async fn live(env: &TestEnv) -> DynamicObject {
    let client = env.manager().build().await.unwrap().client();
    client.live().get_as(&things(), &key("a")).await.unwrap()
}

/// An API server whose definition of the kind has more fields than `Older`, and an object that uses them.
async fn newer() -> (TestEnv, Client, RunningManager) {
    let env = TestEnv::start().await;
    let definition = json!({
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": { "plural": "things", "kind": "Older" },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
            }],
        },
    });
    env.install_crds([serde_json::from_value(definition).unwrap()]).await;
    let (client, running) = running(&env).await;
    let mut thing = DynamicObject::new("a", &things().api_resource()).within("default");
    let parts = json!([{ "name": "x", "size": 1, "weight": 7 }, { "name": "y", "size": 2, "weight": 8 }]);
    thing.data = json!({ "spec": { "colour": "red", "shape": "round", "parts": parts } });
    let things = client.objects::<DynamicObject>(things());
    let mut stored = things.create(&thing).await.unwrap();
    stored.data["status"] = json!({ "seen": 1, "theirs": { "b": 2 } });
    things.status().update(&stored).await.unwrap();
    (env, client, running)
}

#[tokio::test(start_paused = true)]
async fn two_writers_of_one_status_keep_each_others_fields() {
    let (env, client, running) = newer().await;
    let see = |it: &mut Older| {
        it.status.get_or_insert_default().seen = 5;
        // Not the status: it is left out.
        it.spec.colour = "ignored".into();
    };
    update_status::<Older>(&client, &key("a"), see).await.unwrap();
    let thing = live(&env).await;
    assert_eq!(thing.data["status"], json!({ "seen": 5, "theirs": { "b": 2 } }));
    assert_eq!(thing.data["spec"]["colour"], "red");
    running.stop().await.unwrap();
}

/// What it does to an object that an older release knows half of.
struct SeeAndPaint;

impl Finalizer<Older> for SeeAndPaint {
    async fn finalize(&self, object: &mut Older) -> Result<(), BoxError> {
        object.spec.colour = "grey".into();
        object.status.get_or_insert_default().seen = 5;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn finalizers_keep_what_others_have_written() {
    let (env, client, running) = newer().await;
    let mut finalizers = Finalizers::new();
    finalizers.register("example.com/ours", SeeAndPaint).unwrap();
    finalizers.finalize(&client, &key("a")).await.unwrap();
    let theirs = patched(json!({ "metadata": { "finalizers": ["example.com/theirs", "example.com/ours"] } }));
    client.patch::<Older, _>(&key("a"), &theirs).await.unwrap();
    client.delete::<Older>(&key("a"), &DeleteParams::default()).await.unwrap();

    assert!(finalizers.finalize(&client, &key("a")).await.unwrap().is_none());
    let thing = live(&env).await;
    assert_eq!(thing.metadata.finalizers.unwrap(), ["example.com/theirs"]);
    let parts = json!([{ "name": "x", "size": 1, "weight": 7 }, { "name": "y", "size": 2, "weight": 8 }]);
    assert_eq!(thing.data["spec"], json!({ "colour": "grey", "shape": "round", "parts": parts }));
    assert_eq!(thing.data["status"], json!({ "seen": 5, "theirs": { "b": 2 } }));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn finalizers_hold_for_the_state_that_was_read() {
    struct Nothing;
    impl Finalizer<ConfigMap> for Nothing {
        async fn finalize(&self, _: &mut ConfigMap) -> Result<(), BoxError> {
            Ok(())
        }
    }
    let env = TestEnv::start().await;
    let mut object = config_map("a", &[]);
    object.metadata.finalizers = Some(vec!["example.com/ours".into()]);
    env.create(&object).await;
    env.delete::<ConfigMap>(&key("a")).await;
    let (client, running) = behind(&env, "configmaps", 1).await;
    client.get::<ConfigMap>(&key("a")).await.unwrap();
    let label = json!({ "metadata": { "labels": { "theirs": "l" } } });
    client.patch::<ConfigMap, _>(&key("a"), &patched(label)).await.unwrap();

    let mut finalizers = Finalizers::new();
    finalizers.register("example.com/ours", Nothing).unwrap();
    let result = finalizers.finalize(&client, &key("a")).await;
    assert!(matches!(result, Err(FinalizersError::Client(error)) if error.is_conflict()));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_write_that_takes_the_last_finalizer_is_a_change() {
    let env = TestEnv::start().await;
    let (client, running) = running(&env).await;
    for name in ["a", "b"] {
        let mut object = config_map(name, &[]);
        object.metadata.finalizers = Some(vec!["example.com/ours".into()]);
        env.create(&object).await;
        env.delete::<ConfigMap>(&key(name)).await;
    }
    let release = |it: &mut ConfigMap| it.metadata.finalizers = None;
    let (_, result) = create_or_update(&client, config_map("a", &[]), release).await.unwrap();
    assert_eq!(result, OperationResult::Updated);
    let (_, result) = create_or_patch(&client, config_map("b", &[]), release).await.unwrap();
    assert_eq!(result, OperationResult::Updated);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_status_is_not_written_to_an_object_that_has_taken_the_name() {
    let (env, client, running) = newer().await;
    let (stale, also_running) = behind(&env, "things", 1).await;
    stale.get::<Older>(&key("a")).await.unwrap();
    client.delete::<Older>(&key("a"), &DeleteParams::default()).await.unwrap();
    client.create(&Older::new()).await.unwrap();
    let calls = Cell::new(0);
    let error = update_status::<Older>(&stale, &key("a"), |it| {
        calls.set(calls.get() + 1);
        it.status.get_or_insert_default().seen = 5;
    })
    .await
    .unwrap_err();
    assert!(matches!(error, ClientError::Replaced { .. }), "{error:?}");
    assert!(error.is_not_found());
    assert_eq!(calls.get(), 1);
    assert!(live(&env).await.data.get("status").is_none());
    running.stop().await.unwrap();
    also_running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deleting_object_gets_no_finalizer_and_one_that_is_gone_is_released() {
    let env = TestEnv::start().await;
    let mut object = config_map("a", &[]);
    object.metadata.finalizers = Some(vec!["example.com/ours".into()]);
    let created = env.create(&object).await;
    let client = env.manager().build().await.unwrap().client();
    let all =
        env.server().faults().add(Fault::delay(Duration::ZERO).when(|it| it.verb == Verb::Patch).always());

    env.delete::<ConfigMap>(&key("a")).await;
    let deleting: ConfigMap = client.live().get(&key("a")).await.unwrap();
    assert!(ensure_finalizer(&client, &deleting, "example.com/new").await.unwrap().is_none());
    assert_eq!(all.fired(), 0);

    release_finalizer(&client, &deleting, "example.com/ours").await.unwrap();
    release_finalizer(&client, &deleting, "example.com/ours").await.expect("it is gone");
    let another = env.create(&object).await;
    release_finalizer(&client, &created, "example.com/ours").await.expect("this one is gone, too");
    let error = ensure_finalizer(&client, &created, "example.com/new").await.unwrap_err();
    assert!(error.is_conflict(), "{error:?}");
    let live: ConfigMap = client.live().get(&key("a")).await.unwrap();
    assert_eq!(live.metadata.resource_version, another.metadata.resource_version);
    assert_eq!(live.metadata.finalizers.unwrap(), ["example.com/ours"]);
}

#[tokio::test(start_paused = true)]
async fn finalizers_are_written_to_no_state_that_nobody_has_read() {
    let env = TestEnv::start().await;
    let mut stored = env.create(&config_map("a", &[])).await;
    stored.metadata.resource_version = None;
    let client = env.manager().build().await.unwrap().client();
    let error = ensure_finalizer(&client, &stored, "example.com/ours").await.unwrap_err();
    assert_eq!(error.to_string(), "ConfigMap \"default/a\" has no metadata.resourceVersion");
}
