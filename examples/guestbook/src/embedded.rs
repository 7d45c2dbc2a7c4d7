//! An API server of one's own, for a look at the operator without a cluster.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use kube::{Api, CustomResourceExt as _, api::PostParams};
use kubewright::{
    manager::ManagerBuilder,
    webhook::{WebhookConfigurations, WebhookServer},
};
use kubewright_apiserver::{
    ApiServer, Controllers, ListenOptions, Listener, RunningControllers, ServiceRoute,
};

use crate::{Guestbook, webhooks};

/// A running API server, and the file that tells `kubectl` how to reach it. All of it goes when this is dropped.
#[derive(Debug)]
pub struct Embedded {
    server: ApiServer,
    listener: Listener,
    kubeconfig: Kubeconfig,
    // Ends with the server: the stand-ins for what runs in a real cluster beside the API server.
    _controllers: RunningControllers,
}

/// Starts the server if it is wanted, tells where it is, and has the manager use it.
pub async fn start_if(
    wanted: bool,
    builder: ManagerBuilder,
) -> anyhow::Result<(Option<Embedded>, ManagerBuilder)> {
    if !wanted {
        return Ok((None, builder));
    }
    let embedded = Embedded::start().await?;
    println!("guestbook operator, on an API server of its own at {}", embedded.url());
    println!("  export KUBECONFIG={}\n", embedded.kubeconfig().display());
    embedded.install().await?;
    let builder = builder.kube_client(embedded.client());
    Ok((Some(embedded), builder))
}

impl Embedded {
    /// Starts the server on a free port.
    pub async fn start() -> anyhow::Result<Self> {
        let server = ApiServer::builder().build();
        let listener =
            server.listen(ListenOptions::default()).await.context("failed to open the server's door")?;
        let kubeconfig =
            Kubeconfig::write(&listener.kubeconfig()).context("failed to write the kubeconfig")?;
        let controllers = server.start_controllers(Controllers::default()).await;
        Ok(Self { server, listener, kubeconfig, _controllers: controllers })
    }

    /// A client that needs no socket.
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.server.service(), "default")
    }

    /// Makes guestbooks known, and calls their webhooks in this process.
    pub async fn install(&self) -> anyhow::Result<()> {
        let create = PostParams::default();
        Api::all(self.client()).create(&create, &Guestbook::crd()).await?;
        let called = WebhookServer::default();
        webhooks::register(&called)?;
        let route = ServiceRoute::in_process(move |request| {
            let server = called.clone();
            async move { server.call(request).await }
        });
        self.server.route_service("default", webhooks::SERVICE, route);
        let WebhookConfigurations { mutating, validating, .. } = webhooks::configurations("default")?;
        if let Some(mutating) = mutating {
            Api::all(self.client()).create(&create, &mutating).await?;
        }
        if let Some(validating) = validating {
            Api::all(self.client()).create(&create, &validating).await?;
        }
        Ok(())
    }

    /// Where others reach the server.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// The file for `KUBECONFIG`.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig.path
    }
}

#[derive(Debug)]
struct Kubeconfig {
    path: PathBuf,
}

impl Kubeconfig {
    fn write(text: &str) -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("guestbook-{}.kubeconfig", std::process::id()));
        // It holds a token: whoever left a file of this name must not be able to read what comes into it.
        let _ = fs::remove_file(&path);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        io::Write::write_all(&mut options.open(&path)?, text.as_bytes())?;
        Ok(Self { path })
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        // A file that somebody else has removed is removed.
        let _ = fs::remove_file(&self.path);
    }
}
