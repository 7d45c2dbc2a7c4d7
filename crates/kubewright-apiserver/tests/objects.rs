//! Create, read, update, patch and delete, through a client at the first door.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use common::{config_map, config_maps, dynamic, object, refusal, start};
use k8s_openapi::api::{
    admissionregistration::v1::MutatingWebhookConfiguration,
    core::v1::{ConfigMap, Secret},
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn a_new_object_gets_its_identity() {
    let (_server, client) = start();
    let config_maps = config_maps(&client);
    let mut sent = config_map("a", "1");
    sent.metadata.uid = Some("mine".into());
    let made = config_maps.create(&PostParams::default(), &sent).await.unwrap();
    assert_ne!(made.uid().unwrap(), "mine");
    assert_eq!(made.namespace().as_deref(), Some("default"));
    assert!(made.creation_timestamp().is_some());
    assert_eq!(made.metadata.generation, None, "ConfigMaps have none");
    assert_eq!(config_maps.get("a").await.unwrap(), made);
}

#[tokio::test(start_paused = true)]
async fn refusals_read_as_upstream_writes_them() {
    let (_server, client) = start();
    let config_maps = config_maps(&client);
    let params = PostParams::default();
    let made = config_maps.create(&params, &config_map("a", "1")).await.unwrap();

    let expect = |result, code, reason: &str, message: &str| {
        assert_eq!(refusal::<DynamicObject>(result), (code, reason.to_owned(), message.to_owned()));
    };
    expect(config_maps.get("b").await, 404, "NotFound", "configmaps \"b\" not found");
    expect(
        config_maps.create(&params, &config_map("a", "1")).await,
        409,
        "AlreadyExists",
        "configmaps \"a\" already exists",
    );
    expect(
        config_maps.create(&params, &made).await,
        500,
        "",
        "resourceVersion should not be set on objects to be created",
    );
    let elsewhere: Api<DynamicObject> = {
        let resource = kube::api::ApiResource::erase::<ConfigMap>(&());
        Api::namespaced_with(client.clone(), "nowhere", &resource)
    };
    expect(
        elsewhere.create(&params, &config_map("a", "1")).await,
        404,
        "NotFound",
        "namespaces \"nowhere\" not found",
    );
    let mut other = config_map("c", "1");
    other.metadata.namespace = Some("kube-system".into());
    expect(
        config_maps.create(&params, &other).await,
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    );
    let mut stale = made.clone();
    stale.metadata.resource_version = Some("1".into());
    expect(
        config_maps.replace("a", &params, &stale).await,
        409,
        "Conflict",
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again",
    );
    expect(
        config_maps.replace("b", &params, &made).await,
        400,
        "BadRequest",
        "the name of the object (a) does not match the name on the URL (b)",
    );
    let (code, _, message) = refusal(config_maps.create(&params, &config_map("A", "1")).await);
    assert_eq!(code, 422);
    assert!(message.starts_with(
        "ConfigMap \"A\" is invalid: metadata.name: Invalid value: \"A\": a lowercase RFC 1123"
    ));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_changes_nothing_keeps_the_version() {
    let (server, client) = start();
    let config_maps = config_maps(&client);
    let made = config_maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    let version = server.resource_version();
    let same = config_maps.replace("a", &PostParams::default(), &made).await.unwrap();
    assert_eq!(same.resource_version(), made.resource_version());
    let patch = Patch::Merge(json!({"data": {"key": "1"}}));
    config_maps.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(server.resource_version(), version);
}

#[tokio::test(start_paused = true)]
async fn patches_change_parts() {
    let (_server, client) = start();
    let config_maps = config_maps(&client);
    config_maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    let params = PatchParams::default();
    let merge = Patch::Merge(
        json!({"data": {"key": null, "big": "9007199254740993"}, "metadata": {"labels": {"l": "1"}}}),
    );
    let patched = config_maps.patch("a", &params, &merge).await.unwrap();
    assert_eq!(patched.data["data"], json!({"big": "9007199254740993"}));
    assert_eq!(patched.labels()["l"], "1");

    let operations =
        serde_json::from_value(json!([{"op": "replace", "path": "/data/big", "value": "2"}])).unwrap();
    let patched = config_maps.patch("a", &params, &Patch::Json::<()>(operations)).await.unwrap();
    assert_eq!(patched.data["data"], json!({"big": "2"}));

    let stale = Patch::Merge(json!({"metadata": {"resourceVersion": "1"}}));
    assert_eq!(refusal(config_maps.patch("a", &params, &stale).await).0, 409);
    let apply = Patch::Apply(json!({}));
    let (code, reason, message) = refusal(config_maps.patch("a", &PatchParams::apply("me"), &apply).await);
    assert_eq!((code, reason.as_str()), (415, "UnsupportedMediaType"));
    assert_eq!(
        message,
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json"
    );
    assert_eq!(refusal(config_maps.patch("none", &params, &merge).await).0, 404);
}

#[tokio::test(start_paused = true)]
async fn options_of_a_patch_are_judged_after_its_media_type() {
    let (_server, client) = start();
    let config_maps = config_maps(&client);
    config_maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    let forced = PatchParams::apply("me").force();
    let (code, reason, message) =
        refusal(config_maps.patch("a", &forced, &Patch::Apply(config_map("a", "2"))).await);
    assert_eq!((code, reason.as_str()), (415, "UnsupportedMediaType"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_json_patch_that_fails_says_why_and_changes_nothing() {
    let (server, client) = start();
    let config_maps = config_maps(&client);
    config_maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    let version = server.resource_version();
    let operations = serde_json::from_value(json!([
        {"op": "remove", "path": "/data/key"},
        {"op": "move", "from": "/data/none", "path": "/data/key"},
    ]));
    let patch = Patch::Json::<()>(operations.unwrap());
    let Err(kube::Error::Api(status)) = config_maps.patch("a", &PatchParams::default(), &patch).await else {
        panic!("the patch should have been refused");
    };
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    assert_eq!(status.message, "the server rejected our request due to an error in our request");
    assert_eq!(
        status.details.unwrap().causes[0].message,
        "error in move for path: 'none': Unable to remove nonexistent key: none: missing value"
    );
    assert_eq!(server.resource_version(), version);
}

#[tokio::test(start_paused = true)]
async fn status_and_the_rest_are_written_apart() {
    let (_server, client) = start();
    let deployments = dynamic(&client, "apps", "v1", "Deployment", "deployments");
    let sent = object(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
        "status": {"replicas": 7},
    }));
    let made = deployments.create(&PostParams::default(), &sent).await.unwrap();
    assert_eq!(made.metadata.generation, Some(1));
    assert_eq!(made.data["spec"]["replicas"], 1, "the default");
    assert_eq!(made.data["status"], json!({}), "a create brings no status");

    let params = PatchParams::default();
    let patch = Patch::Merge(json!({"spec": {"replicas": 3}, "status": {"replicas": 3}}));
    let spec = deployments.patch("web", &params, &patch).await.unwrap();
    assert_eq!((&spec.data["spec"]["replicas"], &spec.data["status"]), (&json!(3), &json!({})));
    assert_eq!(spec.metadata.generation, Some(2));

    let patch = Patch::Merge(
        json!({"spec": {"replicas": 9}, "status": {"replicas": 3}, "metadata": {"labels": {"x": "y"}}}),
    );
    let status = deployments.patch_status("web", &params, &patch).await.unwrap();
    assert_eq!(
        (&status.data["spec"]["replicas"], &status.data["status"]),
        (&json!(3), &json!({"replicas": 3}))
    );
    assert_eq!(status.metadata.generation, Some(2));
    assert!(status.labels().is_empty(), "a status write leaves a Deployment's labels alone");

    let scale = deployments
        .patch_scale("web", &params, &Patch::Merge(json!({"spec": {"replicas": 5}})))
        .await
        .unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(5));
    assert_eq!(scale.status.unwrap().selector.as_deref(), Some("a=b"));
    assert_eq!(deployments.get("web").await.unwrap().metadata.generation, Some(3));

    let mut other = sent.clone();
    other.data["spec"]["template"]["metadata"]["labels"] = json!({"a": "c"});
    other.metadata.name = Some("other".into());
    let (code, _, message) = refusal(deployments.create(&PostParams::default(), &other).await);
    assert_eq!(code, 422);
    assert_eq!(
        message,
        "Deployment.apps \"other\" is invalid: spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template `labels`"
    );
}

#[tokio::test(start_paused = true)]
async fn dry_runs_leave_no_trace() {
    let (server, client) = start();
    let config_maps = config_maps(&client);
    let version = server.resource_version();
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let made = config_maps.create(&dry, &config_map("a", "1")).await.unwrap();
    assert!(made.uid().is_some());
    assert_eq!(made.resource_version(), None);
    config_maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    config_maps
        .patch(
            "a",
            &PatchParams { dry_run: true, ..PatchParams::default() },
            &Patch::Merge(json!({"data": null})),
        )
        .await
        .unwrap();
    config_maps.delete("a", &DeleteParams::default().dry_run()).await.unwrap();
    assert_eq!(server.resource_version(), version + 1);
    let bad = PostParams { field_manager: None, ..PostParams::default() };
    let request = kube::core::Request::new("/api/v1/namespaces/default/configmaps");
    let mut request = request.create(&bad, serde_json::to_vec(&config_map("b", "1")).unwrap()).unwrap();
    *request.uri_mut() = "/api/v1/namespaces/default/configmaps?dryRun=Some".parse().unwrap();
    let (code, _, message) = refusal(client.request::<Value>(request).await);
    assert_eq!(code, 422);
    assert!(
        message.ends_with("dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn generated_names_are_unique() {
    let (_server, client) = start();
    let config_maps = config_maps(&client);
    let mut sent = config_map("x", "1");
    sent.metadata.name = None;
    sent.metadata.generate_name = Some("job-".into());
    let first = config_maps.create(&PostParams::default(), &sent).await.unwrap().name_any();
    let second = config_maps.create(&PostParams::default(), &sent).await.unwrap().name_any();
    assert!(first.starts_with("job-") && first.len() == 9);
    assert_ne!(first, second);
}

#[tokio::test(start_paused = true)]
async fn collections_are_deleted_by_selector() {
    let (_server, client) = start();
    let config_maps = config_maps(&client);
    for (name, label) in [("a", "1"), ("b", "2"), ("c", "1")] {
        let mut sent = config_map(name, "1");
        sent.metadata.labels = Some([("l".into(), label.into())].into());
        config_maps.create(&PostParams::default(), &sent).await.unwrap();
    }
    let params = ListParams::default().labels("l=1");
    let deleted =
        config_maps.delete_collection(&DeleteParams::default(), &params).await.unwrap().left().unwrap();
    assert_eq!(deleted.items.len(), 2);
    let left: Vec<_> =
        config_maps.list(&ListParams::default()).await.unwrap().iter().map(ResourceExt::name_any).collect();
    assert_eq!(left, ["b"]);
}

#[tokio::test(start_paused = true)]
async fn secrets_encode_their_texts_and_can_be_frozen() {
    let (_server, client) = start();
    let secrets: Api<Secret> = Api::default_namespaced(client);
    let secret = serde_json::from_value(
        json!({"metadata": {"name": "s"}, "stringData": {"a": "b"}, "immutable": true}),
    )
    .unwrap();
    let made = secrets.create(&PostParams::default(), &secret).await.unwrap();
    assert_eq!(made.string_data, None);
    assert_eq!(made.data.unwrap()["a"].0, b"b");
    assert_eq!(made.type_.as_deref(), Some("Opaque"));
    let patch = Patch::Merge(json!({"data": {"a": "Yg=="}, "stringData": {"a": "c"}}));
    let (code, _, message) = refusal(secrets.patch("s", &PatchParams::default(), &patch).await);
    assert_eq!(
        (code, message.as_str()),
        (422, "Secret \"s\" is invalid: data: Forbidden: field is immutable when `immutable` is set")
    );
}

#[tokio::test(start_paused = true)]
async fn leases_are_created_by_an_update_and_updated_by_version() {
    let (_server, client) = start();
    let leases = dynamic(&client, "coordination.k8s.io", "v1", "Lease", "leases");
    let lease = object(
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}}),
    );
    leases.replace("l", &PostParams::default(), &lease).await.unwrap();
    let (code, _, message) = refusal(leases.replace("l", &PostParams::default(), &lease).await);
    assert_eq!(
        (code, message.as_str()),
        (
            422,
            "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn webhook_configurations_are_filled_in_and_counted() {
    let (_server, client) = start();
    let configurations = Api::<MutatingWebhookConfiguration>::all(client);
    let sent = serde_json::from_value(json!({
        "metadata": {"name": "hooks"},
        "webhooks": [{
            "name": "a.example.com",
            "clientConfig": {"service": {"namespace": "n", "name": "s"}},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    }));
    let mut made = configurations.create(&PostParams::default(), &sent.unwrap()).await.unwrap();
    let webhook = &mut made.webhooks.as_mut().unwrap()[0];
    assert_eq!(webhook.failure_policy.as_deref(), Some("Fail"));
    assert_eq!(webhook.match_policy.as_deref(), Some("Equivalent"));
    assert_eq!(webhook.reinvocation_policy.as_deref(), Some("Never"));
    assert_eq!(webhook.timeout_seconds, Some(10));
    assert_eq!(webhook.client_config.service.as_ref().unwrap().port, Some(443));
    assert_eq!(webhook.rules.as_ref().unwrap()[0].scope.as_deref(), Some("*"));
    assert!(webhook.namespace_selector.is_some() && webhook.object_selector.is_some());

    webhook.timeout_seconds = Some(1);
    let changed = configurations.replace("hooks", &PostParams::default(), &made).await.unwrap();
    assert_eq!((made.metadata.generation, changed.metadata.generation), (Some(1), Some(2)));
}

#[tokio::test(start_paused = true)]
async fn events_have_two_shapes() {
    let (_server, client) = start();
    let core = dynamic(&client, "", "v1", "Event", "events");
    let new = dynamic(&client, "events.k8s.io", "v1", "Event", "events");
    let event = object(json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "p"}, "note": "text", "reason": "Because",
    }));
    new.create(&PostParams::default(), &event).await.unwrap();
    let old = core.get("e").await.unwrap();
    assert_eq!(old.data["message"], "text");
    assert_eq!(old.data["involvedObject"]["name"], "p");
    assert_eq!(old.types.unwrap().api_version, "v1");
    let by_kind = ListParams::default().fields("regarding.kind=Pod");
    let found = new.list(&by_kind).await.unwrap();
    assert_eq!(found.items[0].data["note"], "text");
    let (code, _, message) = refusal(core.list(&by_kind).await);
    assert_eq!((code, message.as_str()), (400, "field label not supported: regarding.kind"));
}

#[tokio::test(start_paused = true)]
async fn a_seed_repeats_a_run() {
    let run = async || {
        let server = kubewright_apiserver::ApiServer::builder().seed(7).build();
        let client = Client::new(server.service(), "default");
        let made = config_maps(&client).create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
        serde_json::to_string(&made).unwrap()
    };
    assert_eq!(run().await, run().await);
}
