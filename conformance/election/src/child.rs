//! A replica as a process.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    sync::watch,
    task::JoinSet,
    time::timeout,
};

use crate::{
    fact::{Fact, What},
    replica::{LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD, TICK},
    term::{Kind, Term},
};

/// A process that takes part. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) kind: Kind,
    child: Child,
    facts: watch::Receiver<Vec<Fact>>,
    // It ends with the process' output.
    reading: JoinSet<Result<()>>,
}

impl Replica {
    pub(crate) fn start(kind: Kind, go: &Path, kubeconfig: &Path, identity: &str) -> Result<Self> {
        let mut command = match kind {
            Kind::ClientGo => {
                let mut command = Command::new(go);
                command.arg(kubeconfig).arg(identity);
                let durations = [LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD, TICK];
                command.args(durations.map(|duration| format!("{}ms", duration.as_millis())));
                command
            }
            Kind::Kubewright => {
                let mut command =
                    Command::new(std::env::current_exe().context("failed to find this program")?);
                command.arg("replica").arg(kubeconfig).arg(identity);
                command
            }
        };
        // A leader that loses its lease ends with an error, which is what is wanted.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("failed to start {kind}"))?;
        let output = child.stdout.take().context("the replica has no output")?;
        let (tx, facts) = watch::channel(Vec::new());
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Some(line) = lines.next_line().await? {
                // A process that is killed may leave half a line.
                if let Some(fact) = Fact::parse(&line) {
                    tx.send_modify(|facts| facts.push(fact));
                }
            }
            Ok(())
        });
        Ok(Self { kind, child, facts, reading })
    }

    /// Waits until it leads and has worked so often, and says since when it leads.
    pub(crate) async fn works(&mut self, times: usize, within: Duration) -> Result<Duration> {
        let enough = self
            .facts
            .wait_for(|facts| facts.iter().filter(|fact| fact.what == What::Works).count() >= times);
        let facts = timeout(within, enough).await;
        let facts = facts.with_context(|| format!("{} does not lead within {within:?}", self.kind))?;
        let facts = facts.with_context(|| format!("{} has ended", self.kind))?;
        let begin = facts.iter().find(|fact| fact.what == What::Leads);
        Ok(begin.context("it works and does not lead")?.at)
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let id = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(kill_process(id.context("the replica has ended")?, signal)?)
    }

    /// Waits for its end, and says what it told.
    pub(crate) async fn ended(mut self) -> Result<Option<Term>> {
        let Ok(ended) = timeout(END_LIMIT, self.child.wait()).await else {
            bail!("{} does not end within {END_LIMIT:?}", self.kind);
        };
        ended?;
        while let Some(read) = self.reading.join_next().await {
            read??;
        }
        Ok(Term::of(self.kind, &self.facts.borrow()))
    }
}

const END_LIMIT: Duration = Duration::from_secs(20);
