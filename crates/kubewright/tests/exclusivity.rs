//! One request is never reconciled twice at once.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use common::{Journal, config_map, key};
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kubewright::{handler, prelude::*};
use kubewright_testing::TestEnv;
use parking_lot::Mutex;
use tokio::{sync::watch, task::JoinSet};

/// Notices when a request is in two workers, and what the last of its runs saw.
#[derive(Clone, Default)]
struct Exclusive {
    inside: Arc<Mutex<BTreeMap<Request, usize>>>,
    added: Arc<AtomicUsize>,
    seen: watch::Sender<usize>,
}

impl Reconciler for Exclusive {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
        let inside = {
            let mut inside = self.inside.lock();
            let inside = inside.entry(request.clone()).or_default();
            *inside += 1;
            *inside
        };
        assert_eq!(inside, 1, "{request} is in two workers");
        let added = self.added.load(Ordering::SeqCst);
        self.seen.send_modify(|seen| *seen = added.max(*seen));
        // Other workers have every chance to take the same request.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        *self.inside.lock().entry(request.clone()).or_default() -= 1;
        Ok(Action::await_change())
    }
}

/// An object without a namespace has one key, whatever namespace somebody gives it.
#[tokio::test(start_paused = true)]
async fn two_spellings_of_one_object_are_one_request() {
    #[derive(Clone, Default)]
    struct AtOnce(Journal, Arc<AtomicUsize>);
    impl Reconciler for AtOnce {
        type Error = BoxError;
        async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
            let others = self.1.fetch_add(1, Ordering::SeqCst);
            // Every other worker has a second to take another spelling.
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            self.1.fetch_sub(1, Ordering::SeqCst);
            self.0.write(format!("{request} beside {others}"));
            Ok(Action::await_change())
        }
    }
    let env = TestEnv::start().await;
    let node = |metadata| Node { metadata, ..Node::default() };
    env.create(&node(env.meta(&Request::cluster_scoped("node-1")))).await;
    env.create(&config_map("node-1", &[])).await;
    let manager = env.manager().build().await.unwrap();
    let (requests, receiver) = tokio::sync::mpsc::channel(1);
    let reconciler = AtOnce::default();
    Controller::builder(&manager)
        .for_::<Node>()
        .watches::<ConfigMap>(handler::enqueue_mapped(|config: &ConfigMap| Some(Request::of(config))))
        .watches_raw_source(source::requests(receiver))
        .max_concurrent_reconciles(4)
        .complete(reconciler.clone())
        .unwrap();
    let running = env.run(manager);
    reconciler.0.wait_for("node-1 beside 0").await;
    requests.send(Request::new("elsewhere", "node-1")).await.unwrap();
    requests.send(Request::new("", "node-2")).await.unwrap();
    reconciler.0.wait_for("node-2 beside 1").await;
    running.stop().await.unwrap();
    assert_eq!(reconciler.0.lines(), ["node-1 beside 0", "node-1 beside 0", "node-2 beside 1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_flooded_request_is_never_in_two_workers_and_no_add_is_lost() {
    const FLOODERS: usize = 16;
    const ADDS: usize = 500;

    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let reconciler = Exclusive::default();
    let (queues, queue) = tokio::sync::oneshot::channel();
    let capture = source::func(move |_context, queue: Queue<Request>| async move {
        queues.send(queue).map_err(|_| "the test is gone".into())
    });
    Controller::builder(&manager)
        .named("flooded")
        .watches_raw_source(capture)
        .max_concurrent_reconciles(8)
        .recover_panic(false)
        .complete(reconciler.clone())
        .unwrap();
    let running = env.run(manager);
    let queue = queue.await.unwrap();

    let mut flooders = JoinSet::new();
    for _ in 0..FLOODERS {
        let (queue, added) = (queue.clone(), Arc::clone(&reconciler.added));
        flooders.spawn(async move {
            for _ in 0..ADDS {
                added.fetch_add(1, Ordering::SeqCst);
                queue.add(key("flooded"));
                tokio::task::yield_now().await;
            }
        });
    }
    while let Some(flooder) = flooders.join_next().await {
        flooder.unwrap();
    }
    // A run begins after the last add, and sees all of them.
    let mut seen = reconciler.seen.subscribe();
    let all = seen.wait_for(|seen| *seen == FLOODERS * ADDS);
    assert!(
        tokio::time::timeout(std::time::Duration::from_secs(60), all).await.is_ok(),
        "the last add was lost"
    );
    running.stop().await.unwrap();
    assert!(reconciler.inside.lock().values().all(|inside| *inside == 0));
}
