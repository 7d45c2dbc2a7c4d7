//! Leaders end, one after the other, and the next one has to lead.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result};
use bench_common::go::GoProgram;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kubewright_apiserver::{ApiServer, ListenOptions};
use rustix::process::Signal;

use crate::{
    child::Replica,
    fact::now,
    replica::{LEASE_DURATION, RETRY_PERIOD},
    term::{Kind, Term, late_works},
};

/// How a leader ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is asked to, and gives the lease up.
    Release,
    /// It is gone from one moment to the next.
    Crash,
    /// It stands still for longer than the lease, and goes on.
    Pause,
}

/// One end, and how long nobody led.
#[derive(Debug)]
struct HandOver {
    end: End,
    from: Kind,
    took: Duration,
}

/// Plays `cycles` times every end of every kind of leader.
pub(crate) async fn run(cycles: u32) -> Result<ExitCode> {
    let go = GoProgram::build("election")?;
    let server = ApiServer::builder().build();
    let listener = server.listen(ListenOptions::default()).await?;
    let kubeconfig = Kubeconfig::write(&listener.kubeconfig()).context("failed to write the kubeconfig")?;
    let mut stage = Stage { go: go.file(), kubeconfig: &kubeconfig.0, started: 0, terms: Vec::new() };

    let mut leader = stage.start(Kind::Kubewright)?;
    leader.works(1, LIMIT).await?;
    let mut waiting = stage.start(Kind::ClientGo)?;
    let mut failed = 0;
    let ends = [End::Release, End::Release, End::Crash, End::Crash, End::Pause, End::Pause];
    for end in ends.into_iter().cycle().take(ends.len() * cycles as usize) {
        // Long enough for the one that waits to know of the lease, and for the leader to renew it.
        leader.works(2 * WORKS, LIMIT).await?;
        let from = leader.kind;
        let (took, next) = stage.end(end, leader, &mut waiting).await?;
        leader = waiting;
        waiting = next;
        let hand_over = HandOver { end, from, took };
        let verdict = hand_over.verdict();
        failed += usize::from(verdict.is_err());
        let remark = verdict.err().map(|limits| format!("  FAILED: {limits}")).unwrap_or_default();
        println!("{end:?} of {from}: {} leads after {took:.2?}{remark}", from.other());
    }
    for replica in [waiting, leader] {
        stage.stop(replica).await?;
    }

    let lease: Lease =
        Api::namespaced(kube::Client::new(server.service(), "default"), "default").get("peers").await?;
    let transitions = lease.spec.and_then(|spec| spec.lease_transitions).unwrap_or_default();
    let passed = ends.len() * cycles as usize - failed;
    failed += stage.verdict(transitions);
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Stage<'a> {
    go: &'a Path,
    kubeconfig: &'a Path,
    started: u32,
    terms: Vec<Term>,
}

impl Stage<'_> {
    fn start(&mut self, kind: Kind) -> Result<Replica> {
        self.started += 1;
        Replica::start(kind, self.go, self.kubeconfig, &format!("{kind}-{}", self.started))
    }

    /// Ends the leader and waits for the next one; gives how long nobody led, and another process like the one that ended.
    async fn end(&mut self, end: End, leader: Replica, next: &mut Replica) -> Result<(Duration, Replica)> {
        let (kind, before) = (leader.kind, now());
        match end {
            End::Release => leader.signal(Signal::TERM)?,
            End::Crash => leader.signal(Signal::KILL)?,
            End::Pause => leader.signal(Signal::STOP)?,
        }
        let begin = next.works(WORKS, LIMIT).await?;
        if end == End::Pause {
            leader.signal(Signal::CONT)?;
        }
        let term = leader.ended().await?;
        self.terms.extend(term.map(|term| Term { was_paused: end == End::Pause, ..term }));
        Ok((begin.saturating_sub(before), self.start(kind)?))
    }

    async fn stop(&mut self, replica: Replica) -> Result<()> {
        replica.signal(Signal::TERM)?;
        self.terms.extend(replica.ended().await?);
        Ok(())
    }

    /// How much is wrong about all terms together.
    fn verdict(&self, transitions: i32) -> usize {
        let works: usize = self.terms.iter().map(|term| term.works.len()).sum();
        let borne = |term: &Term| term.kind == Kind::ClientGo && term.was_paused;
        let late = late_works(&self.terms, |term| !borne(term));
        println!(
            "{} terms, {works} works; {late} while a later one led already, and {} of client-go after a pause",
            self.terms.len(),
            late_works(&self.terms, borne)
        );
        let hand_overs = self.terms.len().saturating_sub(1);
        let counted = usize::try_from(transitions) == Ok(hand_overs);
        println!("the lease counts {transitions} transitions");
        usize::from(late > 0) + usize::from(!counted)
    }
}

impl HandOver {
    /// # Errors
    /// Between what and what it should have been.
    fn verdict(&self) -> Result<(), String> {
        // Who waits polls each 1 to 2.2 retry periods; ours also watches.
        let poll = match self.from.other() {
            Kind::ClientGo => RETRY_PERIOD.mul_f64(2.2),
            Kind::Kubewright => Duration::ZERO,
        };
        // The last renewal is at most a retry period old, by client-go's jitter somewhat more.
        let (least, most) = match self.end {
            End::Release => (Duration::ZERO, poll + SLACK),
            End::Crash | End::Pause => {
                (LEASE_DURATION.saturating_sub(RETRY_PERIOD + SLACK), LEASE_DURATION + poll + SLACK)
            }
        };
        if (least..=most).contains(&self.took) { Ok(()) } else { Err(format!("not {least:?} to {most:?}")) }
    }
}

/// The file for the replicas. It holds a token, and goes when this is dropped.
struct Kubeconfig(PathBuf);

impl Kubeconfig {
    fn write(text: &str) -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("kubewright-election-{}", std::process::id()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        io::Write::write_all(&mut options.open(&path)?, text.as_bytes())?;
        Ok(Self(path))
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        // A leftover in the temporary folder is not worth failing for.
        let _ = fs::remove_file(&self.0);
    }
}

/// Ticks of work: about two seconds, in which everybody renews or polls some times.
const WORKS: usize = 300;
const LIMIT: Duration = Duration::from_secs(20);
/// What processes on a busy machine need for a request and a wake-up.
const SLACK: Duration = Duration::from_millis(600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_given_up_at_once_or_runs_out() {
        let verdict =
            |end, from, millis| HandOver { end, from, took: Duration::from_millis(millis) }.verdict().is_ok();
        assert!(verdict(End::Release, Kind::ClientGo, 500) && !verdict(End::Release, Kind::ClientGo, 700));
        assert!(
            verdict(End::Release, Kind::Kubewright, 1400) && !verdict(End::Release, Kind::Kubewright, 1600)
        );
        for end in [End::Crash, End::Pause] {
            assert!(verdict(end, Kind::ClientGo, 3000));
            assert!(!verdict(end, Kind::ClientGo, 1900) && !verdict(end, Kind::ClientGo, 3700));
        }
    }
}
