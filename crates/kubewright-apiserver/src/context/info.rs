//! What a request asks for.

use std::fmt;

use http::{HeaderMap, Method, header};
use percent_encoding::percent_decode_str;

use super::query::Query;
use crate::error::{Named, strconv};

/// What a request asks for, read from its method, path and query.
///
/// Source: apiserver `request.RequestInfoFactory.NewRequestInfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestInfo {
    /// The path as it was sent.
    pub path: String,
    /// What is done.
    pub verb: Verb,
    /// The resource that it is done to; `None` for discovery, health and other paths that are no resources.
    pub resource: Option<ResourceInfo>,
    /// The program that asks, as its `User-Agent` header says; empty when it does not.
    pub user_agent: String,
    /// The `fieldManager` that a write names; empty when it names none.
    pub field_manager: String,
}

/// The resource part of a [`RequestInfo`]. Parts that the path does not name are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ResourceInfo {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version of the group, `v1`.
    pub version: String,
    /// The plural name of the resource, `pods`.
    pub resource: String,
    /// The part of the object, `status`.
    pub subresource: String,
    /// The namespace; empty for cluster scope and for all namespaces.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
}

impl Named for ResourceInfo {
    fn group(&self) -> &str {
        &self.group
    }

    fn plural(&self) -> &str {
        &self.resource
    }

    /// Not known to who has only read the path.
    fn kind(&self) -> &'static str {
        ""
    }
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// Reads one object, or a path that is no resource.
    Get,
    /// Reads all objects of a resource.
    List,
    /// Follows the changes of a resource.
    Watch,
    /// Makes an object.
    Create,
    /// Replaces an object.
    Update,
    /// Changes parts of an object.
    Patch,
    /// Deletes an object.
    Delete,
    /// Deletes all objects of a resource.
    DeleteCollection,
    /// Any other method.
    Other,
}

impl RequestInfo {
    /// Reads a request.
    pub(crate) fn read(method: &Method, path: &str, query: &Query) -> Self {
        let mut resource = resource(path);
        let by_method = Verb::of(method);
        let (user_agent, field_manager) = (String::new(), query.text("fieldManager"));
        let Some(found) = &mut resource else {
            return Self {
                path: path.to_owned(),
                verb: by_method,
                resource: None,
                user_agent,
                field_manager,
            };
        };
        let verb = match by_method {
            Verb::Get if found.watched_by_path => Verb::Watch,
            Verb::Get if found.info.name.is_empty() && query.flag("watch") == Some(true) => Verb::Watch,
            Verb::Get if found.info.name.is_empty() => Verb::List,
            Verb::Delete if found.info.name.is_empty() => Verb::DeleteCollection,
            verb => verb,
        };
        let resource = resource.map(|found| found.info);
        Self { path: path.to_owned(), verb, resource, user_agent, field_manager }
    }

    /// The same request with what its headers say.
    pub(crate) fn with_headers(mut self, headers: &HeaderMap) -> Self {
        let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        self.user_agent = agent.unwrap_or_default().to_owned();
        self
    }

    /// Who is said to manage the fields that a write changes: the manager that it names, or else the program that asks,
    /// which is its `User-Agent` up to the first slash, without what cannot be printed, in 128 bytes at most.
    ///
    /// Source: apiserver `handlers.managerOrUserAgent`.
    pub fn manager(&self) -> String {
        if !self.field_manager.is_empty() {
            return self.field_manager.clone();
        }
        let program = self.user_agent.split('/').next().unwrap_or_default();
        let mut manager = String::new();
        for character in program.chars().filter(|character| strconv::is_print(*character)) {
            if manager.len() + character.len_utf8() > MAX_MANAGER_BYTES {
                break;
            }
            manager.push(character);
        }
        manager
    }

    /// Whether the request does `verb` to a resource, named by its plural.
    pub fn is(&self, verb: Verb, resource: &str) -> bool {
        self.verb == verb && self.resource.as_ref().is_some_and(|found| found.resource == resource)
    }

    /// Whether the request lists or watches a resource, named by its plural: what a cache does that follows it.
    pub fn follows(&self, resource: &str) -> bool {
        self.is(Verb::List, resource) || self.is(Verb::Watch, resource)
    }
}

