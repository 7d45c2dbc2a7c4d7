//! What a request asks for.

use std::borrow::Cow;

use http::{Method, Uri};

use super::discovery;

/// A request, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// A document that never changes.
    Document(&'static str),
    /// Objects from `begin` on, at most `limit` of them.
    List { begin: usize, limit: usize },
    /// The events after a version.
    Watch { after: u64 },
    /// Every object as an event, a bookmark, and the events after that.
    StreamingList,
    /// The control endpoint: every object changes.
    Round,
    /// Nothing that is served.
    Unknown,
}

impl Route {
    pub(super) fn of(method: &Method, uri: &Uri) -> Self {
        match (method, uri.path()) {
            (&Method::GET, COLLECTION) => Self::of_collection(uri.query().unwrap_or_default()),
            (&Method::GET, path) => discovery::document(path).map_or(Self::Unknown, Self::Document),
            (&Method::POST, "/round") => Self::Round,
            _ => Self::Unknown,
        }
    }

    fn of_collection(query: &str) -> Self {
        let value = |name| {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            pairs.find_map(|(key, value)| (key == name).then_some(value))
        };
        let number = |name| value(name).and_then(|text: Cow<'_, str>| text.parse().ok());
        let is_set = |name| value(name).is_some_and(|text| text == "true" || text == "1");
        if !is_set("watch") {
            // A list without a limit, or with a limit of zero, is a list of everything.
            let limit = number("limit").filter(|limit| *limit > 0).unwrap_or(usize::MAX);
            return Self::List { begin: number("continue").unwrap_or(0), limit };
        }
        if is_set("sendInitialEvents") {
            return Self::StreamingList;
        }
        Self::Watch { after: value("resourceVersion").and_then(|text| text.parse().ok()).unwrap_or(0) }
    }
}

const COLLECTION: &str = "/api/v1/configmaps";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &Method, uri: &'static str, expected: Route) {
        assert_eq!(Route::of(method, &Uri::from_static(uri)), expected);
    }

    #[test]
    fn requests_of_all_clients_are_understood() {
        let get = &Method::GET;
        check(get, "/api/v1/configmaps?", Route::List { begin: 0, limit: usize::MAX });
        check(get, "/api/v1/configmaps?limit=500&resourceVersion=0", Route::List { begin: 0, limit: 500 });
        check(get, "/api/v1/configmaps?limit=500&continue=1500", Route::List { begin: 1500, limit: 500 });
        check(get, "/api/v1/configmaps?watch=true&resourceVersion=12", Route::Watch { after: 12 });
        check(
            get,
            "/api/v1/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
            Route::StreamingList,
        );
        check(&Method::POST, "/round", Route::Round);
        check(get, "/round", Route::Unknown);
        check(get, "/api/v1/pods", Route::Unknown);
        assert!(matches!(Route::of(get, &Uri::from_static("/api/v1?timeout=32s")), Route::Document(_)));
    }
}
