//! Kinds that are values: known at run time only, or read as something else than the type of the kind.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::time::Duration;

use common::{Counter, config_map, key};
use k8s_openapi::{
    api::core::v1::ConfigMap, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kubewright::{
    cache::ListOptions,
    controller::{OwnsOptions, WatchOptions},
    controllerutil::{
        OperationResult, create_or_patch, create_or_update, ensure_finalizer, has_owner_reference,
        release_finalizer, set_controller_reference, update_status,
    },
    event::Observed,
    handler,
    kube::{
        self, Resource,
        api::DeleteParams,
        core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta, TypeMeta},
    },
    object::{Kind, Scope},
    prelude::*,
};
use kubewright_testing::{RunningManager, TestEnv, apiserver::Fault};
use serde::Deserialize;
use serde_json::json;

/// The definition of a kind that no type of this program stands for.
fn gadget_definition() -> CustomResourceDefinition {
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    serde_json::from_value(json!({
        "metadata": { "name": "gadgets.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "plural": "gadgets", "kind": "Gadget" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": schema },
                "subresources": { "status": {} },
            }],
        },
    }))
    .unwrap()
}

/// The kind as the API server describes it.
async fn discovered(env: &TestEnv) -> Kind {
    env.install_crds([gadget_definition()]).await;
    let gadget = GroupVersionKind::gvk("example.com", "v1", "Gadget");
    Kind::from(kube::discovery::pinned_kind(&env.kube(), &gadget).await.unwrap())
}

fn gadget(name: &str, kind: &Kind, colour: &str) -> DynamicObject {
    let mut gadget = DynamicObject::new(name, &kind.api_resource()).within("default");
    gadget.data = json!({ "spec": { "colour": colour } });
    gadget
}

/// An API server that knows gadgets, and a running client of it.
async fn world() -> (TestEnv, Kind, Client, RunningManager) {
    let env = TestEnv::start().await;
    let kind = discovered(&env).await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    (env, kind, client, running)
}

fn config_maps() -> Kind {
    Kind::new(ApiResource::erase::<ConfigMap>(&()), Scope::Namespaced)
}

/// Keeps a ConfigMap with the colour of each gadget.
struct Painter {
    client: Client,
    kind: Kind,
}

