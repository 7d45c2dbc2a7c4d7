//! The server: a history, its replicas, its open watches, and what it was told to do.

use std::{
    collections::{BTreeMap, VecDeque},
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use http_body_util::BodyExt;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    answer,
    body::Body,
    history::{History, Key},
    plan::Plan,
    watches::{Piece, Watch},
};

/// The scripted API server. Clones are the same server.
#[derive(Clone, Default)]
pub struct Server {
    pub(super) world: Arc<Mutex<World>>,
}

/// A request that came in.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub query: BTreeMap<String, String>,
    pub at: Instant,
}

impl Asked {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    pub fn is_watch(&self) -> bool {
        self.get("watch") == Some("true")
    }

    /// The version that a watch goes on from.
    pub fn resumes_after(&self) -> Option<u64> {
        let resumes = self.is_watch() && self.get("sendInitialEvents").is_none();
        self.get("resourceVersion").filter(|_| resumes)?.parse().ok()
    }
}

type Listener = Arc<dyn Fn(&Asked, &History) + Send + Sync>;

/// Everything that changes.
#[derive(Default)]
pub struct World {
    pub history: History,
    /// How far the replicas 1, 2, … have come; those that are not named, and 0, are at the head.
    pub replicas: BTreeMap<usize, u64>,
    pub watches: BTreeMap<u64, Watch>,
    pub opened: u64,
    pub reads: VecDeque<Plan>,
    pub writes: VecDeque<Plan>,
    pub otherwise: Plan,
    pub asked: Vec<Asked>,
    listener: Option<Listener>,
}

impl Server {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    /// The next list or watch is answered so; called twice, the next two.
    pub fn next(&self, plan: Plan) {
        self.world.lock().reads.push_back(plan);
    }

    /// The next write or read of one object is answered so.
    pub fn next_write(&self, plan: Plan) {
        self.world.lock().writes.push_back(plan);
    }

    /// How lists and watches are answered for which there is no plan.
    pub fn otherwise(&self, plan: Plan) {
        self.world.lock().otherwise = plan;
    }

    /// A new state of the ConfigMap `default/name`; gives its version.
    pub fn put(&self, name: &str) -> u64 {
        self.change(|history| {
            let value = history.head + 1;
            history.put(
                &config_map(name),
                json!({ "data": { "value": format!("{}-{value}", history.restores) } }),
            );
        })
    }

    /// Removes the ConfigMap `default/name`, if there is one.
    pub fn delete(&self, name: &str) -> u64 {
        self.change(|history| {
            history.delete(&config_map(name));
        })
    }

    /// Changes the history; the replicas that do not lag send it.
    pub fn change(&self, change: impl FnOnce(&mut History)) -> u64 {
        let mut world = self.world.lock();
        change(&mut world.history);
        world.send();
        world.history.head
    }

    /// A replica stays where it is now, or `behind` versions before that, until it catches up.
    pub fn lag(&self, replica: usize, behind: u64) {
        let mut world = self.world.lock();
        let version = world.replica(replica).saturating_sub(behind);
        world.replicas.insert(replica, version);
    }

    pub fn catch_up(&self) {
        let mut world = self.world.lock();
        world.replicas.clear();
        world.send();
    }

    /// Breaks, or ends, every open watch.
    pub fn cut(&self, clean: bool) {
        self.world.lock().cut(clean);
    }

    /// A backup is put back: the state at `version`, other versions from there on, and all connections lost.
    pub fn restore(&self, version: u64) {
        let mut world = self.world.lock();
        world.history.restore(version);
        world.replicas.clear();
        world.cut(false);
    }

    /// A backup is put back while open watches stay open.
    pub fn restore_unnoticed(&self, version: u64) {
        self.world.lock().history.restore(version);
    }

    /// Nothing up to now can be watched or continued any more.
    pub fn compact(&self) {
        let mut world = self.world.lock();
        world.history.compacted = world.history.head;
    }

    /// From now on everything works.
    pub fn heal(&self) {
        let mut world = self.world.lock();
        world.reads.clear();
        world.otherwise = Plan::default();
        world.replicas.clear();
        world.send();
    }

    pub fn history(&self) -> History {
        self.world.lock().history.clone()
    }

    pub fn restores(&self) -> u64 {
        self.world.lock().history.restores
    }

    pub fn head(&self) -> u64 {
        self.world.lock().history.head
    }

    /// Name → (uid, version) of the ConfigMaps.
    pub fn state(&self) -> BTreeMap<String, (String, u64)> {
        let world = self.world.lock();
        identities(&world.history.at(world.history.head))
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.world.lock().asked.clone()
    }

    pub fn open_watches(&self) -> usize {
        let mut world = self.world.lock();
        world.send();
        world.watches.len()
    }

    /// Calls `listener` with every request, before it is answered.
    pub fn on_request(&self, listener: impl Fn(&Asked, &History) + Send + Sync + 'static) {
        self.world.lock().listener = Some(Arc::new(listener));
    }

    async fn answer(self, request: Request<kube::client::Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let asked = Asked {
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: query.into_owned().collect(),
            at: Instant::now(),
        };
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let target = answer::Target::of(&asked.path);
        let (plan, listener) = {
            let mut world = self.world.lock();
            world.asked.push(asked.clone());
            let is_read = asked.method == "GET" && target.name.is_empty();
            let planned = if is_read { world.reads.pop_front() } else { world.writes.pop_front() };
            let otherwise = if is_read { world.otherwise.clone() } else { Plan::default() };
            (planned.unwrap_or(otherwise), world.listener.clone())
        };
        if let Some(listener) = listener {
            let history = self.world.lock().history.clone();
            listener(&asked, &history);
        }
        sleep(plan.delay).await;
        answer::answer(&self, &asked, &target, &body, plan).await
    }
}

impl World {
    pub fn replica(&self, replica: usize) -> u64 {
        self.replicas.get(&replica).copied().unwrap_or(self.history.head).min(self.history.head)
    }

    pub fn send(&mut self) {
        let Self { history, replicas, watches, .. } = self;
        watches.retain(|_, watch| {
            let version = replicas.get(&watch.plan.replica).copied().unwrap_or(history.head);
            watch.advance(history, version)
        });
    }

    pub fn bookmark(&mut self, watch: u64) {
        self.send();
        if let Some(watch) = self.watches.get(&watch) {
            watch.bookmark(self.replica(watch.plan.replica));
        }
    }

    fn cut(&mut self, clean: bool) {
        for watch in std::mem::take(&mut self.watches).into_values() {
            watch.put(Piece::Cut { clean });
        }
    }
}

/// Name → (uid, version) of the ConfigMaps of a state.
pub fn identities(state: &BTreeMap<Key, Arc<Value>>) -> BTreeMap<String, (String, u64)> {
    let config_maps = state.iter().filter(|(key, _)| key.0 == "configmaps");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    config_maps
        .map(|(key, object)| {
            let metadata = &object["metadata"];
            (key.2.clone(), (text(&metadata["uid"]), text(&metadata["resourceVersion"]).parse().unwrap()))
        })
        .collect()
}

fn config_map(name: &str) -> Key {
    ("configmaps".into(), "default".into(), name.into())
}

impl tower_service::Service<Request<kube::client::Body>> for Server {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move { Ok(server.answer(request).await) })
    }
}
