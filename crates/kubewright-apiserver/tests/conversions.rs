//! Custom resources whose versions a webhook converts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use common::{dynamic, next, object, refusal, start, widget, widget_definition};
use futures::StreamExt;
use http::{Request, Response};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use kubewright_apiserver::{ApiServer, ServiceRoute};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// A server whose widgets have a `size` at v1, which is kept, and a `width` at v1beta1.
struct House {
    server: ApiServer,
    client: Client,
    /// How many objects were in each question, and what the webhook does to its next answers.
    asked: Arc<Mutex<Vec<usize>>>,
    mischief: Arc<Mutex<Option<Mischief>>>,
}

type Mischief = fn(&mut Value);

impl House {
    async fn new(review_versions: &[&str]) -> Self {
        let (server, client) = start();
        let (asked, mischief) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None::<Mischief>)));
        let (noted, done) = (asked.clone(), mischief.clone());
        let handler = move |http: Request<Bytes>| {
            assert_eq!(http.uri(), "/convert?timeout=30s");
            let mut review: Value = serde_json::from_slice(http.body()).unwrap();
            let request = review["request"].take();
            let objects = request["objects"].as_array().unwrap();
            noted.lock().push(objects.len());
            let converted: Vec<_> =
                objects.iter().map(|object| converted(object, &request["desiredAPIVersion"])).collect();
            review["response"] = json!({"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": converted});
            if let Some(mischief) = *done.lock() {
                mischief(&mut review);
            }
            async move { Response::new(Bytes::from(review.to_string())) }
        };
        server.route_service("default", "converter", ServiceRoute::in_process(handler));
        let house = Self { server, client, asked, mischief };
        let mut definition = serde_json::to_value(widget_definition()).unwrap();
        definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": review_versions,
            "clientConfig": {"service": {"namespace": "default", "name": "converter", "path": "/convert"}},
        }});
        let definition = serde_json::from_value(definition).unwrap();
        house.definitions().create(&PostParams::default(), &definition).await.unwrap();
        house
    }

    fn definitions(&self) -> Api<CustomResourceDefinition> {
        Api::all(self.client.clone())
    }

    fn widgets(&self, version: &str) -> Api<DynamicObject> {
        dynamic(&self.client, "example.com", version, "Widget", "widgets")
    }

    /// The sizes of the questions since somebody last looked.
    fn asked(&self) -> Vec<usize> {
        std::mem::take(&mut *self.asked.lock())
    }

    fn mischief(&self, mischief: Option<Mischief>) {
        *self.mischief.lock() = mischief;
    }
}

/// It leaves nothing of the metadata but what it must, and a label.
fn converted(object: &Value, version: &Value) -> Value {
    let (from, to) = if *version == "example.com/v1" { ("width", "size") } else { ("size", "width") };
    let field = |name: &str| object["metadata"][name].clone();
    json!({
        "apiVersion": version, "kind": object["kind"],
        "metadata": {"name": field("name"), "namespace": field("namespace"), "uid": field("uid"), "labels": {"to": to}},
        "spec": {to: object["spec"][from]}, "status": object["status"],
    })
}

fn wide(name: &str, width: i64) -> DynamicObject {
    object(json!({
        "apiVersion": "example.com/v1beta1", "kind": "Widget", "metadata": {"name": name}, "spec": {"width": width},
    }))
}