impl Verb {
    /// The word as RBAC rules write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Other => "",
        }
    }

    fn of(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD => Self::Get,
            Method::POST => Self::Create,
            Method::PUT => Self::Update,
            Method::PATCH => Self::Patch,
            Method::DELETE => Self::Delete,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Source: apimachinery `validation.FieldManagerMaxLength`.
const MAX_MANAGER_BYTES: usize = 128;

struct Found {
    info: ResourceInfo,
    watched_by_path: bool,
}

/// Reads `/api/v1/…` and `/apis/group/version/…`, or nothing when the path ends before a resource.
fn resource(path: &str) -> Option<Found> {
    let segments: Vec<String> = path
        .trim_matches('/')
        .split('/')
        .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
        .collect();
    let mut rest = segments.iter().map(String::as_str);
    let (group, version) = match rest.next()? {
        "api" => ("", rest.next()?),
        "apis" => (rest.next()?, rest.next()?),
        _ => return None,
    };
    let mut rest: Vec<&str> = rest.collect();
    // The deprecated way to say `?watch=true`.
    let watched_by_path = rest.first() == Some(&"watch") && rest.len() > 1;
    if watched_by_path {
        rest.remove(0);
    }
    let (namespace, rest) = match rest.as_slice() {
        ["namespaces"] => ("", rest.as_slice()),
        ["namespaces", namespace] | ["namespaces", namespace, "status" | "finalize", ..] => {
            (*namespace, rest.as_slice())
        }
        ["namespaces", namespace, inside @ ..] => (*namespace, inside),
        all => ("", all),
    };
    let part = |index: usize| rest.get(index).copied().unwrap_or_default().to_owned();
    if part(0).is_empty() {
        return None;
    }
    let info = ResourceInfo {
        group: group.to_owned(),
        version: version.to_owned(),
        resource: part(0),
        name: part(1),
        subresource: rest.get(2..).unwrap_or_default().join("/"),
        namespace: namespace.to_owned(),
    };
    Some(Found { info, watched_by_path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &Method, path: &str, expected: &str) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let query = Query::parse(Some(query));
        let info = RequestInfo::read(method, path, &query);
        let text = match info.resource {
            None => format!("{} -", info.verb),
            Some(r) => format!(
                "{} {}/{} {} [{}] {} {}",
                info.verb, r.group, r.version, r.resource, r.namespace, r.name, r.subresource
            ),
        };
        assert_eq!(text.trim_end(), expected, "{path}");
    }

    #[test]
    fn fields_are_managed_by_who_is_named_or_by_the_program_that_asks() {
        let manager = |named: &str, user_agent: &str| {
            let query = Query::parse(Some(&format!("fieldManager={named}")));
            let mut info = RequestInfo::read(&Method::POST, "/api/v1/pods", &query);
            info.user_agent = user_agent.to_owned();
            info.manager()
        };
        assert_eq!(manager("me", "kubectl/v1.37 (linux)"), "me");
        assert_eq!(manager("", "kubectl/v1.37 (linux)"), "kubectl");
        assert_eq!(manager("", "my\u{7f}program"), "myprogram");
        assert_eq!(manager("", ""), "");
        assert_eq!(manager("", &"\u{e9}".repeat(100)), "\u{e9}".repeat(64));
        assert_eq!(manager("", &format!("a{}", "\u{e9}".repeat(100))).len(), 127);
    }

    /// The cases of upstream's `TestGetAPIRequestInfo`.
    #[test]
    fn requests_are_read_as_upstream_reads_them() {
        check(&Method::GET, "/api/v1/namespaces", "list /v1 namespaces []");
        check(&Method::GET, "/api/v1/namespaces/other", "get /v1 namespaces [other] other");
        check(&Method::GET, "/api/v1/namespaces/other/pods", "list /v1 pods [other]");
        check(&Method::GET, "/api/v1/namespaces/other/pods/foo", "get /v1 pods [other] foo");
        check(&Method::HEAD, "/api/v1/namespaces/other/pods/foo", "get /v1 pods [other] foo");
        check(&Method::GET, "/api/v1/pods", "list /v1 pods []");
        check(&Method::GET, "/api/v1/namespaces/other/pods?watch=1", "watch /v1 pods [other]");
        check(&Method::GET, "/api/v1/namespaces/other/pods?watch=false", "list /v1 pods [other]");
        for (query, verb) in [
            ("watch=yes", "watch"),
            ("watch=", "watch"),
            ("watch", "watch"),
            ("watch=0", "list"),
            ("watch=False", "list"),
            ("watch=false&watch=true", "list"),
        ] {
            check(&Method::GET, &format!("/api/v1/pods?{query}"), &format!("{verb} /v1 pods []"));
        }
        check(&Method::GET, "/api/v1/watch/namespaces/other/pods", "watch /v1 pods [other]");
        check(
            &Method::PUT,
            "/api/v1/namespaces/other/finalize",
            "update /v1 namespaces [other] other finalize",
        );
        check(&Method::PUT, "/api/v1/namespaces/other/status", "update /v1 namespaces [other] other status");
        check(&Method::PATCH, "/api/v1/namespaces/other/pods/foo", "patch /v1 pods [other] foo");
        check(&Method::DELETE, "/api/v1/namespaces/other/pods/foo", "delete /v1 pods [other] foo");
        check(&Method::POST, "/api/v1/namespaces/other/pods", "create /v1 pods [other]");
        check(&Method::DELETE, "/api/v1/nodes", "deletecollection /v1 nodes []");
        check(&Method::DELETE, "/api/v1/namespaces", "deletecollection /v1 namespaces []");
        check(&Method::DELETE, "/api/v1/namespaces/other/pods", "deletecollection /v1 pods [other]");
        check(
            &Method::POST,
            "/apis/extensions/v1/namespaces/other/pods",
            "create extensions/v1 pods [other]",
        );
        check(
            &Method::GET,
            "/apis/apps/v1/namespaces/a/deployments/b/scale",
            "get apps/v1 deployments [a] b scale",
        );
        check(
            &Method::GET,
            "/apis/rbac/v1/clusterroles/system%3Anode",
            "get rbac/v1 clusterroles [] system:node",
        );
        check(&Method::GET, "/api/v1", "get -");
        check(&Method::GET, "/apis/apps", "get -");
        check(&Method::GET, "/healthz", "get -");
    }
}
