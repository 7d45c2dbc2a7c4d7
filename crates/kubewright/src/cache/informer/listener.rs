//! An informer of a scripted API server, and a subscriber who knows what it must hear.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::FutureExt;
use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{Delta, Informer, Subscription};
use crate::{
    cache::{
        reflector::Target,
        store::{Entry, Store},
    },
    metrics::Registry,
    object::Kind,
    scripted::{Asked, History, Server},
};

/// Name → (uid, version, what it says). After a restore, one version may say two things.
type Objects = BTreeMap<String, (String, u64, String)>;

/// Follows a scripted server, and complains of whatever a subscriber must not hear.
pub(super) struct Listener {
    pub(super) server: Server,
    pub(super) informer: Arc<Informer>,
    subscription: Subscription,
    heard: Objects,
    /// The last version heard of each name, deletions too, and how often the server had been restored by then.
    last: BTreeMap<String, (u64, u64)>,
    complaints: Arc<Mutex<Vec<String>>>,
    tasks: JoinSet<()>,
}

impl Listener {
    pub(super) fn start(server: &Server) -> Self {
        let target = Target {
            kind: Kind::of::<ConfigMap>(),
            namespace: None,
            label_selector: None,
            field_selector: None,
        };
        let informer = Arc::new(Informer::new(target, Store::new(0, false), &Registry::new()));
        let complaints = Arc::default();
        check_every_resumption(server, &informer, &complaints);
        let (mut tasks, running) = (JoinSet::new(), Arc::clone(&informer));
        let client = server.client();
        tasks.spawn(async move { running.run(client, CancellationToken::new()).await });
        Self {
            server: server.clone(),
            subscription: informer.subscribe(),
            informer,
            heard: Objects::new(),
            last: BTreeMap::new(),
            complaints,
            tasks,
        }
    }

    /// Lets time pass, and listens.
    pub(super) async fn wait(&mut self, time: Duration) {
        tokio::time::sleep(time).await;
        while let Some(Some(delta)) = self.subscription.next().now_or_never() {
            self.hear(&delta);
        }
        if self.heard != state_of(&self.informer) {
            self.complain("what was heard is not what the store has".to_owned());
        }
    }

    /// Waits until the informer has what the server has, and gives how long that took.
    pub(super) async fn catch_up(&mut self, limit: Duration) -> Result<Duration, String> {
        let start = Instant::now();
        while !self.is_up_to_date() {
            if start.elapsed() > limit {
                let asked: Vec<_> = self.server.asked();
                return Err(format!(
                    "not caught up in {limit:?}: {:?}, not {:?}, after asking {asked:?}",
                    self.heard,
                    self.server.state()
                ));
            }
            self.wait(Duration::from_millis(500)).await;
        }
        Ok(start.elapsed())
    }

    pub(super) fn is_up_to_date(&self) -> bool {
        let progress = self.informer.progress();
        progress.synced && self.heard == state_at(&self.server, None)
    }

    /// The informer is ahead of the server, which has been restored and not been asked since.
    pub(super) fn is_ahead(&self) -> bool {
        self.informer.progress().version > self.server.head()
    }

    /// What was wrong with what was heard.
    pub(super) fn verdict(&mut self) -> Result<(), String> {
        if self.tasks.try_join_next().is_some() {
            self.complain("the informer has ended".to_owned());
        }
        match self.complaints.lock().first() {
            Some(complaint) => Err(complaint.clone()),
            None => Ok(()),
        }
    }

    fn hear(&mut self, delta: &Delta) {
        match delta {
            Delta::Added { new, .. } => {
                let (name, state) = said(new);
                self.moves_to(&name, state.1);
                if self.heard.insert(name.clone(), state).is_some() {
                    self.complain(format!("{name} was added twice"));
                }
            }
            Delta::Updated { old, new } => {
                let ((name, old), (_, new)) = (said(old), said(new));
                self.moves_to(&name, new.1);
                let before = self.heard.insert(name.clone(), new.clone());
                if before.as_ref() != Some(&old) || old == new {
                    self.complain(format!(
                        "{name} went from {old:?} to {new:?}, and was heard of as {before:?}"
                    ));
                }
            }
            Delta::Deleted { last, final_state_unknown } => {
                let (name, state) = said(last);
                let before = self.heard.remove(&name);
                if *final_state_unknown {
                    // Nobody saw it go: the version is that of the state.
                    if before.as_ref() != Some(&state) {
                        self.complain(format!(
                            "{name} is gone, last seen as {state:?}, and was heard of as {before:?}"
                        ));
                    }
                    return;
                }
                let known = self.last.get(&name).copied();
                self.moves_to(&name, state.1);
                if before.is_none() && known == self.last.get(&name).copied() {
                    self.complain(format!("{name} was deleted twice"));
                }
            }
            Delta::Synced => {}
        }
    }

    /// Versions of one name only rise, unless the server itself has gone back.
    fn moves_to(&mut self, name: &str, version: u64) {
        let restores = self.server.restores();
        let before = self.last.insert(name.to_owned(), (version, restores));
        if let Some((before, at)) = before
            && version < before
            && restores == at
        {
            self.complain(format!("{name} went back from version {before} to {version}"));
        }
    }

    fn complain(&self, complaint: String) {
        self.complaints.lock().push(complaint);
    }
}

/// Whoever watches on from a version has to have everything up to there: what it misses it will never hear.
fn check_every_resumption(server: &Server, informer: &Arc<Informer>, complaints: &Arc<Mutex<Vec<String>>>) {
    let (informer, complaints) = (Arc::downgrade(informer), Arc::clone(complaints));
    server.on_request(move |asked: &Asked, history: &History| {
        let (Some(informer), Some(after)) = (informer.upgrade(), asked.resumes_after()) else { return };
        let has = state_of(&informer);
        let ought = state(history, after);
        // Others are refused, or hear nothing.
        if (history.compacted..=history.head).contains(&after) && has != ought {
            complaints.lock().push(format!("watches on from {after} with {has:?}, not {ought:?}"));
        }
    });
}

fn state_of(informer: &Informer) -> Objects {
    informer.list(None, |_| true).iter().map(said).collect()
}

fn state_at(server: &Server, version: Option<u64>) -> Objects {
    let history = server.history();
    state(&history, version.unwrap_or(history.head))
}

fn state(history: &History, version: u64) -> Objects {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let states = history.at(version).into_iter().map(|((_, _, name), object)| {
        let metadata = &object["metadata"];
        let version = text(&metadata["resourceVersion"]).parse().unwrap();
        (name, (text(&metadata["uid"]), version, text(&object["data"]["value"])))
    });
    states.collect()
}

fn said(entry: &Arc<Entry>) -> (String, (String, u64, String)) {
    let object = entry.decode::<ConfigMap>().unwrap();
    let value = object.data.as_ref().and_then(|data| data.get("value")).cloned().unwrap_or_default();
    (entry.key().name().to_owned(), (entry.uid().to_string(), entry.resource_version(), value))
}
