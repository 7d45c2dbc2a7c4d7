//! Tokens of service accounts: who asks for one, and whose one is.

use jiff::Timestamp;

use super::{cluster::Cluster, resource::Resource};
use crate::{
    clock::rfc3339,
    context::UserInfo,
    error::{FieldError, Status},
    object::Object,
    storage::Key,
    value::{Value, json},
};

impl Resource<'_> {
    /// Fills in a `TokenRequest` for the service account that the request names.
    ///
    /// # Errors
    /// 404 without the account or the object that the token is bound to, 409 if either is another one, 422 for what
    /// cannot be asked for.
    ///
    /// Source: core `serviceaccount/storage.TokenREST.Create`.
    pub(crate) fn issue_token(&self, request: &mut Object) -> Result<(), Status> {
        let account = self.account()?;
        self.check_request(request, &account)?;
        let now = self.cluster.clock.now();
        let spec = request.section("spec");
        if spec.get("audiences").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            spec.insert("audiences".into(), json!([ISSUER]));
        }
        let seconds = spec.get("expirationSeconds").and_then(Value::as_i64).unwrap_or(DEFAULT_SECONDS);
        spec.insert("expirationSeconds".into(), seconds.into());
        let expires = now.as_second().saturating_add(seconds);
        let bound = self.bound(request)?;
        let claims = self.claims(request, &account, bound.as_ref(), now.as_second(), expires);
        let token = self.cluster.service_tokens.issue(&claims).map_err(Status::internal_error)?;
        let expires = Timestamp::from_second(expires).unwrap_or(Timestamp::MAX);
        let metadata = request.metadata_mut();
        for field in ["name", "namespace", "uid"] {
            metadata.insert(field.into(), account.meta(field).into());
        }
        metadata.insert("creationTimestamp".into(), rfc3339(now).into());
        request.put("status", Some(json!({"token": token, "expirationTimestamp": rfc3339(expires)})));
        Ok(())
    }

    fn account(&self) -> Result<Object, Status> {
        let found = self.cluster.store.get(&self.kind.prefix, &self.key());
        Ok(Object::decode(&found.ok_or_else(|| Status::not_found(self.kind, &self.info.name))?)?)
    }

    fn check_request(&self, request: &Object, account: &Object) -> Result<(), Status> {
        let mut problems = Vec::new();
        for field in ["name", "namespace"] {
            let given = request.meta(field);
            if !given.is_empty() && given != account.meta(field) {
                let detail = format!("must match the service account {field} if specified");
                problems.push(FieldError::invalid(
                    &format!("metadata.{field}"),
                    Some(&given.into()),
                    &detail,
                ));
            }
        }
        let seconds = request.at("/spec/expirationSeconds");
        match seconds.and_then(Value::as_i64).unwrap_or(DEFAULT_SECONDS) {
            ..SHORTEST_SECONDS => {
                let detail = "may not specify a duration less than 10 minutes";
                problems.push(FieldError::invalid("spec.expirationSeconds", seconds, detail));
            }
            SHORTEST_SECONDS..=LONGEST_SECONDS => {}
            _ => {
                let detail = "may not specify a duration larger than 2^32 seconds";
                problems.push(FieldError::invalid("spec.expirationSeconds", seconds, detail));
            }
        }
        Status::refuse_options(REQUEST, &problems)?;
        let uid = request.meta("uid");
        if !uid.is_empty() && uid != account.uid() {
            let cause = format!(
                "the UID in the token request ({uid}) does not match the UID of the service account ({})",
                account.uid()
            );
            return Err(Status::conflict(self.kind, &self.info.name, &cause));
        }
        Ok(())
    }

    /// The pod or the secret that a token dies with.
    fn bound(&self, request: &Object) -> Result<Option<Object>, Status> {
        let Some(Value::Object(reference)) = request.at("/spec/boundObjectRef") else { return Ok(None) };
        let text = |field: &str| reference.get(field).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind, name) = (text("apiVersion"), text("kind"), text("name"));
        let served = self.cluster.served();
        let row = bindable(kind).filter(|_| api_version == "v1").and_then(|it| served.find("", "v1", it));
        let Some(row) = row else {
            let text = format!("cannot bind token to object of type {api_version}, Kind={kind}");
            return Err(Status::bad_request(text));
        };
        let namespace = if row.is_namespaced() { self.namespace() } else { "" };
        let found = self.cluster.store.get(&row.prefix, &Key::new(namespace, name));
        let found = Object::decode(&found.ok_or_else(|| Status::not_found(row, name))?)?;
        let account = &self.info.name;
        if kind == "Pod" && found.str_at("/spec/serviceAccountName") != account {
            return Err(Status::bad_request(format!(
                "cannot bind token for serviceaccount {account:?} to pod running with different serviceaccount name."
            )));
        }
        if !text("uid").is_empty() && text("uid") != found.uid() {
            let cause = format!(
                "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated",
                text("uid")
            );
            return Err(Status::conflict(row, name, &cause));
        }
        Ok(Some(found))
    }

    /// Source: kubernetes `pkg/serviceaccount.Claims`.
    fn claims(
        &self,
        request: &Object,
        account: &Object,
        bound: Option<&Object>,
        now: i64,
        expires: i64,
    ) -> Value {
        let (namespace, name) = (account.namespace(), account.name());
        let identity = |object: &Object| json!({"name": object.name(), "uid": object.uid()});
        let mut own = json!({"namespace": namespace, "serviceaccount": identity(account)});
        if let Some(bound) = bound {
            own[&*bound.str_at("/kind").to_lowercase()] = identity(bound);
        }
        json!({
            "iss": ISSUER, "sub": format!("system:serviceaccount:{namespace}:{name}"),
            "aud": request.at("/spec/audiences"), "iat": now, "nbf": now, "exp": expires,
            "jti": self.cluster.identity.uid(), "kubernetes.io": own,
        })
    }
}

