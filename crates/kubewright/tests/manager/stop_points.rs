//! A manager that is stopped at any moment leaves nothing behind.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use k8s_openapi::api::{coordination::v1::Lease, core::v1::Secret};
use kubewright::{
    kube::{
        Api,
        api::{Patch, PatchParams},
    },
    leader_election::{LeaderElection, LeaseElector},
    metrics::Registry,
    webhook::{WebhookServer, WebhookServerOptions},
};
use tokio::{
    runtime::Handle,
    task::yield_now,
    time::{sleep, timeout},
};

use super::*;
use crate::common::secret;

/// What a manager did that it must not do, and what it did at all.
#[derive(Clone, Default)]
struct Record {
    released: Arc<AtomicBool>,
    lost: Arc<AtomicBool>,
    reconciles: Arc<AtomicUsize>,
    too_late: Arc<AtomicUsize>,
}

impl Record {
    fn runs(&self) {
        self.reconciles.fetch_add(1, Ordering::Relaxed);
        if self.released.load(Ordering::Relaxed) || self.lost.load(Ordering::Relaxed) {
            self.too_late.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A reconcile that has not ended. An aborted one may be dropped after the lease was lost, but not after it was released.
struct AtWork<'a>(&'a Record);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if self.0.released.load(Ordering::Relaxed) {
            self.0.too_late.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Takes its time, and fails or panics now and then.
struct Works {
    record: Record,
    takes: Duration,
    mood: parking_lot::Mutex<fastrand::Rng>,
}

impl Reconciler for Works {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, _request: Request) -> Result<Action, BoxError> {
        let _at_work = AtWork(&self.record);
        self.record.runs();
        let mood = self.mood.lock().u8(..10);
        sleep(self.takes).await;
        self.record.runs();
        match mood {
            0 => panic!("as it was told"),
            1 | 2 => Err("as it was told".into()),
            3 | 4 => Ok(Action::requeue(self.takes)),
            _ => Ok(Action::await_change()),
        }
    }
}

/// Notes when the lease is gone.
struct Noting(LeaseElector, Record);

impl Elector for Noting {
    async fn acquire(&mut self) -> Result<(), BoxError> {
        Elector::acquire(&mut self.0).await
    }

    async fn lost(&mut self) -> BoxError {
        let reason = Elector::lost(&mut self.0).await;
        self.1.lost.store(true, Ordering::Relaxed);
        reason
    }

    async fn release(self) {
        self.1.released.store(true, Ordering::Relaxed);
        Elector::release(self.0).await;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Asked,
    Dropped,
    Robbed,
}

async fn manager(env: &TestEnv, record: &Record, rng: &mut fastrand::Rng) -> Manager {
    let mut election = LeaderElection::new("test.example.com");
    election.namespace = Some("default".into());
    election.release_on_cancel = true;
    let elector = LeaseElector::new(env.kube(), election).unwrap();
    let builder = env.manager().elector(Noting(elector, record.clone())).metrics_registry(Registry::new());
    let manager = builder.build().await.unwrap();
    let mut works = |millis| Works {
        record: record.clone(),
        takes: Duration::from_millis(millis),
        mood: parking_lot::Mutex::new(rng.fork()),
    };
    Controller::builder(&manager).for_::<ConfigMap>().complete(works(0)).unwrap();
    Controller::builder(&manager)
        .for_::<Secret>()
        .enable_warmup(true)
        .max_concurrent_reconciles(3.try_into().unwrap())
        .complete(works(700))
        .unwrap();
    let often = source::interval(Duration::from_millis(300), || {
        std::future::ready(Ok::<_, BoxError>(vec![key("a"), key("b")]))
    });
    Controller::builder(&manager).named("often").watches_raw_source(often).complete(works(250)).unwrap();
    let mut options = WebhookServerOptions::default();
    options.address = "127.0.0.1:0".parse().unwrap();
    options.metrics_registry = Registry::new();
    manager.add(WebhookServer::new(options)).unwrap();
    manager
}

/// A moment: some steps of the scheduler from the start, or some time.
async fn moment(rng: &mut fastrand::Rng) {
    if rng.bool() {
        for _ in 0..rng.u32(..500) {
            yield_now().await;
        }
    } else {
        sleep(Duration::from_micros(rng.u64(..25_000_000))).await;
    }
}

async fn rob(env: &TestEnv) {
    let leases = Api::<Lease>::namespaced(env.kube(), "default");
    let theft = serde_json::json!({"spec": {"holderIdentity": "thief"}});
    let patch = Patch::Merge(theft);
    // There may be none yet.
    let _ = leases.patch("test.example.com", &PatchParams::default(), &patch).await;
}

/// One manager, stopped at one moment. How many reconciles it began and ended.
async fn run(seed: u64) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed);
    let env = TestEnv::start().await;
    env.create(&config_map("a", &[])).await;
    for name in ["a", "b", "c", "d"] {
        env.create(&secret(name)).await;
    }
    let record = Record::default();
    let manager = manager(&env, &record, &mut rng).await;
    let tasks = Handle::current().metrics();
    let before = tasks.num_alive_tasks();
    let stop = [Stop::Asked, Stop::Asked, Stop::Dropped, Stop::Robbed][rng.usize(..4)];
    let running = async {
        match stop {
            Stop::Asked => manager.start(moment(&mut rng)).await,
            Stop::Dropped => {
                tokio::select! {
                    ended = manager.start(std::future::pending()) => ended,
                    () = moment(&mut rng) => Ok(()),
                }
            }
            Stop::Robbed => {
                let robbed = async {
                    moment(&mut rng).await;
                    rob(&env).await;
                    sleep(Duration::from_secs(30)).await;
                };
                manager.start(robbed).await
            }
        }
    };
    let ended =
        timeout(Duration::from_secs(600), running).await.unwrap_or_else(|_| panic!("seed {seed} hangs"));
    if stop == Stop::Dropped {
        // Dropped tasks end when they are polled the next time.
        for _ in 0..100 {
            yield_now().await;
        }
    }
    assert_eq!(tasks.num_alive_tasks(), before, "seed {seed}: tasks are left");
    match ended {
        Ok(()) => {}
        Err(error) => assert!(stop == Stop::Robbed && error.is_leadership_lost(), "seed {seed}: {error}"),
    }
    assert_eq!(record.too_late.load(Ordering::Relaxed), 0, "seed {seed}: a reconcile without the lease");
    record.reconciles.load(Ordering::Relaxed)
}

/// `KUBEWRIGHT_STOP_POINTS` says how many moments.
#[tokio::test(start_paused = true)]
async fn a_manager_that_is_stopped_at_any_moment_leaves_nothing_behind() {
    let runs = std::env::var("KUBEWRIGHT_STOP_POINTS").ok().map_or(300, |runs| runs.parse().unwrap());
    let mut reconciles = 0;
    for seed in 0..runs {
        reconciles += run(seed).await;
    }
    // Otherwise the test looks at nothing.
    assert!(reconciles as u64 > runs, "{reconciles}");
}
