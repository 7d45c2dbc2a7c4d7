//! The requests of a reflector. All of them are written here, so that none forgets a parameter that the others have.

use std::time::Duration;

use http::{Request, header};
use kube::client::Body;

use super::course::{Ask, Pages};
use crate::object::{Form, Kind};

/// What a reflector follows: one kind, in one namespace or in all, as far as the selectors reach.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) kind: Kind,
    pub(crate) namespace: Option<String>,
    pub(crate) label_selector: Option<String>,
    pub(crate) field_selector: Option<String>,
}

impl Target {
    /// The request for `ask`. A watch is asked to end after `watch_time`; `page` continues a list.
    pub(crate) fn request(&self, ask: Ask, watch_time: Duration, page: Option<&str>) -> Request<Body> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        match ask {
            Ask::StreamingList { not_older_than } => {
                query.append_pair("watch", "true").append_pair("allowWatchBookmarks", "true");
                query
                    .append_pair("sendInitialEvents", "true")
                    .append_pair("resourceVersionMatch", "NotOlderThan");
                if let Some(version) = not_older_than {
                    query.append_pair("resourceVersion", &version.to_string());
                }
            }
            Ask::Watch { after } => {
                query.append_pair("watch", "true").append_pair("allowWatchBookmarks", "true");
                query.append_pair("resourceVersion", &after.to_string());
            }
            Ask::Version => {
                query.append_pair("limit", "1");
            }
            Ask::List { not_older_than, pages } => {
                if pages == Pages::Many {
                    query.append_pair("limit", PAGE_SIZE);
                }
                if let Some(page) = page {
                    query.append_pair("continue", page);
                } else if let Some(version) = not_older_than {
                    query.append_pair("resourceVersion", &version.to_string());
                    query.append_pair("resourceVersionMatch", "NotOlderThan");
                }
            }
        }
        let is_list = matches!(ask, Ask::List { .. } | Ask::Version);
        if !is_list {
            query.append_pair("timeoutSeconds", &watch_time.as_secs().to_string());
        }
        for (name, selector) in
            [("labelSelector", &self.label_selector), ("fieldSelector", &self.field_selector)]
        {
            if let Some(selector) = selector {
                query.append_pair(name, selector);
            }
        }
        let accept = match (self.kind.form(), is_list) {
            (Form::Full, _) => "application/json",
            (Form::Metadata, true) => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            (Form::Metadata, false) => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        };
        let path = self.kind.collection_path(self.namespace.as_deref());
        Request::get(format!("{path}?{}", query.finish()))
            .header(header::ACCEPT, accept)
            // From 1.37 an API server compresses each event of a watch by itself, which costs both sides more than it saves.
            .header(header::ACCEPT_ENCODING, "identity")
            .body(Body::empty())
            .expect("paths and queries are made of names that the API server accepted, and are percent-encoded here")
    }
}

/// Upstream's page of 500 is the largest that a server cuts short for nobody.
const PAGE_SIZE: &str = "500";

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use kube::core::PartialObjectMeta;

    use super::*;

    fn target(kind: Kind) -> Target {
        Target {
            kind,
            namespace: Some("a".into()),
            label_selector: Some("x=y,z".into()),
            field_selector: None,
        }
    }

    #[track_caller]
    fn check(ask: Ask, page: Option<&str>, uri: &str) {
        let request = target(Kind::of::<Pod>()).request(ask, Duration::from_secs(300), page);
        assert_eq!(
            request.uri().to_string(),
            format!("/api/v1/namespaces/a/pods?{uri}&labelSelector=x%3Dy%2Cz")
        );
    }

    #[test]
    fn every_ask_has_its_parameters() {
        check(
            Ask::StreamingList { not_older_than: Some(7) },
            None,
            "watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7&timeoutSeconds=300",
        );
        check(
            Ask::Watch { after: 7 },
            None,
            "watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300",
        );
        check(Ask::List { not_older_than: None, pages: Pages::Many }, None, "limit=500");
        check(
            Ask::List { not_older_than: Some(7), pages: Pages::Many },
            None,
            "limit=500&resourceVersion=7&resourceVersionMatch=NotOlderThan",
        );
        check(Ask::Version, None, "limit=1");
        check(
            Ask::List { not_older_than: Some(7), pages: Pages::One },
            None,
            "resourceVersion=7&resourceVersionMatch=NotOlderThan",
        );
        check(
            Ask::List { not_older_than: Some(7), pages: Pages::Many },
            Some("next"),
            "limit=500&continue=next",
        );
    }

    #[test]
    fn metadata_alone_is_asked_for_in_every_request() {
        let target = target(Kind::of::<PartialObjectMeta<Pod>>());
        for (ask, form) in [
            (Ask::Watch { after: 1 }, "PartialObjectMetadata;"),
            (Ask::List { not_older_than: None, pages: Pages::Many }, "PartialObjectMetadataList;"),
        ] {
            let request = target.request(ask, Duration::ZERO, None);
            assert!(request.headers()[header::ACCEPT].to_str().unwrap().contains(form));
        }
    }
}
