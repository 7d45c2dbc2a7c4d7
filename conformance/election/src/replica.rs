//! The replica in Rust: a manager with work for the leader alone.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kubewright::{
    BoxError,
    leader_election::{LeaderElection, Leadership},
    manager::{Manager, Runnable},
    signals,
};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::fact::{Fact, What, now};

/// Takes part until the process is asked to stop, or has led and does so no more.
pub(crate) async fn run(kubeconfig: PathBuf, identity: String) -> Result<()> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).context("failed to read the kubeconfig")?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let mut election = LeaderElection::new("peers");
    election.namespace = Some("default".to_owned());
    election.identity = Some(identity);
    (election.lease_duration, election.renew_deadline, election.retry_period) =
        (LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD);
    let manager = Manager::builder().config(config).leader_election(election).build().await?;
    let leadership = manager.leadership().cloned().context("there is a lease")?;
    manager.add(Work(leadership))?;
    Ok(manager.start(signals::shutdown()).await?)
}

/// What only the leader does.
struct Work(Leadership);

impl Runnable for Work {
    async fn start(self, cancel: CancellationToken) -> Result<(), BoxError> {
        say(What::Leads, now());
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while cancel.run_until_cancelled(ticks.tick()).await.is_some() {
            // Who is paused after this has asked for what was true at that time.
            let at = now();
            if self.0.check().is_ok() {
                say(What::Works, at);
            }
        }
        say(What::Stopped, now());
        Ok(())
    }
}

fn say(what: What, at: Duration) {
    println!("{}", Fact { what, at }.line());
}

/// A fifth of the defaults: an hour of fail-overs in some minutes.
pub(crate) const LEASE_DURATION: Duration = Duration::from_secs(3);
pub(crate) const RENEW_DEADLINE: Duration = Duration::from_secs(2);
pub(crate) const RETRY_PERIOD: Duration = Duration::from_millis(400);
pub(crate) const TICK: Duration = Duration::from_millis(5);
