//! Answers, as kube-apiserver gives them where the plan does not say otherwise.

use std::{sync::Arc, time::Duration};

use futures::channel::mpsc;
use http::Response;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    body::{self, Body},
    history::Key,
    plan::{Plan, Streaming},
    server::{Asked, Server, World},
    watches::{Watch, bookmark, concerns},
};

/// What a path names; empty strings are absent.
pub struct Target {
    pub namespace: String,
    pub plural: String,
    pub name: String,
}

impl Target {
    pub fn of(path: &str) -> Self {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        // `api/v1` or `apis/group/version`
        let skip = if parts.next() == Some("api") { 1 } else { 2 };
        let parts: Vec<_> = parts.skip(skip).collect();
        let (namespace, rest) = match parts.as_slice() {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            rest => ("", rest),
        };
        let part = |index: usize| rest.get(index).copied().unwrap_or_default().to_owned();
        Self { namespace: namespace.into(), plural: part(0), name: part(1) }
    }

    fn key(&self, name: &str) -> Key {
        (self.plural.clone(), self.namespace.clone(), name.into())
    }
}

pub async fn answer(
    server: &Server,
    asked: &Asked,
    target: &Target,
    body: &[u8],
    plan: Plan,
) -> Response<Body> {
    if let Some((code, reason)) = plan.status {
        return status(code, reason, "as planned");
    }
    if asked.method != "GET" || !target.name.is_empty() {
        return single(server, asked, target, body, &plan);
    }
    let wanted: u64 = asked.get("resourceVersion").map_or(0, |version| version.parse().unwrap());
    let resumes = asked.resumes_after();
    if resumes.is_none() && wanted > replica_for(server, asked, &plan) {
        // The replica waits whether it gets there.
        sleep(Duration::from_secs(3)).await;
        let current = replica_for(server, asked, &plan);
        if wanted > current {
            let message = format!("Timeout: Too large resource version: {wanted}, current: {current}");
            return status(504, "Timeout", &message);
        }
    }
    if asked.is_watch() {
        watch(server, asked, target, plan, resumes)
    } else {
        list(server, asked, target, &plan)
    }
}

/// Where the replica is that answers. One that has to answer with the latest state catches up, unless it is planned not to.
fn replica_for(server: &Server, asked: &Asked, plan: &Plan) -> u64 {
    let mut world = server.world.lock();
    let latest = asked.get("resourceVersion").is_none() && asked.get("continue").is_none();
    if latest && !plan.stale_latest {
        world.replicas.remove(&plan.replica);
    }
    world.replica(plan.replica)
}

fn list(server: &Server, asked: &Asked, target: &Target, plan: &Plan) -> Response<Body> {
    let mut version = replica_for(server, asked, plan);
    let world = server.world.lock();
    let mut start = 0_usize;
    if let Some(token) = asked.get("continue") {
        let parts: Vec<u64> = token.split(':').map(|part| part.parse().unwrap()).collect();
        (version, start) = (parts[1], usize::try_from(parts[2]).unwrap());
        // A token of a history that was overwritten may be served all the same; nobody could tell.
        if parts[0] != world.history.restores || version < world.history.compacted {
            return status(410, "Expired", "The provided continue parameter is too old");
        }
    }
    let limit = asked.get("limit").map_or(usize::MAX, |limit| limit.parse::<usize>().unwrap().min(plan.page));
    let items = items(&world, target, version);
    let end = start.saturating_add(limit).min(items.len());
    let next =
        if end < items.len() { format!("{}:{version}:{end}", world.history.restores) } else { String::new() };
    let list = json!({
        "kind": "List",
        "apiVersion": "v1",
        "metadata": { "resourceVersion": version.to_string(), "continue": next },
        "items": items[start.min(end)..end].iter().map(|item| Value::clone(item)).collect::<Vec<_>>(),
    });
    Response::new(body::list(
        list.to_string().as_bytes(),
        plan,
        Arc::downgrade(&server.world),
        world.history.restores,
    ))
}

