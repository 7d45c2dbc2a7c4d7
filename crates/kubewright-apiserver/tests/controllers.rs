//! The controllers beside the server, watched through a client.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use std::time::Duration;

use common::{config_map, config_maps, define_widgets, dynamic, object, start, widget};
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Namespace, Secret},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::{Controllers, Fault, RequestInfo, Status, Verb};
use serde_json::json;
use tokio::task::JoinSet;

/// Looks until `fact` holds. Virtual time passes in between, and an hour of it is enough for anything.
async fn eventually<F: Future<Output = bool>>(what: &str, fact: impl Fn() -> F) {
    let looking = async {
        while !fact().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(3600), looking).await.is_ok(), "never: {what}");
}

/// Returns once the controllers have seen everything: paused time moves only when no task has anything to do.
async fn idle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

async fn exists(api: &Api<DynamicObject>, name: &str) -> bool {
    api.get_opt(name).await.unwrap().is_some()
}

fn owned(name: &str, owner: &DynamicObject) -> DynamicObject {
    let mut child = config_map(name, "1");
    let types = owner.types.as_ref().unwrap();
    child.metadata.owner_references = serde_json::from_value(json!([{
        "apiVersion": types.api_version, "kind": types.kind, "name": owner.name_any(), "uid": owner.uid(),
        "blockOwnerDeletion": true, "controller": true,
    }]))
    .unwrap();
    child
}

async fn family(client: &Client) -> (Api<DynamicObject>, Api<DynamicObject>) {
    let widgets = define_widgets(client).await;
    let config_maps = config_maps(client);
    let owner = widgets.create(&PostParams::default(), &widget("owner", 1)).await.unwrap();
    let child = config_maps.create(&PostParams::default(), &owned("child", &owner)).await.unwrap();
    let mut child = child;
    child.types = Some(kube::core::TypeMeta { api_version: "v1".into(), kind: "ConfigMap".into() });
    config_maps.create(&PostParams::default(), &owned("grandchild", &child)).await.unwrap();
    (widgets, config_maps)
}

#[tokio::test(start_paused = true)]
async fn dependents_go_after_their_owner() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let (widgets, config_maps) = family(&client).await;
    widgets.delete("owner", &DeleteParams::background()).await.unwrap();
    assert!(!exists(&widgets, "owner").await);
    eventually("the family is gone", async || !exists(&config_maps, "grandchild").await).await;
    assert!(!exists(&config_maps, "child").await);
}

#[tokio::test(start_paused = true)]
async fn dependents_go_before_their_owner_in_the_foreground() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let (widgets, config_maps) = family(&client).await;
    let hold = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/hold"]}}));
    config_maps.patch("child", &PatchParams::default(), &hold).await.unwrap();
    // The collector learns of the children before their owner is deleted.
    idle().await;
    widgets.delete("owner", &DeleteParams::foreground()).await.unwrap();
    eventually("the child is asked to go", async || {
        config_maps.get("child").await.unwrap().metadata.deletion_timestamp.is_some()
    })
    .await;
    assert!(exists(&widgets, "owner").await, "the child holds it up");
    idle().await;
    assert!(!exists(&config_maps, "grandchild").await, "the youngest goes first");
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    config_maps.patch("child", &PatchParams::default(), &release).await.unwrap();
    eventually("the owner follows", async || !exists(&widgets, "owner").await).await;
    assert!(!exists(&config_maps, "child").await);
}

#[tokio::test(start_paused = true)]
async fn circles_are_collected_in_the_foreground() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let (_, config_maps) = family(&client).await;
    let mut youngest = config_maps.get("grandchild").await.unwrap();
    youngest.types = Some(kube::core::TypeMeta { api_version: "v1".into(), kind: "ConfigMap".into() });
    let circle = Patch::Merge(
        json!({"metadata": {"ownerReferences": owned("child", &youngest).metadata.owner_references}}),
    );
    config_maps.patch("child", &PatchParams::default(), &circle).await.unwrap();
    idle().await;
    config_maps.delete("child", &DeleteParams::foreground()).await.unwrap();
    eventually("both are gone", async || {
        !exists(&config_maps, "child").await && !exists(&config_maps, "grandchild").await
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn orphans_stay() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let (widgets, config_maps) = family(&client).await;
    idle().await;
    widgets.delete("owner", &DeleteParams::orphan()).await.unwrap();
    eventually("the owner is gone", async || !exists(&widgets, "owner").await).await;
    assert!(config_maps.get("child").await.unwrap().owner_references().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_object_with_an_owner_that_never_was_is_collected() {
    let (server, client) = start();
    let config_maps = config_maps(&client);
    let mut owner = config_maps.create(&PostParams::default(), &config_map("owner", "1")).await.unwrap();
    owner.types = Some(kube::core::TypeMeta { api_version: "v1".into(), kind: "ConfigMap".into() });
    config_maps.create(&PostParams::default(), &owned("child", &owner)).await.unwrap();
    let other = DynamicObject {
        metadata: kube::api::ObjectMeta { uid: Some("none".into()), ..owner.metadata.clone() },
        ..owner
    };
    config_maps.create(&PostParams::default(), &owned("stray", &other)).await.unwrap();
    // The objects are older than the controllers.
    let _controllers = server.start_controllers(Controllers::default()).await;
    eventually("the stray is gone", async || !exists(&config_maps, "stray").await).await;
    assert!(exists(&config_maps, "child").await);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_collected_for_not_knowing_the_kind_of_its_owner() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let config_maps = config_maps(&client);
    let owner = object(
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "uid": "u"}}),
    );
    config_maps.create(&PostParams::default(), &owned("child", &owner)).await.unwrap();
    idle().await;
    assert!(exists(&config_maps, "child").await);
    // Once the kind is served, it is certain that the owner is not there.
    define_widgets(&client).await;
    eventually("the child is gone", async || !exists(&config_maps, "child").await).await;
}

