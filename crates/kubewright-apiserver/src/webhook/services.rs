//! Where Services lead, as far as webhooks are behind them.

use std::{collections::HashMap, fmt, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use parking_lot::RwLock;

/// Where the server finds the webhooks behind a Service, since nobody runs its network.
#[derive(Clone)]
#[non_exhaustive]
pub enum ServiceRoute {
    /// At an address, over TLS. The certificate has to be for `<service>.<namespace>.svc`.
    Address(SocketAddr),
    /// In this process, without a socket, so that paused time works.
    InProcess(WebhookHandler),
}

impl ServiceRoute {
    /// A handler in this process.
    pub fn in_process<F>(handler: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Bytes>> + Send + 'static,
    {
        Self::InProcess(Arc::new(move |request| Box::pin(handler(request))))
    }
}

/// Answers the requests to a webhook in this process.
pub type WebhookHandler = Arc<dyn Fn(Request<Bytes>) -> BoxFuture<'static, Response<Bytes>> + Send + Sync>;

/// The routes of a server.
#[derive(Debug, Default)]
pub(super) struct Services(RwLock<HashMap<(String, String), ServiceRoute>>);

impl Services {
    pub(super) fn insert(&self, namespace: &str, name: &str, route: ServiceRoute) {
        self.0.write().insert((namespace.to_owned(), name.to_owned()), route);
    }

    pub(super) fn find(&self, namespace: &str, name: &str) -> Option<ServiceRoute> {
        self.0.read().get(&(namespace.to_owned(), name.to_owned())).cloned()
    }
}

impl fmt::Debug for ServiceRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => f.debug_tuple("Address").field(address).finish(),
            Self::InProcess(_) => f.debug_tuple("InProcess").finish_non_exhaustive(),
        }
    }
}