fn watch(
    server: &Server,
    asked: &Asked,
    target: &Target,
    plan: Plan,
    resumes: Option<u64>,
) -> Response<Body> {
    let streams = asked.get("sendInitialEvents") == Some("true");
    if streams && plan.streaming == Streaming::Refused {
        return status(422, "Invalid", "sendInitialEvents is forbidden for watch");
    }
    let replica = replica_for(server, asked, &plan);
    let mut world = server.world.lock();
    if resumes.is_some_and(|after| after < world.history.compacted) {
        let gone = json!({ "kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version" });
        return Response::new(body::whole(format!("{}\n", json!({ "type": "ERROR", "object": gone }))));
    }
    let (pieces, receiver) = mpsc::unbounded();
    let timeout = asked.get("timeoutSeconds").map_or(3600, |seconds| seconds.parse().unwrap());
    world.opened += 1;
    let id = world.opened;
    let body = body::watch(receiver, Arc::downgrade(&server.world), id, &plan, Duration::from_secs(timeout));
    let watch = Watch {
        pieces,
        plural: target.plural.clone(),
        namespace: target.namespace.clone(),
        at: resumes.unwrap_or(replica),
        plan,
    };
    if resumes.is_none() {
        for item in items(&world, target, replica) {
            watch.send(&json!({ "type": "ADDED", "object": &*item }));
        }
        if watch.plan.streaming == Streaming::Works {
            watch.send(&bookmark(replica, true));
        }
    }
    world.watches.insert(id, watch);
    world.send();
    Response::new(body)
}

fn items(world: &World, target: &Target, version: u64) -> Vec<Arc<Value>> {
    let state = world.history.at(version).into_iter();
    state
        .filter(|(key, _)| concerns(key, &target.plural, &target.namespace))
        .map(|(_, object)| object)
        .collect()
}

/// Reads and writes of one object.
fn single(server: &Server, asked: &Asked, target: &Target, body: &[u8], plan: &Plan) -> Response<Body> {
    let mut world = server.world.lock();
    let sent: Value = serde_json::from_slice(body).unwrap_or_default();
    let name = if target.name.is_empty() {
        sent["metadata"]["name"].as_str().unwrap_or_default()
    } else {
        &target.name
    };
    let key = target.key(name);
    let current = world.history.at(world.history.head).remove(&key);
    let answer = match (asked.method.as_str(), current) {
        ("POST", Some(_)) => return status(409, "AlreadyExists", "it exists"),
        ("POST", None) => world.history.put(&key, sent),
        (_, None) => return status(404, "NotFound", "it does not exist"),
        ("GET", Some(current)) => current,
        ("DELETE", Some(current)) => {
            world.history.delete(&key);
            Arc::new(
                json!({ "kind": "Status", "apiVersion": "v1", "status": "Success", "details": { "uid": current["metadata"]["uid"] } }),
            )
        }
        ("PUT", Some(current)) => {
            let version = &sent["metadata"]["resourceVersion"];
            if !version.is_null() && *version != current["metadata"]["resourceVersion"] {
                return status(409, "Conflict", "the object has been modified");
            }
            world.history.put(&key, sent)
        }
        (_, Some(current)) => {
            let mut merged = Value::clone(&current);
            merge(&mut merged, &sent);
            if merged == *current { current } else { world.history.put(&key, merged) }
        }
    };
    world.send();
    if plan.lost {
        return Response::new(body::lost());
    }
    Response::new(body::whole(answer.to_string()))
}

/// JSON merge patch.
fn merge(into: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    for (name, value) in patch {
        if value.is_null() {
            into.as_object_mut().unwrap().remove(name);
        } else {
            merge(&mut into[name], value);
        }
    }
}

fn status(code: u16, reason: &str, message: &str) -> Response<Body> {
    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message });
    let mut response = Response::new(body::whole(status.to_string()));
    *response.status_mut() = code.try_into().unwrap();
    response
}