#[tokio::test(start_paused = true)]
async fn dependents_of_custom_resources_go_with_the_definition_and_a_new_one_is_followed() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for _ in 0..3 {
        let (_, config_maps) = family(&client).await;
        definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
        eventually("the family is gone", async || !exists(&config_maps, "grandchild").await).await;
        assert!(!exists(&config_maps, "child").await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_fails_tries_again() {
    let (server, client) = start();
    // Discovery, lists and watches all fail at first.
    server.faults().add(Fault::respond(Status::service_unavailable("not yet")).times(40));
    let controllers = server.start_controllers(Controllers::default()).await;
    eventually("the faults are used up", async || server.faults().pending() == 0).await;
    let (widgets, config_maps) = family(&client).await;
    widgets.delete("owner", &DeleteParams::background()).await.unwrap();
    eventually("the family is gone", async || !exists(&config_maps, "grandchild").await).await;
    controllers.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn namespaces_are_emptied_and_go() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    define_widgets(&client).await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = serde_json::from_value(json!({"metadata": {"name": "team"}})).unwrap();
    let made = namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    assert_eq!(made.status.unwrap().phase.as_deref(), Some("Active"));
    assert_eq!(made.metadata.labels.unwrap()["kubernetes.io/metadata.name"], "team");
    let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), "team");
    let held = object(json!({"metadata": {"name": "held", "finalizers": ["example.com/hold"]}}));
    let held: ConfigMap = serde_json::from_value(serde_json::to_value(held).unwrap()).unwrap();
    config_maps.create(&PostParams::default(), &held).await.unwrap();

    let pending =
        namespaces.delete("team", &DeleteParams::default()).await.unwrap().left().expect("the namespace");
    assert_eq!(pending.status.unwrap().phase.as_deref(), Some("Terminating"));
    let (code, _, message) = common::refusal(
        config_maps
            .create(
                &PostParams::default(),
                &ConfigMap {
                    metadata: kube::api::ObjectMeta { name: Some("late".into()), ..Default::default() },
                    ..Default::default()
                },
            )
            .await,
    );
    assert_eq!(code, 403);
    assert_eq!(
        message,
        "configmaps \"late\" is forbidden: unable to create new content in namespace team because it is being terminated"
    );
    eventually("the content is asked to go", async || {
        config_maps.get("held").await.unwrap().metadata.deletion_timestamp.is_some()
    })
    .await;
    assert!(namespaces.get_opt("team").await.unwrap().is_some());
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    config_maps.patch("held", &PatchParams::default(), &release).await.unwrap();
    eventually("the namespace is gone", async || namespaces.get_opt("team").await.unwrap().is_none()).await;

    let (code, _, message) = common::refusal(namespaces.delete("default", &DeleteParams::default()).await);
    assert_eq!(
        (code, message.as_str()),
        (403, "namespaces \"default\" is forbidden: this namespace may not be deleted")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_object_outlives_its_namespace() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for round in 0..10 {
        let name = format!("team-{round}");
        let namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        namespaces.create(&PostParams::default(), &namespace).await.unwrap();
        let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), &name);
        let mut writer = JoinSet::new();
        let written = config_maps.clone();
        writer.spawn(async move {
            for object in 0.. {
                let name = format!("c-{object}");
                let config_map = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
                if written.create(&PostParams::default(), &config_map).await.is_err() {
                    break;
                }
            }
        });
        namespaces.delete(&name, &DeleteParams::default()).await.unwrap();
        writer.join_all().await;
        eventually("the namespace is gone", async || namespaces.get_opt(&name).await.unwrap().is_none())
            .await;
        assert!(config_maps.list(&ListParams::default()).await.unwrap().items.is_empty(), "round {round}");
    }
}

