//! Reading what is asked for.

use std::sync::Arc;

use http::Request;

use super::{
    asked::{Asked, ClientCertificate, RequestBody},
    filter::{Answer, Filter, Next},
};
use crate::{
    clock::Clock,
    context::{Context, Query, RequestInfo, UserInfo, Warnings},
    fault::Verdict,
};

/// Reads what is asked for, and begins the [`Context`] of the request.
///
/// Source: apiserver `endpoints/filters.WithRequestInfo`.
#[derive(Debug, Clone)]
pub(in crate::door) struct RequestReading(pub(in crate::door) Arc<dyn Clock>);

impl<S: Next<Asked>> Filter<Request<RequestBody>, S> for RequestReading {
    async fn pass(self, request: Request<RequestBody>, mut next: S) -> Answer {
        let (parts, body) = request.into_parts();
        let query = Query::parse(parts.uri.query());
        let info = RequestInfo::read(&parts.method, parts.uri.path(), &query).with_headers(&parts.headers);
        let (user, warnings, clock) = (UserInfo::anonymous(), Warnings::default(), self.0);
        let asked = Asked {
            context: Context { user, info, query, warnings, clock },
            method: parts.method,
            headers: parts.headers,
            body,
            has_certificate: parts.extensions.get::<ClientCertificate>().is_some(),
            verdict: Verdict::default(),
        };
        next.call(asked).await
    }
}
