//! A controller with a finalizer and three children, over many deletions: each clean-up runs once, and nothing is logged as an error.
//!
//! The children are of kinds that the API server answers differently when they are deleted: with a `Status`, or with the object itself.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeMap;

use common::{Counter, config_map, key, logs::Lines};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount, ServiceSpec};
use kubewright::{
    cache::ListOptions,
    client::{Client, ClientError},
    controller::WatchOptions,
    controllerutil::{
        OperationResult, contains_finalizer, create_or_update, ensure_finalizer, release_finalizer,
        set_controller_reference,
    },
    kube::{
        ResourceExt as _,
        api::DeleteParams,
        core::{Expression, ObjectMeta},
    },
    manager::ManagerBuilder,
    object::Object,
    predicate,
    prelude::*,
};
use kubewright_testing::TestEnv;
use serde::Serialize;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

#[tokio::test(start_paused = true)]
async fn each_clean_up_of_fifty_runs_once() {
    let env = TestEnv::start().await;
    check(env.manager(), 50).await;
}

/// By hand, against the original: `KUBECONFIG=… cargo test -p kubewright --test deletions -- --ignored`.
#[tokio::test]
#[ignore = "needs a cluster whose namespace `default` may be written to"]
async fn each_clean_up_of_a_thousand_runs_once_in_a_real_cluster() {
    check(Manager::builder(), 1000).await;
}

async fn check(manager: ManagerBuilder, owners: usize) {
    let logged = Lines::capture();
    let manager = manager.build().await.unwrap();
    let family = Family::new(manager.client());
    Controller::builder(&manager)
        .for_with::<ConfigMap>(WatchOptions::new().with_predicate(predicate::has_label(LABEL)))
        .owns::<Secret>()
        .owns::<Service>()
        .owns::<ServiceAccount>()
        .max_concurrent_reconciles(8)
        .complete(family.clone())
        .unwrap();
    let (stop, mut running) = (CancellationToken::new(), JoinSet::new());
    running.spawn(manager.start(stop.clone().cancelled_owned()));

    let names: Vec<Request> = (0..owners).map(|number| key(&format!("owner-{number:04}"))).collect();
    let client = &family.client;
    each(&names, async |name| client.create(&owner(name)).await.map(drop)).await;
    for name in &names {
        family.complete.wait_for(name, 1).await;
    }
    each(&names, async |name| client.delete::<ConfigMap>(name, &DeleteParams::default()).await).await;
    for name in &names {
        family.gone.wait_for(name, 1).await;
    }
    stop.cancel();
    running.join_next().await.unwrap().unwrap().unwrap();

    let twice: Vec<_> = names.iter().filter(|name| family.cleaned.of(name) != 1).collect();
    assert!(twice.is_empty(), "cleaned up more than once, or never: {twice:?}");
    assert_eq!(logged.with(&[]), [""; 0]);
    assert_eq!(left::<ConfigMap>(client).await + left::<Secret>(client).await, 0);
    assert_eq!(left::<Service>(client).await + left::<ServiceAccount>(client).await, 0);
}

/// Does `work` for each, eight at a time.
async fn each(names: &[Request], work: impl AsyncFn(&Request) -> Result<(), ClientError>) {
    let work = stream::iter(names).map(|name| work(name)).buffer_unordered(8);
    work.try_collect::<Vec<()>>().await.unwrap();
}

/// How many of the family's objects there are.
async fn left<K: Object>(client: &Client) -> usize {
    let ours = ListOptions::default().matching(Expression::Exists(LABEL.to_owned()));
    client.live().list::<K>(&ours).await.unwrap().len()
}

fn owner(name: &Request) -> ConfigMap {
    let mut owner = config_map(name.name(), &[]);
    owner.metadata.labels = Some(labels());
    owner
}

fn labels() -> BTreeMap<String, String> {
    [(LABEL.to_owned(), "yes".to_owned())].into()
}

/// An owner has three children of its name.
#[derive(Clone)]
struct Family {
    client: Client,
    /// Owners that have all their children.
    complete: Counter,
    cleaned: Counter,
    gone: Counter,
}

impl Family {
    fn new(client: Client) -> Self {
        Self { client, complete: Counter::default(), cleaned: Counter::default(), gone: Counter::default() }
    }

    async fn child<K: Object + Serialize>(
        &self,
        owner: &ConfigMap,
        make: impl Fn(ObjectMeta) -> K,
    ) -> Result<OperationResult, BoxError> {
        let meta = || ObjectMeta { labels: Some(labels()), ..config_map(&owner.name_any(), &[]).metadata };
        let (_, result) = create_or_update(&self.client, make(meta()), |child| {
            child.meta_mut().labels = Some(labels());
            set_controller_reference(owner, child)
        })
        .await?;
        Ok(result)
    }

    async fn clean_up(&self, request: &Request, owner: &ConfigMap) -> Result<(), BoxError> {
        if !contains_finalizer(owner, FINALIZER) {
            return Ok(());
        }
        self.cleaned.count(request);
        self.client.delete::<Secret>(request, &DeleteParams::default()).await?;
        self.client.delete::<Service>(request, &DeleteParams::default()).await?;
        self.client.delete::<ServiceAccount>(request, &DeleteParams::default()).await?;
        release_finalizer(&self.client, owner, FINALIZER).await?;
        Ok(())
    }
}

impl Reconciler for Family {
    type Error = BoxError;

    async fn reconcile(&self, _: Context, request: Request) -> Result<Action, BoxError> {
        let Some(owner) = self.client.get::<ConfigMap>(&request).await.optional()? else {
            self.gone.count(&request);
            return Ok(Action::await_change());
        };
        if owner.metadata.deletion_timestamp.is_some() {
            self.clean_up(&request, &owner).await?;
            return Ok(Action::await_change());
        }
        ensure_finalizer(&self.client, &*owner, FINALIZER).await?;
        self.child(&owner, |metadata| Secret { metadata, ..Secret::default() }).await?;
        self.child(&owner, |metadata| Service { metadata, spec: Some(headless()), ..Service::default() })
            .await?;
        self.child(&owner, |metadata| ServiceAccount { metadata, ..ServiceAccount::default() }).await?;
        self.complete.count(&request);
        Ok(Action::await_change())
    }
}

/// A cluster has fewer addresses than this test has Services.
fn headless() -> ServiceSpec {
    ServiceSpec { cluster_ip: Some("None".to_owned()), ..ServiceSpec::default() }
}

const LABEL: &str = "example.com/deletions";
const FINALIZER: &str = "example.com/clean-up";