#[tokio::test(start_paused = true)]
async fn deployments_become_available_and_follow_their_spec() {
    let (server, client) = start();
    let controllers = server.start_controllers(Controllers::default()).await;
    let deployments: Api<Deployment> = Api::default_namespaced(client);
    let deployment = serde_json::from_value(json!({"metadata": {"name": "web"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }}))
    .unwrap();
    deployments.create(&PostParams::default(), &deployment).await.unwrap();
    let available = async |replicas: i32| {
        let status = deployments.get("web").await.unwrap().status.unwrap_or_default();
        status.available_replicas == Some(replicas)
    };
    eventually("one replica", async || available(1).await).await;
    let status = deployments.get("web").await.unwrap().status.unwrap();
    let conditions: Vec<_> = status
        .conditions
        .unwrap()
        .into_iter()
        .map(|c| (c.type_.unwrap_or_default(), c.reason.unwrap()))
        .collect();
    assert_eq!(
        conditions,
        [("Available", "MinimumReplicasAvailable"), ("Progressing", "NewReplicaSetAvailable")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
    let patch = Patch::Merge(json!({"spec": {"replicas": 3}}));
    deployments.patch("web", &PatchParams::default(), &patch).await.unwrap();
    eventually("three replicas", async || available(3).await).await;
    let settled = deployments.get("web").await.unwrap();
    assert_eq!(settled.status.unwrap().observed_generation, settled.metadata.generation);

    controllers.shutdown().await;
    let version = server.resource_version();
    deployments
        .patch("web", &PatchParams::default(), &Patch::Merge(json!({"spec": {"replicas": 4}})))
        .await
        .unwrap();
    assert_eq!(deployments.list(&ListParams::default()).await.unwrap().items.len(), 1);
    assert_eq!(server.resource_version(), version + 1, "nobody settles it any longer");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_cannot_be_written_keeps_no_other_waiting() {
    let (server, client) = start();
    let refused = Fault::respond(Status::service_unavailable("not this one"));
    let of_first = |it: &RequestInfo| {
        it.resource.as_ref().is_some_and(|it| it.name == "a" && it.subresource == "status")
    };
    server.faults().add(refused.when(of_first).always());
    let _controllers = server.start_controllers(Controllers::default()).await;
    let deployments = dynamic(&client, "apps", "v1", "Deployment", "deployments");
    for (name, replicas) in [("a", json!(1)), ("b", json!(-1)), ("c", json!(1))] {
        let deployment = object(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        }}));
        let made = deployments.create(&PostParams::default(), &deployment).await;
        assert_eq!(made.is_ok(), name != "b");
    }
    eventually("the last one is available", async || {
        deployments.get("c").await.unwrap().data["status"]["availableReplicas"] == 1
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_fails_keeps_nothing_else_in_its_namespace_and_the_conditions_say_so() {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = serde_json::from_value(json!({"metadata": {"name": "team"}})).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "team");
    let secret = serde_json::from_value(json!({"metadata": {"name": "s"}})).unwrap();
    secrets.create(&PostParams::default(), &secret).await.unwrap();
    // Config maps come before secrets.
    let refused = Fault::respond(Status::service_unavailable("no"));
    let fault = refused.when(|request| request.is(Verb::DeleteCollection, "configmaps")).always();
    let fault = server.faults().add(fault);
    namespaces.delete("team", &DeleteParams::default()).await.unwrap();
    eventually("the secret is gone", async || secrets.get_opt("s").await.unwrap().is_none()).await;
    idle().await;
    let conditions = namespaces.get("team").await.unwrap().status.unwrap().conditions.unwrap();
    let holds: Vec<_> = conditions.iter().filter(|it| it.status == "True").collect();
    assert_eq!(holds.len(), 1, "{conditions:?}");
    assert_eq!(holds[0].type_, "NamespaceDeletionContentFailure");
    let message = holds[0].message.as_deref().unwrap();
    assert!(message.starts_with("Failed to delete all resource types, 1 remaining: "), "{message}");
    fault.remove();
    eventually("the namespace is gone", async || namespaces.get_opt("team").await.unwrap().is_none()).await;
}

/// What happens to a child and its owners `a` and `b`.
enum Step {
    /// The owner is deleted: foreground, background or orphan.
    Delete(&'static str, fn() -> DeleteParams),
    /// The references of the child become these.
    Own(&'static [Reference]),
    /// A finalizer holds the child.
    Hold,
}

/// The owner, the kind that the reference says, and whether it blocks.
type Reference = (&'static str, &'static str, bool);

const A: Reference = ("a", "ConfigMap", true);
const B: Reference = ("b", "ConfigMap", true);

/// What is there in the end, and whom the child still names as owner.
async fn check(case: &str, own: &'static [Reference], steps: &[Step], there: &[&str], owners: &[&str]) {
    let (server, client) = start();
    let _controllers = server.start_controllers(Controllers::default()).await;
    let config_maps = config_maps(&client);
    for owner in ["a", "b"] {
        config_maps.create(&PostParams::default(), &config_map(owner, "1")).await.unwrap();
    }
    let uids = [config_maps.get("a").await.unwrap().uid(), config_maps.get("b").await.unwrap().uid()];
    let references = |own: &[Reference]| {
        let reference = |(name, kind, block): &Reference| {
            let uid = match *name {
                "a" => uids[0].clone(),
                "b" => uids[1].clone(),
                other => Some(other.to_owned()),
            };
            json!({"apiVersion": "v1", "kind": kind, "name": name, "uid": uid, "blockOwnerDeletion": block})
        };
        own.iter().map(reference).collect::<Vec<_>>()
    };
    let mut child = config_map("child", "1");
    child.metadata.owner_references = serde_json::from_value(references(own).into()).unwrap();
    config_maps.create(&PostParams::default(), &child).await.unwrap();
    idle().await;
    for step in steps {
        let patch = match step {
            Step::Delete(owner, policy) => {
                config_maps.delete(owner, &policy()).await.unwrap();
                idle().await;
                continue;
            }
            Step::Own(own) => json!({"ownerReferences": references(own)}),
            Step::Hold => json!({"finalizers": ["example.com/hold"]}),
        };
        let patch = Patch::Merge(json!({"metadata": patch}));
        config_maps.patch("child", &PatchParams::default(), &patch).await.unwrap();
        idle().await;
    }
    // Nothing is left to do, however long one waits.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let mut left = Vec::new();
    for name in ["a", "b", "child"] {
        if exists(&config_maps, name).await {
            left.push(name);
        }
    }
    assert_eq!(left, there, "{case}");
    let child = config_maps.get_opt("child").await.unwrap();
    let named = child.iter().flat_map(|it| it.owner_references()).map(|owner| owner.name.clone());
    assert_eq!(named.collect::<Vec<_>>(), owners, "{case}");
}

#[tokio::test(start_paused = true)]
async fn the_collector_follows_every_transition() {
    use Step::{Delete, Hold, Own};
    const FREE_A: Reference = ("a", "ConfigMap", false);
    let (foreground, background, orphan) = (
        DeleteParams::foreground as fn() -> _,
        DeleteParams::background as fn() -> _,
        DeleteParams::orphan as fn() -> _,
    );
    let a = |policy| Delete("a", policy);
    let b = |policy| Delete("b", policy);
    check("two block, one goes in the foreground", &[A, B], &[a(foreground)], &["b", "child"], &["b"]).await;
    check("two block, one goes in the background", &[A, B], &[a(background)], &["b", "child"], &["b"]).await;
    check("two block, both go in the foreground", &[A, B], &[a(foreground), b(foreground)], &[], &[]).await;
    check(
        "one orphans, then the other goes in the foreground",
        &[A, B],
        &[a(orphan), b(foreground)],
        &[],
        &[],
    )
    .await;
    check(
        "one goes in the foreground, then the other orphans",
        &[A, B],
        &[a(foreground), b(orphan)],
        &["child"],
        &[],
    )
    .await;
    check("a reference that does not block", &[FREE_A], &[a(foreground)], &["b"], &[]).await;
    check("held, the owner waits", &[A], &[Hold, a(foreground)], &["a", "b", "child"], &["a"]).await;
    check(
        "the reference is taken off while the owner waits",
        &[A],
        &[Hold, a(foreground), Own(&[])],
        &["b", "child"],
        &[],
    )
    .await;
    check(
        "another owner while the owner waits",
        &[A],
        &[Hold, a(foreground), Own(&[B])],
        &["b", "child"],
        &["b"],
    )
    .await;
    check(
        "it blocks no longer while the owner waits",
        &[A],
        &[Hold, a(foreground), Own(&[FREE_A])],
        &["b", "child"],
        &["a"],
    )
    .await;
    check("an owner is added", &[A], &[Own(&[A, B]), a(background)], &["b", "child"], &["b"]).await;
    check(
        "an owner that never was is added",
        &[A],
        &[Own(&[A, ("none", "ConfigMap", true)])],
        &["a", "b", "child"],
        &["a"],
    )
    .await;
    check("the owner's uid, another kind", &[("a", "Secret", true)], &[], &["a", "b"], &[]).await;
    check(
        "the owner's uid, another kind beside a right one",
        &[("a", "Secret", true), B],
        &[],
        &["a", "b", "child"],
        &["b"],
    )
    .await;
}
