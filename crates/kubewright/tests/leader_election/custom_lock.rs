//! Locks that are no leases.

use std::sync::Arc;

use kubewright::leader_election::{Elector, LeaderElectionRecord, LeaseElector, Lock, LockError};
use kubewright_testing::TestEnv;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

use super::{election, seconds};

/// A record with a version, as a database row would be.
#[derive(Clone, Debug, Default)]
struct Row {
    stored: Arc<Mutex<(u64, Option<LeaderElectionRecord>)>>,
    seen: u64,
}

impl Row {
    fn write(
        &mut self,
        record: &LeaderElectionRecord,
        may: impl FnOnce(u64, bool) -> bool,
    ) -> Result<(), LockError> {
        let (version, stored) = &mut *self.stored.lock();
        if !may(*version, stored.is_some()) {
            return Err(LockError::Conflict);
        }
        *version += 1;
        *stored = Some(record.clone());
        self.seen = *version;
        Ok(())
    }
}

impl Lock for Row {
    async fn get(&mut self) -> Result<Option<LeaderElectionRecord>, LockError> {
        let (version, record) = self.stored.lock().clone();
        self.seen = version;
        Ok(record)
    }

    async fn create(&mut self, record: &LeaderElectionRecord) -> Result<(), LockError> {
        self.write(record, |_, exists| !exists)
    }

    async fn update(&mut self, record: &LeaderElectionRecord) -> Result<(), LockError> {
        let seen = self.seen;
        self.write(record, |version, exists| exists && version == seen)
    }

    fn describe(&self) -> String {
        "row 1".into()
    }
}

fn elector(row: &Row, identity: &str) -> LeaseElector<Row> {
    LeaseElector::with_lock(row.clone(), election(identity)).unwrap()
}

/// Such a lock has no watch: it is polled.
#[tokio::test(start_paused = true)]
async fn a_lock_of_ones_own_is_held_renewed_and_given_up() {
    let row = Row::default();
    let mut first = elector(&row, "a");
    first.acquire().await.unwrap();
    let mut second = elector(&row, "b");
    let both = timeout(seconds(120), async { tokio::join!(first.lost(), second.acquire()) });
    assert!(both.await.is_err(), "neither is the first replaced nor does the second lead");

    first.release().await;
    let released = Instant::now();
    second.acquire().await.unwrap();
    assert!(released.elapsed() < seconds(5));
    assert_eq!(second.leadership().check(), Ok(1));
}

#[tokio::test(start_paused = true)]
async fn a_lock_of_ones_own_runs_out() {
    let row = Row::default();
    let mut first = elector(&row, "a");
    first.acquire().await.unwrap();
    drop(first);
    let mut second = elector(&row, "b");
    let crashed = Instant::now();
    second.acquire().await.unwrap();
    assert!((seconds(15)..seconds(16)).contains(&crashed.elapsed()), "{:?}", crashed.elapsed());
}

/// Upstream: "custom `ResourceLockInterface` used".
#[tokio::test(start_paused = true)]
async fn a_manager_leads_by_a_lock_of_ones_own() {
    let row = Row::default();
    let env = TestEnv::start().await;
    let manager = env.manager().elector(elector(&row, "a")).build().await.unwrap();
    let running = env.run(manager);
    running.elected().await;
    assert_eq!(row.stored.lock().1.as_ref().unwrap().holder_identity, "a");
    running.stop().await.unwrap();
    assert_eq!(row.stored.lock().1.as_ref().unwrap().holder_identity, "");
}