impl Cluster {
    /// Whose token it is; `None` if it is not one of this server, has expired, or its account or what it is bound to is
    /// gone.
    ///
    /// Source: kubernetes `pkg/serviceaccount.validator.Validate`.
    pub(crate) fn token_user(&self, token: &str) -> Option<UserInfo> {
        let claims = self.service_tokens.read(token, self.clock.now())?;
        let is_for_us = claims["aud"].as_array()?.iter().any(|audience| audience == ISSUER);
        let own = &claims["kubernetes.io"];
        let namespace = own["namespace"].as_str().filter(|_| is_for_us)?;
        if !self.has(namespace, "serviceaccounts", &own["serviceaccount"]) {
            return None;
        }
        for kind in ["Pod", "Secret", "Node"] {
            let bound = &own[&*kind.to_lowercase()];
            if !bound.is_null() && !self.has(namespace, bindable(kind)?, bound) {
                return None;
            }
        }
        let groups = ["system:serviceaccounts", "system:authenticated"].map(str::to_owned);
        let of_namespace = format!("system:serviceaccounts:{namespace}");
        let mut user = UserInfo::new(claims["sub"].as_str()?, groups.into_iter().chain([of_namespace]));
        user.uid = own["serviceaccount"]["uid"].as_str()?.to_owned();
        let credential = format!("JTI={}", claims["jti"].as_str()?);
        user.extra.insert("authentication.kubernetes.io/credential-id".to_owned(), vec![credential]);
        Some(user)
    }

    /// Whether an object is still the one that a token names.
    fn has(&self, namespace: &str, plural: &str, identity: &Value) -> bool {
        let served = self.served();
        let Some(row) = served.find("", "v1", plural) else { return false };
        let namespace = if row.is_namespaced() { namespace } else { "" };
        let key = Key::new(namespace, identity["name"].as_str().unwrap_or_default());
        let found = self.store.get(&row.prefix, &key);
        let found = found.and_then(|document| Object::decode(&document).ok());
        found.is_some_and(|object| identity["uid"] == object.uid())
    }
}

/// The resource of the objects that a token can die with.
fn bindable(kind: &str) -> Option<&'static str> {
    match kind {
        "Pod" => Some("pods"),
        "Secret" => Some("secrets"),
        "Node" => Some("nodes"),
        _ => None,
    }
}

/// Who says so, and for whom: the server itself.
const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
const REQUEST: &str = "TokenRequest.authentication.k8s.io";
const DEFAULT_SECONDS: i64 = 3600;
const SHORTEST_SECONDS: i64 = 600;
const LONGEST_SECONDS: i64 = 1 << 32;