#[tokio::test(start_paused = true)]
async fn each_version_shows_the_object_in_its_own_words() {
    let house = House::new(&["v1"]).await;
    let (kept, other) = (house.widgets("v1"), house.widgets("v1beta1"));
    let made = other.create(&PostParams::default(), &wide("w", 3)).await.unwrap();
    assert_eq!(made.data["spec"], json!({"width": 3}));
    let seen = kept.get("w").await.unwrap();
    assert_eq!((&seen.data["spec"], &seen.metadata.uid), (&json!({"size": 3}), &made.metadata.uid));
    assert_eq!(seen.metadata.creation_timestamp, made.metadata.creation_timestamp);
    assert_eq!(seen.metadata.labels.unwrap()["to"], "size", "labels are the webhook's");

    let patch = Patch::Merge(json!({"spec": {"width": 5}}));
    let patched = other.patch("w", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!((&patched.data["spec"], patched.metadata.generation), (&json!({"width": 5}), Some(2)));
    assert_eq!(kept.get("w").await.unwrap().data["spec"], json!({"size": 5}));
    let status = Patch::Merge(json!({"status": {"replicas": 1}}));
    other.patch_status("w", &PatchParams::default(), &status).await.unwrap();
    assert_eq!(kept.get("w").await.unwrap().data["status"], json!({"replicas": 1}));
}

#[tokio::test(start_paused = true)]
async fn a_list_asks_once_and_what_is_there_already_is_not_asked_about() {
    let house = House::new(&["v1beta1", "v1"]).await;
    for size in 0..5 {
        house.widgets("v1").create(&PostParams::default(), &widget(&format!("w{size}"), size)).await.unwrap();
    }
    assert!(house.asked().is_empty(), "they are kept as they came");
    let listed = house.widgets("v1beta1").list(&ListParams::default()).await.unwrap();
    let widths: Vec<_> = listed.items.iter().map(|widget| widget.data["spec"]["width"].clone()).collect();
    assert_eq!((widths, house.asked()), ((0..5).map(Value::from).collect(), vec![5]));

    // Another version is kept from now on; what was kept before is of the old one.
    let mut definition = house.definitions().get("widgets.example.com").await.unwrap();
    definition.spec.versions[0].storage = false;
    definition.spec.versions[1].storage = true;
    house.definitions().replace("widgets.example.com", &PostParams::default(), &definition).await.unwrap();
    house.widgets("v1beta1").create(&PostParams::default(), &wide("w5", 5)).await.unwrap();
    house.asked();
    let listed = house.widgets("v1beta1").list(&ListParams::default()).await.unwrap();
    let widths: Vec<_> = listed.items.iter().map(|widget| widget.data["spec"]["width"].clone()).collect();
    assert_eq!((widths, house.asked()), ((0..6).map(Value::from).collect(), vec![5]));
}

#[tokio::test(start_paused = true)]
async fn a_watch_shows_its_version_and_says_when_it_cannot() {
    let house = House::new(&["v1"]).await;
    let mut events = house.widgets("v1beta1").watch(&WatchParams::default(), "0").await.unwrap().boxed();
    house.widgets("v1").create(&PostParams::default(), &widget("w", 7)).await.unwrap();
    let Some(Ok(WatchEvent::Added(added))) = events.next().await else { panic!("it was added") };
    assert_eq!(added.data["spec"], json!({"width": 7}));
    house.mischief(Some(|review| {
        review["response"]["result"] = json!({"status": "Failure", "message": "no"});
    }));
    house.widgets("v1").create(&PostParams::default(), &widget("x", 7)).await.unwrap();
    assert_eq!(next(&mut events).await, "ERROR 500 ");
}

/// Nothing is shown and nothing is stored if one object cannot be converted.
#[tokio::test(start_paused = true)]
async fn a_failure_is_a_500_in_upstreams_words() {
    let house = House::new(&["v1"]).await;
    let rows: [(Mischief, &str); 7] = [
        (
            |review| review["response"]["result"] = json!({"status": "Failure", "message": "too wide"}),
            "conversion webhook for example.com/v1, Kind=Widget failed: too wide",
        ),
        (|review| review["response"]["uid"] = "other".into(), "failed: expected response.uid="),
        (
            |review| review["response"]["convertedObjects"] = json!([]),
            "conversion webhook for example.com/v1, Kind=Widget returned 0 objects, expected 1",
        ),
        (
            |review| review["response"]["convertedObjects"][0]["apiVersion"] = "example.com/v3".into(),
            "conversion webhook for example.com/v1, Kind=Widget returned invalid object at index 0: invalid groupVersion (expected example.com/v1beta1, received example.com/v3)",
        ),
        (
            |review| review["response"]["convertedObjects"][0]["kind"] = "Gadget".into(),
            "returned invalid object at index 0: invalid kind (expected Widget, received Gadget)",
        ),
        (
            |review| review["response"]["convertedObjects"][0]["metadata"]["name"] = "other".into(),
            "returned invalid object: must have the same name: w != other",
        ),
        (
            |review| review["response"]["convertedObjects"][0]["metadata"]["labels"] = json!({"-": "a"}),
            "returned invalid metadata: metadata.labels: Invalid value: \"-\": name part must consist of",
        ),
    ];
    house.widgets("v1").create(&PostParams::default(), &widget("w", 1)).await.unwrap();
    for (mischief, expected) in rows {
        house.mischief(Some(mischief));
        let (code, reason, message) = refusal(house.widgets("v1beta1").get("w").await);
        assert_eq!((code, &*reason), (500, ""), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(refusal(house.widgets("v1beta1").list(&ListParams::default()).await).0, 500);
    assert_eq!(refusal(house.widgets("v1beta1").create(&PostParams::default(), &wide("x", 1)).await).0, 500);
    house.mischief(None);
    let listed = house.widgets("v1beta1").list(&ListParams::default()).await.unwrap();
    assert_eq!(listed.items.len(), 1, "nothing else was stored");

    house.widgets("v1").create(&PostParams::default(), &widget("y", 1)).await.unwrap();
    house.mischief(Some(|review| review["response"]["convertedObjects"][1]["metadata"]["uid"] = "1".into()));
    let (_, _, message) = refusal(house.widgets("v1beta1").list(&ListParams::default()).await);
    assert!(
        message.contains("returned invalid converted object at index 1: must have the same UID: "),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_is_not_there_or_does_not_answer_is_named() {
    let house = House::new(&["v1"]).await;
    house.widgets("v1").create(&PostParams::default(), &widget("w", 1)).await.unwrap();
    let url = "https://converter.default.svc:443/convert?timeout=30s";
    let silent = |_: Request<Bytes>| std::future::pending::<Response<Bytes>>();
    house.server.route_service("default", "converter", ServiceRoute::in_process(silent));
    let begin = tokio::time::Instant::now();
    let (code, _, message) = refusal(house.widgets("v1beta1").get("w").await);
    let expected = format!(
        "conversion webhook for example.com/v1, Kind=Widget failed: Post {url:?}: context deadline exceeded"
    );
    assert_eq!((code, message), (500, expected));
    assert_eq!(begin.elapsed(), Duration::from_secs(30));
}
