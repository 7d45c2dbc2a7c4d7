//! The server as a service.

use std::{
    error::Error,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tower::{ServiceBuilder, util::BoxCloneSyncService};
use tower_service::Service;

use super::{
    layer::{
        AuditId, Authentication, Authorization, Deadline, FaultPlan, Impersonation, InFlight, PanicRecovery,
        Passing, Recording, RequestBody, RequestReading, WarningHeaders,
    },
    route::Routes,
    shared::Shared,
};
use crate::{
    auth::Authenticator,
    wire::{Body, MAX_BODY_BYTES},
};

/// The server as a [`Service`] for HTTP requests. Clones are cheap.
#[derive(Clone)]
pub struct ApiService(BoxCloneSyncService<Request<RequestBody>, Response<Body>, ServiceError>);

/// Why a request got no answer at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The fault plan has the request handled and the answer lost.
    #[error("answer lost by the fault plan")]
    AnswerLost,
    /// The fault plan has the server out of reach.
    #[error("server out of reach by the fault plan")]
    Unreachable,
}

/// One of the two doors, as far as they differ.
#[derive(Debug)]
pub(crate) struct DoorOptions {
    /// Who finds out who asks, the first one first.
    pub(crate) authenticators: Vec<Box<dyn Authenticator>>,
    pub(super) in_flight: InFlight,
    /// Fires when the door closes.
    pub(super) closing: CancellationToken,
}

impl DoorOptions {
    /// The door in the process, where whoever asks limits himself.
    pub(crate) fn in_process(authenticators: Vec<Box<dyn Authenticator>>) -> Self {
        Self { authenticators, in_flight: InFlight::unlimited(), closing: CancellationToken::new() }
    }
}

impl ApiService {
    /// The walk of a request: each layer sees it before those below, and its answer after them.
    pub(crate) fn new(shared: &Arc<Shared>, door: DoorOptions) -> Self {
        let walk = ServiceBuilder::new()
            .layer(Passing(AuditId(shared.cluster.identity.clone())))
            .layer(Passing(PanicRecovery))
            .layer(Passing(RequestReading(shared.cluster.clock.clone())))
            .layer(Passing(WarningHeaders))
            .layer(Passing(Authentication(door.authenticators.into())))
            .layer(Passing(Impersonation))
            .layer(Passing(door.in_flight))
            .layer(Passing(Recording(shared.recordings.clone())))
            .layer(Passing(Authorization(shared.authorizer.clone())))
            .layer(Passing(FaultPlan(shared.faults.clone())))
            .layer(Passing(Deadline))
            .service(Routes { shared: shared.clone(), closing: door.closing });
        Self(BoxCloneSyncService::new(walk))
    }
}

impl<B> Service<Request<B>> for ApiService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = ServiceError;
    type Future = BoxFuture<'static, Result<Response<Body>, ServiceError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ServiceError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.0.call(request.map(|body| Limited::new(body, MAX_BODY_BYTES).boxed_unsync()))
    }
}

impl fmt::Debug for ApiService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiService")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::future::join_all;
    use http::{StatusCode, header};
    use http_body_util::Full;

    use super::*;
    use crate::{ApiServer, Fault, auth::Everybody};

    fn get() -> Request<Full<Bytes>> {
        Request::get("/api/v1/namespaces/default").body(Full::default()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn more_requests_than_there_is_time_for_are_asked_to_come_again() {
        let server = ApiServer::builder().build();
        server.faults().add(Fault::delay(Duration::from_secs(5)).always());
        let door = DoorOptions {
            in_flight: InFlight::limited(),
            ..DoorOptions::in_process(vec![Box::new(Everybody)])
        };
        let mut port = ApiService::new(server.shared(), door);
        let handled = join_all((0..400).map(|_| port.clone().call(get())));
        let one_more = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            port.call(get()).await.unwrap()
        };
        let (handled, refused) = tokio::join!(handled, one_more);
        assert!(handled.into_iter().all(|answer| answer.unwrap().status() == StatusCode::OK));
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers()[header::RETRY_AFTER], "1");
        let text = refused.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(text, "Too many requests, please try again later.\n");
        assert_eq!(port.call(get()).await.unwrap().status(), StatusCode::OK, "the others have gone");
    }
}
