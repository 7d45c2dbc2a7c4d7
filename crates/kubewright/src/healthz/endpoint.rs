//! Checks behind a path.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, Uri, header};

use super::Checks;
use crate::{
    error,
    http_server::{Answer, Answering, Endpoint, answer, text},
};

/// All checks at `path`, and each at its name below.
#[derive(Debug)]
pub(crate) struct ChecksEndpoint {
    pub(crate) path: String,
    pub(crate) checks: Checks,
}

impl Endpoint for ChecksEndpoint {
    fn max_body_bytes(&self) -> usize {
        0
    }

    fn answer(&self, request: Request<Bytes>) -> Answering {
        let (checks, uri) = (self.checks.clone(), request.into_parts().0.uri);
        let below = uri.path().strip_prefix(self.path.as_str()).unwrap_or_default();
        let name = below.trim_matches('/').to_owned();
        Box::pin(async move {
            if name.is_empty() {
                answer_for_all(&checks, &uri).await
            } else {
                answer_for(&checks, &name).await
            }
        })
    }
}

/// One check tells its reason: whoever may see more than `ok` is let through to it on purpose.
async fn answer_for(checks: &Checks, name: &str) -> Answer {
    match checks.ask(name).await {
        None => text(StatusCode::NOT_FOUND, "404 page not found".to_owned()),
        Some(Ok(())) => plain(StatusCode::OK, "ok".to_owned()),
        Some(Err(failure)) => {
            let failure = error::chain(&*failure);
            text(StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {failure}"))
        }
    }
}

async fn answer_for_all(checks: &Checks, uri: &Uri) -> Answer {
    let asked = Asked::of(uri);
    let report = checks.report(asked.exclude).await;
    let status = if report.has_failed() { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK };
    let is_short = status == StatusCode::OK && !asked.verbose;
    plain(status, if is_short { "ok".to_owned() } else { report.to_string() })
}

/// What the query asks for.
struct Asked {
    verbose: bool,
    exclude: BTreeSet<String>,
}

impl Asked {
    fn of(uri: &Uri) -> Self {
        let mut asked = Self { verbose: false, exclude: BTreeSet::new() };
        for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            match &*name {
                "verbose" => asked.verbose = true,
                "exclude" => drop(asked.exclude.insert(value.into_owned())),
                _ => {}
            }
        }
        asked
    }
}

fn plain(status: StatusCode, body: String) -> Answer {
    let mut answer = answer(status, "text/plain; charset=utf-8", body);
    answer.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}