impl Reconciler for Painter {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
        let gadgets = self.client.objects::<DynamicObject>(self.kind.clone());
        let Some(gadget) = gadgets.get(&request).await.optional()? else {
            return Ok(Action::await_change());
        };
        let children = self.client.objects::<DynamicObject>(config_maps());
        let child = DynamicObject::new(request.name(), &config_maps().api_resource()).within("default");
        create_or_update(&children, child, |child| {
            child.metadata.owner_references =
                gadget.controller_owner_ref(&self.kind.api_resource()).map(|it| vec![it]);
            child.data["data"]["colour"] = gadget.data["spec"]["colour"].clone();
            Ok::<_, BoxError>(())
        })
        .await?;
        assert!(children.get(&request).await.is_ok(), "a read sees the write before it");
        update_status(&gadgets, &request, |gadget| gadget.data["status"]["painted"] = true.into()).await?;
        Ok(Action::await_change())
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_without_a_type_can_be_reconciled_owned_and_written() {
    let env = TestEnv::start().await;
    let kind = discovered(&env).await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    Controller::builder(&manager)
        .for_kind(kind.clone())
        .owns_kind(config_maps())
        .complete(Painter { client: client.clone(), kind: kind.clone() })
        .unwrap();
    let running = env.run(manager);

    let gadgets = client.objects::<DynamicObject>(kind.clone());
    gadgets.create(&gadget("a", &kind, "red")).await.unwrap();
    let child = env.wait_for::<ConfigMap>(&key("a"), |child| child.is_some()).await.unwrap();
    assert_eq!(child.data.as_ref().unwrap()["colour"], "red");
    let is_painted = |it: Option<&DynamicObject>| it.is_some_and(|it| it.data["status"]["painted"] == true);
    client.cache().wait_for_as(&kind, &key("a"), is_painted).await.unwrap();

    // A child that somebody deletes comes back.
    env.delete::<ConfigMap>(&key("a")).await;
    env.wait_for::<ConfigMap>(&key("a"), |it| it.is_some_and(|it| it.metadata.uid != child.metadata.uid))
        .await;

    gadgets.delete(&key("a"), &DeleteParams::default()).await.unwrap();
    assert!(gadgets.get(&key("a")).await.optional().unwrap().is_none(), "a read sees the deletion before it");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn writes_of_a_kind_without_a_type_are_checked_like_all_others() {
    let (_env, kind, client, running) = world().await;
    let gadgets = client.objects::<DynamicObject>(kind.clone());

    let mut nowhere = gadget("a", &kind, "red");
    nowhere.metadata.namespace = None;
    let error = gadgets.create(&nowhere).await.unwrap_err();
    assert_eq!(error.to_string(), "Gadget.example.com \"a\" has no metadata.namespace");

    let first = gadgets.create(&gadget("a", &kind, "red")).await.unwrap();
    assert!(gadgets.create(&first).await.is_err());
    let mut second = first.clone();
    second.data["spec"]["colour"] = "blue".into();
    let second = gadgets.update(&second).await.unwrap();
    assert!(gadgets.update(&first).await.unwrap_err().is_conflict());
    let read = gadgets.get(&key("a")).await.unwrap();
    assert_eq!(read.metadata.resource_version, second.metadata.resource_version);

    let mut with_status = second.clone();
    with_status.data = json!({ "spec": { "colour": "ignored" }, "status": { "painted": true } });
    let with_status = gadgets.status().update(&with_status).await.unwrap();
    assert_eq!(with_status.data["spec"]["colour"], "blue");
    assert_eq!(with_status.data["status"]["painted"], true);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn finalizers_and_owners_of_objects_without_a_type() {
    let (env, kind, client, running) = world().await;
    let gadgets = client.objects::<DynamicObject>(kind.clone());

    let owner = env.create(&config_map("owner", &[])).await;
    let mut gadget = gadget("a", &kind, "red");
    set_controller_reference(&owner, &mut gadget).unwrap();
    let gadget = gadgets.create(&gadget).await.unwrap();
    assert!(has_owner_reference(&owner, &gadget));

    let gadget = ensure_finalizer(&gadgets, &gadget, "example.com/paint").await.unwrap().unwrap();
    assert!(ensure_finalizer(&gadgets, &gadget, "example.com/paint").await.unwrap().is_none());
    gadgets.delete(&key("a"), &DeleteParams::default()).await.unwrap();
    let gadget = gadgets.get(&key("a")).await.unwrap();
    assert!(gadget.metadata.deletion_timestamp.is_some(), "a read sees the deletion before it");
    release_finalizer(&gadgets, &*gadget, "example.com/paint").await.unwrap();
    let is_gone = |gadget: Option<&DynamicObject>| gadget.is_none();
    client.cache().wait_for_as(&kind, &key("a"), is_gone).await.unwrap();

    let merged = json!({ "spec": { "size": 1 } });
    let (created, result) =
        create_or_patch(&gadgets, self::gadget("b", &kind, "red"), |_| Ok::<_, BoxError>(())).await.unwrap();
    assert_eq!(result, OperationResult::Created);
    let (patched, result) = create_or_patch(&gadgets, created, |gadget| {
        gadget.data = merged.clone();
        Ok::<_, BoxError>(())
    })
    .await
    .unwrap();
    assert_eq!((result, patched.data), (OperationResult::Updated, merged));
    running.stop().await.unwrap();
}

#[derive(Deserialize)]
struct Colour {
    data: std::collections::BTreeMap<String, String>,
}

#[tokio::test(start_paused = true)]
async fn all_views_of_a_kind_share_one_watch() {
    let env = TestEnv::start().await;
    let follows =
        env.server().faults().add(Fault::delay(Duration::ZERO).when(|it| it.follows("configmaps")).always());
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    client.create(&config_map("a", &[("colour", "red")])).await.unwrap();

    let typed = client.get::<ConfigMap>(&key("a")).await.unwrap();
    let dynamic = client.objects::<DynamicObject>(config_maps()).get(&key("a")).await.unwrap();
    let colours =
        client.objects::<Colour>(Kind::of::<ConfigMap>()).list().in_namespace("default").await.unwrap();

    assert_eq!(typed.data.as_ref().unwrap()["colour"], "red");
    assert_eq!(dynamic.data["data"]["colour"], "red");
    assert_eq!(colours[0].data["colour"], "red");
    assert_eq!(follows.fired(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_live_read_takes_any_view_too() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    client.create(&config_map("a", &[("colour", "red")])).await.unwrap();

    let one = client.live().get_as::<DynamicObject>(&config_maps(), &key("a")).await.unwrap();
    let all = client.live().list_as::<Colour>(&config_maps(), &ListOptions::default()).await.unwrap();

    assert_eq!(one.data["data"]["colour"], "red");
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].data["colour"], "red");
}

#[tokio::test(start_paused = true)]
async fn an_object_says_what_it_is_whatever_brought_it() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    // A streaming list that breaks off is followed by a list in pages, whose items say nothing of themselves.
    let cut = env.server().faults().add(Fault::cut_watch(1));
    let running = env.run(manager);
    for name in ["a", "b", "c"] {
        client.create(&config_map(name, &[])).await.unwrap();
    }
    let config_maps = config_maps();
    let objects = client.objects::<DynamicObject>(config_maps.clone());
    objects.list().await.unwrap();
    assert_eq!(cut.fired(), 1);
    client.create(&config_map("d", &[])).await.unwrap();

    let expected = Some(TypeMeta { api_version: "v1".into(), kind: "ConfigMap".into() });
    for name in ["a", "b", "c", "d"] {
        assert_eq!(objects.get(&key(name)).await.unwrap().types, expected, "{name}");
    }
    let live = client.live().list_as::<DynamicObject>(&config_maps, &ListOptions::default()).await.unwrap();
    assert!(live.len() == 4 && live.iter().all(|object| object.types == expected), "{live:?}");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn handlers_and_predicates_of_a_watch_read_its_view() {
    let env = TestEnv::start().await;
    let kind = discovered(&env).await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let counter = Counter::default();
    let named_by_its_colour = |gadget: &DynamicObject| {
        gadget.data["spec"]["colour"].as_str().map(|colour| Request::new("default", colour))
    };
    let is_no_secret =
        predicate::filter(|it: &Observed<PartialObjectMeta<DynamicObject>>| it.key().name() != "secret");
    Controller::builder(&manager)
        .for_::<ConfigMap>()
        .watches_kind(kind.clone(), handler::enqueue_mapped(named_by_its_colour))
        .watches_kind_with(
            kind.clone().metadata_only(),
            handler::enqueue_request_for_object(),
            WatchOptions::new().with_predicate(is_no_secret),
        )
        .complete(counter.clone())
        .unwrap();
    let running = env.run(manager);

    let gadgets = client.objects::<DynamicObject>(kind.clone());
    gadgets.create(&gadget("secret", &kind, "green")).await.unwrap();
    gadgets.create(&gadget("a", &kind, "red")).await.unwrap();
    counter.wait_for(&key("green"), 1).await;
    counter.wait_for(&key("red"), 1).await;
    counter.wait_for(&key("a"), 1).await;
    running.stop().await.unwrap();
    assert_eq!(counter.of(&key("secret")), 0);
}

#[tokio::test(start_paused = true)]
async fn the_owner_can_be_of_a_kind_without_a_type() {
    let env = TestEnv::start().await;
    let kind = discovered(&env).await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let (controllers, owners) = (Counter::default(), Counter::default());
    Controller::builder(&manager)
        .for_kind(kind.clone())
        .owns_kind_with::<PartialObjectMeta<ConfigMap>>(config_maps().metadata_only(), OwnsOptions::new())
        .complete(controllers.clone())
        .unwrap();
    Controller::builder(&manager)
        .named("owners")
        .watches::<ConfigMap>(handler::enqueue_request_for_owner_of_kind(kind.clone()))
        .complete(owners.clone())
        .unwrap();
    let running = env.run(manager);

    let owner =
        client.objects::<DynamicObject>(kind.clone()).create(&gadget("a", &kind, "red")).await.unwrap();
    controllers.wait_for(&key("a"), 1).await;
    let mut child = config_map("child", &[]);
    child.meta_mut().owner_references = owner.owner_ref(&kind.api_resource()).map(|it| vec![it]);
    env.create(&child).await;
    owners.wait_for(&key("a"), 1).await;
    child.meta_mut().name = Some("controlled".into());
    child.meta_mut().owner_references = owner.controller_owner_ref(&kind.api_resource()).map(|it| vec![it]);
    env.create(&child).await;
    owners.wait_for(&key("a"), 2).await;
    controllers.wait_for(&key("a"), 2).await;
    running.stop().await.unwrap();
    assert_eq!(controllers.of(&key("a")), 2, "only the controlled child concerns its owner");
}
