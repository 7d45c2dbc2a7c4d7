//! The operator as a process.

use std::{net::SocketAddr, path::Path, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::{Child, Command},
    sync::watch,
    task::JoinSet,
    time::timeout,
};

/// It is killed when this is dropped.
#[derive(Debug)]
pub struct Replica {
    child: Child,
    /// All that it has said and logged, by line.
    told: watch::Receiver<Vec<String>>,
    // It ends with what it reads.
    _reading: JoinSet<()>,
}

impl Replica {
    /// Starts a process, with leases that are shorter than those of every day.
    pub fn start(kubeconfig: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_guestbook"));
        command.arg("--kubeconfig").arg(kubeconfig).env_remove("RUST_LOG");
        command.args(["--leader-elect", "--leader-elect-resource-namespace=default"]);
        command.args(["--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s"]);
        command.args(["--leader-elect-retry-period=400ms", "--health-probe-bind-address=0"]);
        command.args(["--webhook-namespace=default", "--webhook-port=0"]);
        command.args(["--zap-encoder=json", "--zap-log-level=info"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let (tx, told) = watch::channel(Vec::new());
        let mut reading = JoinSet::new();
        reading.spawn(read(child.stdout.take().unwrap(), tx.clone()));
        reading.spawn(read(child.stderr.take().unwrap(), tx));
        Self { child, told, _reading: reading }
    }

    /// Waits for a line with this text in it.
    pub async fn tells(&self, text: &str) -> String {
        let is_there = |told: &Vec<String>| told.iter().any(|line| line.contains(text));
        let mut told = self.told.clone();
        let Ok(found) = timeout(PATIENCE, told.wait_for(is_there)).await else {
            panic!("waited in vain for {text:?}: {:#?}", self.told.borrow());
        };
        let found = found.unwrap_or_else(|_| panic!("it ended without {text:?}: {:#?}", self.told.borrow()));
        found.iter().find(|line| line.contains(text)).unwrap().clone()
    }

    pub fn has_told(&self, text: &str) -> bool {
        self.told.borrow().iter().any(|line| line.contains(text))
    }

    /// Where its webhooks are, once somebody may call them.
    pub async fn webhooks(&self) -> SocketAddr {
        self.tells("serving certificate loaded").await;
        let line: serde_json::Value = serde_json::from_str(&self.tells("serving webhooks").await).unwrap();
        let address = line["address"].as_str().and_then(|address| address.parse::<SocketAddr>().ok());
        SocketAddr::from(([127, 0, 0, 1], address.unwrap().port()))
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// It hears nothing of it.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

async fn read(output: impl AsyncRead + Unpin, told: watch::Sender<Vec<String>>) {
    let mut lines = BufReader::new(output).lines();
    // A process that is killed may leave half a line.
    while let Ok(Some(line)) = lines.next_line().await {
        told.send_modify(|told| told.push(line));
    }
}

/// For a machine that has other things to do, too.
pub const PATIENCE: Duration = Duration::from_secs(60);
