//! kubectl, as a person has it.

use std::{path::Path, process::Stdio};

use guestbook::Guestbook;
use tokio::{io::AsyncWriteExt, process::Command, time::timeout};

use crate::replica::PATIENCE;

/// With this kubeconfig.
pub struct Kubectl<'a>(pub &'a Path);

impl Kubectl<'_> {
    /// What `apply` prints, whether it succeeds or not.
    pub async fn apply(&self, guestbook: &Guestbook) -> String {
        self.run(&["apply", "-f", "-"], &serde_json::to_vec(guestbook).unwrap()).await
    }

    async fn run(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut command = Command::new(std::env::var_os("KUBECTL").unwrap_or("kubectl".into()));
        command.args(arguments).env("KUBECONFIG", self.0).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("kubectl has to be in PATH, or in $KUBECTL");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input).await.unwrap();
        drop(stdin);
        let output = timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    /// Asks until all of `texts` are in what it shows, and gives that.
    pub async fn describes(&self, what: &str, texts: &[&str]) -> String {
        let mut shown = String::new();
        let complete = async {
            while !texts.iter().all(|text| shown.contains(text)) {
                shown = self.run(&["describe", what], &[]).await;
            }
        };
        assert!(timeout(PATIENCE, complete).await.is_ok(), "not all of {texts:?}: {shown}");
        shown
    }
}
