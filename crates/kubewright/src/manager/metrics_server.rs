//! The manager's metrics, as Prometheus reads them.

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower_service::Service;

use super::Manager;
use crate::{
    BoxError,
    http_server::{Mounted, RegisterError},
};

impl Manager {
    /// Serves something of one's own beside `/metrics`, to whoever may read those. A path that ends with a slash stands for everything below it.
    ///
    /// Without [`metrics_server`](super::ManagerBuilder::metrics_server) nobody ever asks for it.
    ///
    /// # Errors
    /// [`RegisterError`] if the path is taken, as `/metrics` is, or is none.
    ///
    /// # Differences from Go
    /// Handlers may be added after the start, too.
    ///
    /// Source: controller-runtime `manager.Manager.AddMetricsServerExtraHandler`.
    pub fn add_metrics_server_extra_handler<S, B>(&self, path: &str, service: S) -> Result<(), RegisterError>
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        self.setup.metrics_server.mount(path, Arc::new(Mounted(service)))
    }

    /// Waits until metrics are served, and says where: with port 0, nobody knows before. Pending if their server is off.
    pub async fn metrics_address(&self) -> SocketAddr {
        self.setup.metrics_server.server.listening().await
    }
}
