//! Custom resources, from their definition to its end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{define_widgets, dynamic, object, refusal, start, widget, widget_definition};
use futures::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Discovery, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchParams},
};
use serde_json::json;
use tokio::task::JoinSet;

#[tokio::test(start_paused = true)]
async fn a_definition_is_established_and_served_at_once() {
    let (_server, client) = start();
    let widgets = define_widgets(&client).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let status = definitions.get("widgets.example.com").await.unwrap().status.unwrap();
    let conditions: Vec<_> = status
        .conditions
        .unwrap()
        .into_iter()
        .map(|c| (c.type_, c.status, c.reason.unwrap_or_default()))
        .collect();
    let expected =
        [("NamesAccepted", "True", "NoConflicts"), ("Established", "True", "InitialNamesAccepted")];
    assert_eq!(conditions, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    assert_eq!(status.stored_versions, Some(vec!["v1".to_owned()]));
    assert_eq!(status.accepted_names.unwrap().list_kind.as_deref(), Some("WidgetList"));

    let made = widgets.create(&PostParams::default(), &widget("w", 1)).await.unwrap();
    assert_eq!(made.metadata.generation, Some(1));
    let discovery = Discovery::new(client.clone()).run_aggregated().await.unwrap();
    let group = discovery.get("example.com").expect("it is discovered");
    assert_eq!(group.versions().collect::<Vec<_>>(), ["v1", "v1beta1"]);
}

#[tokio::test(start_paused = true)]
async fn each_version_shows_the_same_objects() {
    let (_server, client) = start();
    let widgets = define_widgets(&client).await;
    let old = dynamic(&client, "example.com", "v1beta1", "Widget", "widgets");
    let mut events = old.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    widgets.create(&PostParams::default(), &widget("w", 1)).await.unwrap();
    let seen = old.get("w").await.unwrap();
    assert_eq!(seen.types.as_ref().unwrap().api_version, "example.com/v1beta1");
    assert_eq!(common::next(&mut events).await, "ADDED w");
    let list = old.list(&ListParams::default()).await.unwrap();
    assert_eq!(list.items[0].types.as_ref().unwrap().api_version, "example.com/v1beta1");
    let written = old.replace("w", &PostParams::default(), &seen).await.unwrap();
    assert_eq!(written.resource_version(), seen.resource_version(), "nothing has changed");
}

#[tokio::test(start_paused = true)]
async fn objects_outlive_a_change_of_the_storage_version() {
    let (_server, client) = start();
    let widgets = define_widgets(&client).await;
    widgets.create(&PostParams::default(), &widget("w", 1)).await.unwrap();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut events = widgets.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    assert_eq!(common::next(&mut events).await, "ADDED w");
    let mut changed = definitions.get("widgets.example.com").await.unwrap();
    changed.spec.versions[0].storage = false;
    changed.spec.versions[1].storage = true;
    let changed = definitions.replace("widgets.example.com", &PostParams::default(), &changed).await.unwrap();
    assert!(events.next().await.is_none(), "watches begin anew with another storage version");
    let stored = definitions.get(&changed.name_any()).await.unwrap().status.unwrap().stored_versions.unwrap();
    assert_eq!(stored, ["v1", "v1beta1"]);
    for version in ["v1", "v1beta1"] {
        let widgets = dynamic(&client, "example.com", version, "Widget", "widgets");
        let expected = format!("example.com/{version}");
        let listed = widgets.list(&ListParams::default()).await.unwrap();
        assert_eq!(listed.items[0].types.as_ref().unwrap().api_version, expected);
        let seen = widgets.get("w").await.unwrap();
        assert_eq!((seen.types.unwrap().api_version, &seen.data["spec"]), (expected, &json!({"size": 1})));
    }
}

#[tokio::test(start_paused = true)]
async fn generation_follows_the_content_and_not_the_status() {
    let (_server, client) = start();
    let widgets = define_widgets(&client).await;
    widgets.create(&PostParams::default(), &widget("w", 1)).await.unwrap();
    let params = PatchParams::default();
    let generation =
        async |value| widgets.patch("w", &params, &Patch::Merge(value)).await.unwrap().metadata.generation;
    assert_eq!(generation(json!({"spec": {"size": 2}})).await, Some(2));
    assert_eq!(generation(json!({"metadata": {"labels": {"a": "b"}}})).await, Some(2));
    assert_eq!(generation(json!({"status": {"a": "b"}})).await, Some(2));
    let status =
        Patch::Merge(json!({"status": {"a": "b"}, "spec": {"size": 9}, "metadata": {"labels": {"c": "d"}}}));
    let written = widgets.patch_status("w", &params, &status).await.unwrap();
    assert_eq!((&written.data["status"], &written.data["spec"]["size"]), (&json!({"a": "b"}), &json!(2)));
    assert!(!written.labels().contains_key("c"), "a status write leaves the metadata alone");
    let replicas = Patch::Merge(json!({"spec": {"replicas": 4}}));
    let (code, _, message) = refusal(widgets.patch_scale("w", &params, &replicas).await);
    assert_eq!(
        (code, message.as_str()),
        (500, "Internal error occurred: the spec replicas field \".spec.replicas\" does not exist")
    );
    generation(json!({"spec": {"replicas": 3}})).await;
    assert_eq!(widgets.patch_scale("w", &params, &replicas).await.unwrap().spec.unwrap().replicas, Some(4));
}

#[tokio::test(start_paused = true)]
async fn objects_of_another_kind_or_without_a_version_are_refused() {
    let (_server, client) = start();
    let widgets = define_widgets(&client).await;
    let mut other = widget("w", 1);
    other.types.as_mut().unwrap().api_version = "example.com/v2".into();
    let (code, _, message) = refusal(widgets.create(&PostParams::default(), &other).await);
    assert_eq!(code, 400);
    assert_eq!(
        message,
        "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)"
    );
    widgets.create(&PostParams::default(), &widget("w", 1)).await.unwrap();
    let (code, _, message) = refusal(widgets.replace("w", &PostParams::default(), &widget("w", 2)).await);
    assert_eq!(code, 422);
    assert_eq!(
        message,
        "widgets.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    );
}

#[tokio::test(start_paused = true)]
async fn objects_go_with_their_definition_but_not_before_their_finalizers() {
    let (_server, client) = start();
    let widgets = define_widgets(&client).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    widgets.create(&PostParams::default(), &widget("a", 1)).await.unwrap();
    let mut held = widget("b", 1);
    held.metadata.finalizers = Some(vec!["example.com/x".into()]);
    widgets.create(&PostParams::default(), &held).await.unwrap();

    definitions
        .delete("widgets.example.com", &DeleteParams::default())
        .await
        .unwrap()
        .left()
        .expect("the definition");
    assert_eq!(refusal(widgets.get("a").await).0, 404);
    assert!(widgets.get("b").await.unwrap().metadata.deletion_timestamp.is_some());
    let pending = definitions.get("widgets.example.com").await.unwrap();
    assert_eq!(pending.finalizers(), ["customresourcecleanup.apiextensions.k8s.io"]);
    let (code, _, message) = refusal(widgets.create(&PostParams::default(), &widget("c", 1)).await);
    assert_eq!(code, 403);
    assert!(message.ends_with("create not allowed while custom resource definition is terminating"));

    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    widgets.patch("b", &PatchParams::default(), &none).await.unwrap();
    assert_eq!(refusal(definitions.get("widgets.example.com").await).0, 404);
    let discovery = Discovery::new(client.clone()).run_aggregated().await.unwrap();
    assert!(discovery.get("example.com").is_none());
    assert!(widgets.list(&ListParams::default()).await.is_err(), "the path is gone");
}

#[tokio::test(start_paused = true)]
async fn watches_end_with_their_definition() {
    let (_server, client) = start();
    let widgets = define_widgets(&client).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut events = widgets.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    widgets.create(&PostParams::default(), &widget("w", 1)).await.unwrap();
    assert_eq!(common::next(&mut events).await, "ADDED w");
    definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    assert_eq!(common::next(&mut events).await, "DELETED w");
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn names_belong_to_the_first_definition() {
    let (_server, client) = start();
    define_widgets(&client).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut second = widget_definition();
    second.metadata.name = Some("gadgets.example.com".into());
    second.spec.names.plural = "gadgets".into();
    second.spec.names.singular = Some("gadget".into());
    second.spec.names.short_names = None;
    definitions.create(&PostParams::default(), &second).await.unwrap();
    let status = definitions.get("gadgets.example.com").await.unwrap().status.unwrap();
    let conditions = status.conditions.unwrap();
    let accepted = conditions.iter().find(|condition| condition.type_ == "NamesAccepted").unwrap();
    assert_eq!((accepted.status.as_str(), accepted.reason.as_deref()), ("False", Some("KindConflict")));
    assert_eq!(accepted.message.as_deref(), Some("\"Widget\" is already in use"));
    let gadgets = dynamic(&client, "example.com", "v1", "Widget", "gadgets");
    assert!(gadgets.list(&ListParams::default()).await.is_err());

    definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    assert!(gadgets.list(&ListParams::default()).await.is_ok(), "they are taken up when the first one goes");
    let status = definitions.get("gadgets.example.com").await.unwrap().status.unwrap();
    assert_eq!(status.accepted_names.unwrap().kind, "Widget");
}

#[tokio::test(start_paused = true)]
async fn a_definition_keeps_its_names_when_it_asks_for_those_of_another() {
    let (_server, client) = start();
    let widgets = define_widgets(&client).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut second = widget_definition();
    second.metadata.name = Some("gadgets.example.com".into());
    second.spec.names = serde_json::from_value(json!({"plural": "gadgets", "kind": "Gadget"})).unwrap();
    definitions.create(&PostParams::default(), &second).await.unwrap();
    let patch = kube::api::Patch::Merge(json!({"spec": {"names": {"listKind": "WidgetList"}}}));
    definitions.patch("gadgets.example.com", &PatchParams::default(), &patch).await.unwrap();
    let gadgets = dynamic(&client, "example.com", "v1", "Gadget", "gadgets");
    let list = gadgets.list(&ListParams::default()).await.unwrap();
    assert_eq!(list.types.kind, "GadgetList");
    assert_eq!(widgets.list(&ListParams::default()).await.unwrap().types.kind, "WidgetList");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_object_outlives_its_definition() {
    let (_server, client) = start();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for round in 0..100 {
        let widgets = define_widgets(&client).await;
        let mut writers = JoinSet::new();
        for writer in 0..3 {
            let widgets = widgets.clone();
            writers.spawn(async move {
                for object in 0.. {
                    let name = format!("w-{writer}-{object}");
                    if widgets.create(&PostParams::default(), &widget(&name, 1)).await.is_err() {
                        break;
                    }
                }
            });
        }
        definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
        writers.join_all().await;
        assert!(definitions.get_opt("widgets.example.com").await.unwrap().is_none(), "round {round}");
        let widgets = define_widgets(&client).await;
        assert!(widgets.list(&ListParams::default()).await.unwrap().items.is_empty(), "round {round}");
        definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conflicting_names_go_to_one_definition_only() {
    let (_server, client) = start();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for round in 0..50 {
        let mut claims = JoinSet::new();
        for plural in ["widgets", "gadgets", "gizmos"] {
            let mut definition = widget_definition();
            definition.metadata.name = Some(format!("{plural}.example.com"));
            definition.spec.names =
                serde_json::from_value(json!({"plural": plural, "kind": "Widget"})).unwrap();
            let definitions = definitions.clone();
            claims
                .spawn(async move { definitions.create(&PostParams::default(), &definition).await.unwrap() });
        }
        claims.join_all().await;
        let all = definitions.list(&ListParams::default()).await.unwrap().items;
        let accepted = |definition: &CustomResourceDefinition| {
            let conditions = definition.status.as_ref().and_then(|status| status.conditions.as_deref());
            conditions.unwrap_or_default().iter().any(|it| it.type_ == "NamesAccepted" && it.status == "True")
        };
        assert_eq!(all.iter().filter(|definition| accepted(definition)).count(), 1, "round {round}");
        for definition in all {
            let name = definition.metadata.name.unwrap();
            definitions.delete(&name, &DeleteParams::default()).await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_definition_cannot_take_the_place_of_a_built_in_kind() {
    let (_server, client) = start();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let leases = dynamic(&client, "coordination.k8s.io", "v1", "Lease", "leases");
    let lease = object(
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "mine"}}),
    );
    leases.create(&PostParams::default(), &lease).await.unwrap();
    let mut definition = widget_definition();
    let name = "leases.coordination.k8s.io";
    definition.metadata.name = Some(name.into());
    definition.annotations_mut().insert("api-approved.kubernetes.io".into(), "unapproved, a test".into());
    definition.spec.group = "coordination.k8s.io".into();
    definition.spec.names.plural = "leases".into();
    definitions.create(&PostParams::default(), &definition).await.unwrap();
    let conditions = definitions.get(name).await.unwrap().status.unwrap().conditions.unwrap();
    assert_eq!(
        (conditions[0].status.as_str(), conditions[0].reason.as_deref()),
        ("False", Some("PluralConflict"))
    );
    definitions.delete(name, &DeleteParams::default()).await.unwrap();
    assert!(definitions.get_opt(name).await.unwrap().is_none());
    assert!(leases.get("mine").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn definitions_are_checked() {
    let (_server, client) = start();
    let definitions: Api<kube::api::DynamicObject> =
        Api::all_with(client.clone(), &kube::api::ApiResource::erase::<CustomResourceDefinition>(&()));
    let mut value = serde_json::to_value(widget_definition()).unwrap();
    value["metadata"]["name"] = "wrong".into();
    value["spec"]["versions"][0]["storage"] = false.into();
    let (code, _, message) = refusal(definitions.create(&PostParams::default(), &object(value)).await);
    assert_eq!(code, 422);
    assert!(
        message
            .contains("metadata.name: Invalid value: \"wrong\": must be spec.names.plural+\".\"+spec.group"),
        "{message}"
    );
    assert!(message.contains("must have exactly one version marked as storage version"), "{message}");
}
