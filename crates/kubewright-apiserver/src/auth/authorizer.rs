//! Whether somebody may do what he asks for.

use std::fmt;

use crate::{
    context::{RequestInfo, ResourceInfo, UserInfo},
    error::Status,
};

/// Decides whether somebody may do what he asks for. It is asked about every request, in an order that nothing
/// promises, and holds the request up for as long as it takes.
///
/// Source: apiserver `authorization/authorizer.Authorizer`.
///
/// # Example: a server that lets nobody read Secrets
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use kube::{Api, Client, api::ListParams};
/// use kubewright_apiserver::{ApiServer, Authorizer, Decision, RequestInfo, UserInfo};
///
/// #[derive(Debug)]
/// struct NoSecrets;
///
/// impl Authorizer for NoSecrets {
///     fn authorize(&self, _: &UserInfo, request: &RequestInfo) -> Decision {
///         match &request.resource {
///             Some(resource) if resource.resource == "secrets" => Decision::deny("they are secret"),
///             _ => Decision::Allow,
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let server = ApiServer::builder().authorizer(NoSecrets).build();
/// let secrets: Api<Secret> = Api::default_namespaced(Client::new(server.service(), "default"));
/// let Err(kube::Error::Api(refused)) = secrets.list(&ListParams::default()).await else { panic!("nobody reads them") };
/// assert_eq!(refused.code, 403);
/// # }
/// ```
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// Whether `user` may do what `request` asks for.
    fn authorize(&self, user: &UserInfo, request: &RequestInfo) -> Decision;
}

/// What an [`Authorizer`] says of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// It is handled.
    Allow,
    /// It is answered with 403.
    Deny {
        /// What stands at the end of the message; empty for nothing.
        reason: String,
    },
}

impl Decision {
    /// The request is refused, for a reason that the client is told.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }
}

/// Everybody may do everything. The default.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlwaysAllow;

impl Authorizer for AlwaysAllow {
    fn authorize(&self, _: &UserInfo, _: &RequestInfo) -> Decision {
        Decision::Allow
    }
}

/// What the client of a request that was denied is told.
///
/// Source: apiserver `handlers/responsewriters.ForbiddenStatusError`.
pub(crate) fn forbidden(user: &UserInfo, request: &RequestInfo, reason: &str) -> Status {
    let (name, verb) = (&user.name, request.verb);
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    let Some(resource) = &request.resource else {
        let cause = format!("User {name:?} cannot {verb} path {:?}{because}", request.path);
        return Status::forbidden_path(&cause);
    };
    let ResourceInfo { group, resource: plural, subresource, namespace, .. } = resource;
    let slash = if subresource.is_empty() { "" } else { "/" };
    let place = if namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace {namespace:?}")
    };
    let what = format!("resource \"{plural}{slash}{subresource}\" in API group {group:?}");
    let cause = format!("User {name:?} cannot {verb} {what} {place}{because}");
    Status::forbidden(resource, &resource.name, &cause)
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::context::Query;

    #[track_caller]
    fn check(method: &Method, path: &str, reason: &str, expected: &str) {
        let request = RequestInfo::read(method, path, &Query::default());
        let status = forbidden(&UserInfo::new("ann", ["g"]), &request, reason);
        assert_eq!((status.code.as_u16(), &*status.reason, &*status.message), (403, "Forbidden", expected));
    }

    #[test]
    fn refusals_read_as_upstream_writes_them() {
        check(
            &Method::GET,
            "/api/v1/namespaces/n/pods",
            "",
            r#"pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "n""#,
        );
        check(
            &Method::PUT,
            "/apis/apps/v1/namespaces/n/deployments/web/scale",
            "no",
            r#"deployments.apps "web" is forbidden: User "ann" cannot update resource "deployments/scale" in API group "apps" in the namespace "n": no"#,
        );
        check(
            &Method::DELETE,
            "/api/v1/nodes/a",
            "",
            r#"nodes "a" is forbidden: User "ann" cannot delete resource "nodes" in API group "" at the cluster scope"#,
        );
        check(&Method::GET, "/metrics", "", r#"forbidden: User "ann" cannot get path "/metrics""#);
    }
}
