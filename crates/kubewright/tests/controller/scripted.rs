//! A reconciler that does as it was told, and a queue in the test's hands.

use std::{sync::Arc, time::Duration};

use kubewright::{
    controller::{Builder, Controller},
    prelude::*,
    reconcile::{PrioritizedError, TerminalError},
};
use kubewright_testing::{RunningManager, TestEnv};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::common::{Counter, Journal};

/// What a scripted reconciler does in one run.
#[derive(Clone)]
pub(crate) enum Step {
    Done,
    Requeue(Duration),
    RequeueWith(Duration, i32),
    Fail,
    FailWith(i32),
    FailForGood,
    Panic,
    Take(Duration),
}

/// Runs its steps in order, then is done for ever; notes when each run began.
#[derive(Clone)]
pub(crate) struct Scripted {
    pub(crate) steps: Arc<Mutex<Vec<Step>>>,
    start: Instant,
    journal: Journal,
    pub(crate) runs: Counter,
}

impl Scripted {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        let mut steps: Vec<_> = steps.into_iter().collect();
        steps.reverse();
        Self {
            steps: Arc::new(Mutex::new(steps)),
            start: Instant::now(),
            journal: Journal::default(),
            runs: Counter::default(),
        }
    }

    /// Milliseconds from the first run to each of the others.
    pub(crate) fn times(&self) -> Vec<u64> {
        let times: Vec<u64> = self.journal.lines().iter().map(|line| line.parse().unwrap()).collect();
        times.iter().map(|time| time - times[0]).collect()
    }
}

impl Reconciler for Scripted {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
        self.journal.write(self.start.elapsed().as_millis().to_string());
        self.runs.count(&request);
        let step = self.steps.lock().pop().unwrap_or(Step::Done);
        match step {
            Step::Done => Ok(Action::await_change()),
            Step::Requeue(after) => Ok(Action::requeue(after)),
            Step::RequeueWith(after, priority) => Ok(Action::requeue(after).with_priority(priority)),
            Step::Fail => Err("no".into()),
            Step::FailWith(priority) => Err(PrioritizedError::new("no", priority).into()),
            Step::FailForGood => Err(TerminalError::new("never").into()),
            Step::Panic => panic!("as scripted"),
            Step::Take(time) => {
                sleep_until(Instant::now() + time).await;
                Ok(Action::await_change())
            }
        }
    }
}

/// A controller without watches: its queue is in the test's hands.
pub(crate) async fn by_hand(
    env: &TestEnv,
    reconciler: impl Reconciler,
    configure: impl FnOnce(Builder) -> Builder,
) -> (RunningManager, Queue<Request>) {
    let manager = env.manager().build().await.unwrap();
    let (queues, queue) = tokio::sync::oneshot::channel();
    let capture = source::func(move |_context, queue: Queue<Request>| async move {
        queues.send(queue).map_err(|_| "the test is gone".into())
    });
    let name = format!("by-hand-{:p}", &raw const queue);
    configure(Controller::builder(&manager).named(name).watches_raw_source(capture))
        .complete(reconciler)
        .unwrap();
    let running = env.run(manager);
    (running, queue.await.unwrap())
}
