//! Lists and watches, through a client at the first door.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod common;

use std::{num::NonZeroUsize, time::Duration};

use common::{config_map, config_maps, next, refusal, start};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, VersionMatch, WatchEvent, WatchParams},
};
use kubewright_apiserver::{ApiServer, Fault, Status, Verb, VirtualClock};
use serde_json::{Value, json};
use tokio::time::Instant;

async fn put(client: &Client, name: &str, value: &str) -> String {
    let config_maps = config_maps(client);
    let patch = Patch::Merge(json!({"data": {"key": value}}));
    let result = match config_maps.patch(name, &PatchParams::default(), &patch).await {
        Err(_) => config_maps.create(&PostParams::default(), &config_map(name, value)).await,
        found => found,
    };
    result.unwrap().resource_version().unwrap()
}

async fn label(client: &Client, name: &str, value: Value) {
    let patch = Patch::Merge(json!({"metadata": {"labels": {"l": value}}}));
    config_maps(client).patch(name, &PatchParams::default(), &patch).await.unwrap();
}

async fn delete(client: &Client, name: &str) {
    config_maps(client).delete(name, &DeleteParams::default()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_where_a_list_ends() {
    let (_server, client) = start();
    put(&client, "a", "1").await;
    let list = config_maps(&client).list(&ListParams::default()).await.unwrap();
    put(&client, "b", "1").await;
    put(&client, "a", "2").await;
    delete(&client, "b").await;
    let version = list.metadata.resource_version.unwrap();
    let mut events = config_maps(&client).watch(&WatchParams::default(), &version).await.unwrap().boxed();
    for expected in ["ADDED b", "MODIFIED a", "DELETED b"] {
        assert_eq!(next(&mut events).await, expected);
    }
    put(&client, "c", "1").await;
    assert_eq!(next(&mut events).await, "ADDED c");
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_nowhere_begins_with_what_is_there() {
    let (_server, client) = start();
    put(&client, "b", "1").await;
    put(&client, "a", "1").await;
    let mut events = config_maps(&client).watch(&WatchParams::default(), "0").await.unwrap().boxed();
    delete(&client, "a").await;
    for expected in ["ADDED a", "ADDED b", "DELETED a"] {
        assert_eq!(next(&mut events).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn deleted_objects_carry_the_version_of_the_deletion() {
    let (server, client) = start();
    put(&client, "a", "1").await;
    let mut events = config_maps(&client).watch(&WatchParams::default(), "0").await.unwrap().boxed();
    next(&mut events).await;
    delete(&client, "a").await;
    let Some(WatchEvent::Deleted(gone)) = events.try_next().await.unwrap() else { panic!("a deletion") };
    assert_eq!(gone.resource_version().unwrap(), server.resource_version().to_string());
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_ends_with_an_annotated_bookmark() {
    let (server, client) = start();
    put(&client, "a", "1").await;
    let params = WatchParams::default().initial_events();
    let mut events = config_maps(&client).watch(&params, "0").await.unwrap().boxed();
    assert_eq!(next(&mut events).await, "ADDED a");
    let Some(WatchEvent::Bookmark(bookmark)) = events.try_next().await.unwrap() else { panic!("a bookmark") };
    assert_eq!(bookmark.metadata.annotations["k8s.io/initial-events-end"], "true");
    assert_eq!(bookmark.metadata.resource_version, server.resource_version().to_string());
    put(&client, "b", "1").await;
    assert_eq!(next(&mut events).await, "ADDED b");
}

#[tokio::test(start_paused = true)]
async fn objects_enter_and_leave_a_selector() {
    let (server, client) = start();
    put(&client, "a", "1").await;
    let params = WatchParams { bookmarks: false, ..WatchParams::default().labels("l=1") };
    let mut events = config_maps(&client).watch(&params, "0").await.unwrap().boxed();
    label(&client, "a", json!("1")).await;
    assert_eq!(next(&mut events).await, "ADDED a");
    put(&client, "a", "2").await;
    assert_eq!(next(&mut events).await, "MODIFIED a");
    label(&client, "a", json!("2")).await;
    let Some(WatchEvent::Deleted(left)) = events.try_next().await.unwrap() else { panic!("it has left") };
    assert_eq!(left.labels()["l"], "1", "the object as it was last selected");
    assert_eq!(left.resource_version().unwrap(), server.resource_version().to_string());
    delete(&client, "a").await;
    assert!(events.next().await.is_none(), "nothing comes but the end of the watch");
}

#[tokio::test(start_paused = true)]
async fn a_field_selector_watches_one_object() {
    let (_server, client) = start();
    let params = WatchParams::default().fields("metadata.name=b");
    let mut events = config_maps(&client).watch(&params, "0").await.unwrap().boxed();
    put(&client, "a", "1").await;
    put(&client, "b", "1").await;
    assert_eq!(next(&mut events).await, "ADDED b");
}

#[tokio::test(start_paused = true)]
async fn namespaces_are_watched_apart() {
    let (_server, client) = start();
    let system: Api<ConfigMap> = Api::namespaced(client.clone(), "kube-system");
    let mut events = system.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    put(&client, "a", "1").await;
    let made = ConfigMap {
        metadata: kube::api::ObjectMeta { name: Some("b".into()), ..Default::default() },
        ..Default::default()
    };
    system.create(&PostParams::default(), &made).await.unwrap();
    assert_eq!(next(&mut events).await, "ADDED b");
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_each_interval_and_before_the_end() {
    let (server, client) = start();
    let params = WatchParams::default().timeout(90);
    let started = Instant::now();
    let mut events = config_maps(&client).watch(&params, "0").await.unwrap().boxed();
    let expected = format!("BOOKMARK {}", server.resource_version());
    assert_eq!(next(&mut events).await, expected);
    assert_eq!(started.elapsed().as_secs(), 60);
    assert_eq!(next(&mut events).await, expected);
    assert_eq!(started.elapsed().as_secs(), 88);
    assert!(events.next().await.is_none(), "a clean end");
    assert_eq!(started.elapsed().as_secs(), 90);
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_before_the_log_has_expired() {
    let (server, client) = start();
    let old = put(&client, "a", "1").await;
    put(&client, "a", "2").await;
    server.compact();
    let mut events = config_maps(&client).watch(&WatchParams::default(), &old).await.unwrap().boxed();
    assert_eq!(next(&mut events).await, "ERROR 410 Expired");
    assert!(events.next().await.is_none());
    let newest = server.resource_version().to_string();
    let mut events = config_maps(&client).watch(&WatchParams::default(), &newest).await.unwrap().boxed();
    put(&client, "b", "1").await;
    assert_eq!(next(&mut events).await, "ADDED b");
}

#[tokio::test(start_paused = true)]
async fn a_version_of_an_earlier_server_has_expired() {
    let (_server, client) = start();
    let old = put(&client, "a", "1").await;
    tokio::time::advance(Duration::from_millis(1)).await;
    let (_next, client) = start_at(&old);
    let mut events = config_maps(&client).watch(&WatchParams::default(), &old).await.unwrap().boxed();
    assert_eq!(next(&mut events).await, "ERROR 410 Expired");
}

/// A server whose clock says a microsecond more than `version`.
fn start_at(version: &str) -> (ApiServer, Client) {
    let microseconds = version.parse::<i64>().unwrap() + 1;
    let now = jiff::Timestamp::from_microsecond(microseconds).unwrap();
    let server = ApiServer::builder().clock(VirtualClock::starting_at(now)).build();
    let client = Client::new(server.service(), "default");
    (server, client)
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_the_future_is_silent_until_it_has_come() {
    let (server, client) = start();
    let future = (server.resource_version() + 2).to_string();
    let params = WatchParams::default().timeout(290);
    let mut events = config_maps(&client).watch(&params, &future).await.unwrap().boxed();
    put(&client, "a", "1").await;
    assert!(
        tokio::time::timeout(Duration::from_secs(200), events.next()).await.is_err(),
        "no bookmark either"
    );
    put(&client, "b", "1").await;
    put(&client, "c", "1").await;
    assert_eq!(next(&mut events).await, "ADDED c");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_behind_its_log_expires() {
    let server = ApiServer::builder().events_per_resource(NonZeroUsize::new(2).unwrap()).build();
    let client = Client::new(server.service(), "default");
    put(&client, "a", "0").await;
    let mut events = config_maps(&client).watch(&WatchParams::default(), "0").await.unwrap().boxed();
    assert_eq!(next(&mut events).await, "ADDED a");
    for value in 1..10 {
        put(&client, "a", &value.to_string()).await;
    }
    assert_eq!(next(&mut events).await, "ERROR 410 Expired");
}

#[tokio::test(start_paused = true)]
async fn pages_are_of_one_version() {
    let (server, client) = start();
    for name in ["a", "b", "c", "d", "e"] {
        put(&client, name, "1").await;
    }
    let config_maps = config_maps(&client);
    let first = config_maps.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(first.metadata.remaining_item_count, Some(3));
    delete(&client, "c").await;
    put(&client, "bb", "1").await;
    let token = first.metadata.continue_.unwrap();
    let second = config_maps.list(&ListParams::default().limit(2).continue_token(&token)).await.unwrap();
    let names: Vec<_> = second.items.iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, ["c", "d"]);
    assert_eq!(second.metadata.resource_version, first.metadata.resource_version);
    let last = second.metadata.continue_.unwrap();
    server.compact();
    let (code, reason, message) =
        refusal(config_maps.list(&ListParams::default().continue_token(&last)).await);
    assert_eq!((code, reason.as_str()), (410, "Expired"));
    assert!(
        message
            .starts_with("The provided continue parameter is too old to display a consistent list result.")
    );
}

#[tokio::test(start_paused = true)]
async fn lists_can_be_read_at_a_version() {
    let (server, client) = start();
    let old = put(&client, "a", "1").await;
    put(&client, "b", "1").await;
    let config_maps = config_maps(&client);
    let exact = |version: &str| ListParams::default().at(version).matching(VersionMatch::Exact);
    assert_eq!(config_maps.list(&exact(&old)).await.unwrap().items.len(), 1);
    let newer = ListParams::default().at(&old).matching(VersionMatch::NotOlderThan);
    assert_eq!(config_maps.list(&newer).await.unwrap().items.len(), 2);
    server.compact();
    assert_eq!(refusal(config_maps.list(&exact(&old)).await).0, 410);

    let started = Instant::now();
    let future = server.resource_version() + 100;
    let (code, reason, message) = refusal(config_maps.list(&exact(&future.to_string())).await);
    assert_eq!((code, reason.as_str(), started.elapsed().as_secs()), (504, "Timeout", 3));
    assert_eq!(
        message,
        format!("Timeout: Too large resource version: {future}, current: {}", server.resource_version())
    );
}

#[tokio::test(start_paused = true)]
async fn metadata_is_listed_and_watched_alone() {
    let (_server, client) = start();
    put(&client, "a", "1").await;
    let config_maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let list = config_maps.list_metadata(&ListParams::default()).await.unwrap();
    assert_eq!(list.items[0].name_any(), "a");
    let mut events = config_maps.watch_metadata(&WatchParams::default(), "0").await.unwrap().boxed();
    assert_eq!(next(&mut events).await, "ADDED a");
    let patch = Patch::Merge(json!({"metadata": {"labels": {"l": "1"}}}));
    let patched = config_maps.patch_metadata("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(patched.types.as_ref().unwrap().kind, "PartialObjectMetadata");
    assert_eq!(next(&mut events).await, "MODIFIED a");
}

#[tokio::test(start_paused = true)]
async fn watches_can_be_cut_between_any_two_events() {
    let (server, client) = start();
    for name in ["a", "b", "c"] {
        put(&client, name, "1").await;
    }
    for delivered in 0..=3 {
        server
            .faults()
            .add(Fault::cut_watch(delivered).when(|request| request.is(Verb::Watch, "configmaps")));
        let mut events = config_maps(&client).watch(&WatchParams::default(), "0").await.unwrap().boxed();
        for expected in ["ADDED a", "ADDED b", "ADDED c"].iter().take(delivered) {
            assert_eq!(next(&mut events).await, *expected);
        }
        assert!(events.next().await.expect("an error, not an end").is_err(), "{delivered}");
    }
    assert_eq!(server.faults().pending(), 0);
}

#[tokio::test(start_paused = true)]
async fn faults_answer_delay_and_lose() {
    let (server, client) = start();
    let config_maps = config_maps(&client);
    let gone = Fault::respond(Status::expired("too old")).when(|request| request.verb == Verb::Watch);
    let handle = server.faults().add(gone);
    let result = config_maps.watch(&WatchParams::default(), "5").await.map(|_| ());
    assert_eq!(refusal(result), (410, "Expired".into(), "too old".into()));
    assert_eq!(handle.fired(), 1);

    server.faults().add(Fault::delay(Duration::from_secs(7)));
    let started = Instant::now();
    config_maps.list(&ListParams::default()).await.unwrap();
    assert_eq!(started.elapsed().as_secs(), 7);

    server.faults().add(Fault::lose_answer().when(|request| request.verb == Verb::Create));
    let lost = config_maps.create(&PostParams::default(), &config_map("a", "1")).await;
    assert!(matches!(lost, Err(kube::Error::Service(_))), "{lost:?}");
    assert!(config_maps.get("a").await.is_ok(), "it was committed");
}

#[tokio::test(start_paused = true)]
async fn concurrent_watches_see_one_order() {
    let (_server, client) = start();
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let mut first = pods.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    let mut second = pods.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    let pod = |name: String| -> Pod {
        serde_json::from_value(
            json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
        )
        .unwrap()
    };
    let create = |name: String| {
        let pods = pods.clone();
        async move { pods.create(&PostParams::default(), &pod(name)).await.unwrap() }
    };
    futures::future::join_all((0..20).map(|n| create(format!("p{n}")))).await;
    for _ in 0..20 {
        assert_eq!(next(&mut first).await, next(&mut second).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_load_every_watch_sees_every_write_once_and_in_order() {
    const WRITERS: usize = 4;
    const WRITES: usize = 100;
    let (_server, client) = start();
    let params = WatchParams { bookmarks: false, ..WatchParams::default() };
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let mut events = config_maps(&client).watch(&params, "0").await.unwrap().boxed();
        tasks.spawn(async move {
            let mut seen = Vec::new();
            // Each writer creates one object and then changes it.
            while seen.len() < WRITERS * WRITES {
                let (WatchEvent::Added(object) | WatchEvent::Modified(object)) =
                    events.try_next().await.unwrap().expect("the watch goes on")
                else {
                    panic!("nothing is deleted")
                };
                seen.push(object.resource_version().unwrap().parse::<u64>().unwrap());
            }
            seen
        });
    }
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let client = client.clone();
        writers.spawn(async move {
            for value in 0..WRITES {
                put(&client, &format!("w{writer}"), &value.to_string()).await;
            }
        });
    }
    while let Some(result) = writers.join_next().await {
        result.unwrap();
    }
    let seen = tasks.join_all().await;
    assert!(seen[0].windows(2).all(|pair| pair[0] < pair[1]), "in order, and nothing twice");
    assert!(seen.iter().all(|other| *other == seen[0]), "the same for everybody");
}

#[tokio::test(start_paused = true)]
async fn an_outage_cuts_watches_and_answers_nobody_until_it_is_over() {
    let (server, client) = start();
    let config_maps = config_maps(&client);
    let mut events = config_maps.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    put(&client, "a", "1").await;
    assert_eq!(next(&mut events).await, "ADDED a");
    let outage = server.faults().outage();
    assert!(events.next().await.expect("it does not end cleanly").is_err());
    assert!(config_maps.get("a").await.is_err());
    assert_eq!(outage.fired(), 1);
    outage.remove();
    assert_eq!(config_maps.get("a").await.unwrap().name_any(), "a");
}

#[tokio::test(start_paused = true)]
async fn faults_tell_callers_apart() {
    let (server, client) = start();
    server.faults().add(Fault::lose_answer().when(|request| request.field_manager == "other").always());
    put(&client, "a", "1").await;
    let params = PostParams { field_manager: Some("other".into()), ..PostParams::default() };
    assert!(config_maps(&client).create(&params, &config_map("b", "1")).await.is_err());
    server.faults().clear();
    server.faults().add(Fault::outage().when(|request| request.user_agent == "kubectl/v1"));
    let get = |agent: &str| {
        let request = http::Request::get("/version").header("user-agent", agent).body(Vec::new()).unwrap();
        client.request_text(request)
    };
    assert!(get("kubectl/v1").await.is_err());
    assert!(get("kubectl/v2").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn events_expire_an_hour_after_they_were_last_written() {
    let (_server, client) = start();
    let events = common::dynamic(&client, "", "v1", "Event", "events");
    let event = |name: &str| {
        common::object(json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}))
    };
    for name in ["a", "b"] {
        events.create(&PostParams::default(), &event(name)).await.unwrap();
    }
    tokio::time::advance(Duration::from_secs(1800)).await;
    let again = Patch::Merge(json!({"count": 2}));
    let written = events.patch("b", &PatchParams::default(), &again).await.unwrap();
    tokio::time::advance(Duration::from_secs(1801)).await;
    let version = written.resource_version().unwrap();
    let mut watch = events.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    let newer = common::dynamic(&client, "events.k8s.io", "v1", "Event", "events");
    let left = newer.list(&ListParams::default()).await.unwrap().items;
    assert_eq!(left.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["b"]);
    assert_eq!(next(&mut watch).await, "DELETED a");
}

#[tokio::test(start_paused = true)]
async fn one_name_is_listed_and_watched_alone() {
    let (_server, client) = start();
    for name in ["a", "b"] {
        put(&client, name, "1").await;
    }
    let by_name = ListParams::default().fields("metadata.name=b");
    let everywhere: Api<ConfigMap> = Api::all(client.clone());
    assert_eq!(everywhere.list(&by_name).await.unwrap().items.len(), 1);
    let list = config_maps(&client).list(&by_name).await.unwrap();
    assert_eq!(list.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["b"]);
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client.clone());
    assert_eq!(
        namespaces.list(&ListParams::default().fields("metadata.name=default")).await.unwrap().items.len(),
        1
    );
    // The deprecated path, which names the object.
    let path = "/api/v1/watch/namespaces/default/configmaps/b?timeoutSeconds=1";
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    let text = client.request_text(request).await.unwrap();
    assert_eq!((text.lines().count(), text.contains("\"name\":\"b\"")), (1, true), "{text}");
}

#[tokio::test(start_paused = true)]
async fn pages_with_a_selector_show_every_object_once() {
    let (_server, client) = start();
    for index in 0..20 {
        let name = format!("c-{index:02}");
        put(&client, &name, "1").await;
        label(&client, &name, (if index % 3 == 0 { "yes" } else { "no" }).into()).await;
    }
    let config_maps = config_maps(&client);
    let mut params = ListParams::default().labels("l=yes").limit(2);
    let (mut seen, mut pages) = (Vec::new(), 0);
    loop {
        let page = config_maps.list(&params).await.unwrap();
        pages += 1;
        assert_eq!(page.metadata.remaining_item_count, None);
        seen.extend(page.items.iter().map(ResourceExt::name_any));
        let Some(token) = page.metadata.continue_.filter(|token| !token.is_empty()) else { break };
        params = params.continue_token(&token);
    }
    assert_eq!((seen.len(), pages), (7, 4), "no empty page at the end");
    assert!(seen.is_sorted());
}

#[tokio::test(start_paused = true)]
async fn a_long_list_is_the_same_in_every_form() {
    let (_server, client) = start();
    for index in 0..100 {
        put(&client, &format!("c-{index:03}"), &"x".repeat(3000)).await;
    }
    let get = async |accept: &str| {
        let path = "/api/v1/namespaces/default/configmaps";
        let request = http::Request::get(path).header("accept", accept).body(Vec::new()).unwrap();
        client.request_text(request).await.unwrap()
    };
    let json: Value = serde_json::from_str(&get("application/json").await).unwrap();
    assert_eq!(json["items"].as_array().unwrap().len(), 100);
    let yaml = get("application/yaml").await;
    assert_eq!(yaml.matches("name: c-").count(), 100);
    let table: Value =
        serde_json::from_str(&get("application/json;as=Table;v=v1;g=meta.k8s.io").await).unwrap();
    assert_eq!(table["rows"].as_array().unwrap().len(), 100);
    assert_eq!(table["rows"][99]["cells"][0], "c-099");
    assert_eq!(table["rows"][99]["object"]["metadata"], json["items"][99]["metadata"]);
}
