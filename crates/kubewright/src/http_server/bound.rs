//! Whether a server listens, and where.

use std::net::SocketAddr;

use tokio::sync::watch;

/// Where a server listens at the moment.
#[derive(Debug)]
pub(crate) struct Bound(watch::Sender<Option<SocketAddr>>);

impl Default for Bound {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Bound {
    /// The server listens until the guard is dropped, however it ends.
    pub(crate) fn listens(&self, address: SocketAddr) -> impl Drop + '_ {
        self.0.send_replace(Some(address));
        Listening(self)
    }

    /// Waits until the server listens.
    pub(crate) async fn wait(&self) -> SocketAddr {
        let mut address = self.0.subscribe();
        let found = address.wait_for(Option::is_some).await.ok().and_then(|address| *address);
        // The sender lives in `self`.
        match found {
            Some(address) => address,
            None => std::future::pending().await,
        }
    }
}

struct Listening<'a>(&'a Bound);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.0.send_replace(None);
    }
}
