//! An API server of one's own, for a look at the operator without a cluster.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use kube::{Api, api::PostParams};
use kubewright::webhook::{WebhookAddress, WebhookServer};
use kubewright_apiserver::{
    ApiServer, Controllers, ListenOptions, Listener, RunningControllers, ServiceRoute,
};

/// A running API server, and the file that tells `kubectl` how to reach it. All of it goes when this is dropped.
#[derive(Debug)]
pub struct Embedded {
    server: ApiServer,
    listener: Listener,
    kubeconfig: Kubeconfig,
    // Ends with the server: the stand-ins for what runs in a real cluster beside the API server.
    _controllers: RunningControllers,
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

    /// Has the API server call the webhooks that are registered at `server`, in this process.
    pub async fn install(&self, server: &WebhookServer) -> anyhow::Result<()> {
        let called = server.clone();
        let route = ServiceRoute::in_process(move |request| {
            let server = called.clone();
            async move { server.call(request).await }
        });
        self.server.route_service("default", "guestbook", route);
        let address = WebhookAddress::Service { namespace: "default".into(), name: "guestbook".into() };
        let configurations = server.configurations("guestbook", &address);
        if let Some(mutating) = configurations.mutating {
            Api::all(self.client()).create(&PostParams::default(), &mutating).await?;
        }
        if let Some(validating) = configurations.validating {
            Api::all(self.client()).create(&PostParams::default(), &validating).await?;
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
