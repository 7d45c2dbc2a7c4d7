//! One call of a webhook: found, read, counted, answered.

use std::{fmt::Display, sync::Arc};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use tokio::time::Instant;

use super::WebhookServerOptions;
use crate::{
    http_server::{Answer, Budget, Endpoint, Handler, Routes, contained, text},
    webhook::metrics::PathMetrics,
};

/// What every connection of a webhook server knows.
#[derive(Clone)]
pub(super) struct Calls {
    pub(super) routes: Routes<Route>,
    pub(super) budget: Budget,
    pub(super) options: Arc<WebhookServerOptions>,
}

#[derive(Clone)]
pub(super) struct Route {
    pub(super) endpoint: Arc<dyn Endpoint>,
    pub(super) metrics: PathMetrics,
}

impl Handler for Calls {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        self.answer_any(request).await
    }
}

impl Calls {
    /// Answers a request, wherever its body comes from.
    pub(super) async fn answer_any<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: Display,
    {
        let Some(route) = self.routes.find(request.uri().path()) else {
            return text(StatusCode::NOT_FOUND, "404 page not found".to_owned());
        };
        let (_working, began) = (route.metrics.working(), Instant::now());
        let answer = self.answer_from(&route, request).await;
        route.metrics.observe(answer.status(), began.elapsed());
        answer
    }

    async fn answer_from<B>(&self, route: &Route, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: Display,
    {
        let (parts, body) = request.into_parts();
        let limit = route.endpoint.max_body_bytes();
        let body = match self.budget.read(body, limit, self.options.body_timeout).await {
            Ok(body) => body,
            Err(refused) => return route.endpoint.refuse(&refused),
        };
        let request = Request::from_parts(parts, body.bytes.clone());
        // A service that panics before its first await does so in the call. Contained here, it is counted.
        contained(async { route.endpoint.answer(request).await }).await
    }
}
