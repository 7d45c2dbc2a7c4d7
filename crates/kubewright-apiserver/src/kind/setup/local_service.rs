//! `APIService`s: which server serves a version of a group.

use jiff::Timestamp;

use super::check::{
    self,
    Check::{self, Name, Required},
};
use crate::{
    clock::rfc3339,
    error::FieldError,
    kind::{defaults::fill, rules::Rules, strategy::Strategy},
    name::NameRule,
    object::Object,
    value::{Value, json},
};

/// Versions of groups that this server or another one serves.
#[derive(Debug)]
pub(super) struct ApiServices(pub(super) Rules);

impl Strategy for ApiServices {
    fn rules(&self) -> &Rules {
        &self.0
    }

    /// What this server serves by itself is available at once.
    ///
    /// Source: kube-aggregator `registry/apiservice.apiServerStrategy.PrepareForCreate`.
    fn stamp(&self, new: &mut Object, old: Option<&Object>, now: Timestamp, _: &dyn Fn() -> Value) {
        if old.is_none() && new.at("/spec/service").is_none_or(Value::is_null) {
            let condition = json!({
                "type": "Available", "status": "True", "reason": "Local",
                "message": "Local APIServices are always available", "lastTransitionTime": rfc3339(now),
            });
            new.put("status", Some(json!({"conditions": [condition]})));
        }
    }
}

/// Source: kube-aggregator `v1.SetDefaults_ServiceReference`.
pub(super) fn default(object: &mut Object) {
    if let Some(Value::Object(service)) = object.section("spec").get_mut("service") {
        fill(service, "port", 443);
    }
}

/// Source: kube-aggregator `validation.ValidateAPIService`.
pub(super) fn validate(new: &Object, _: Option<&Object>) -> Vec<FieldError> {
    const CHECKS: &[Check] =
        &[Name("spec.group", NameRule::DnsSubdomain), Name("spec.version", NameRule::Dns1035Label)];
    const OF_SERVICE: &[Check] = &[Required("spec.service.namespace", ""), Required("spec.service.name", "")];
    let mut problems = Vec::new();
    let (group, version) = (new.str_at("/spec/group"), new.str_at("/spec/version"));
    let name = format!("{version}.{group}");
    if new.name() != name {
        let detail = format!("must be `spec.version+\".\"+spec.group`: \"{name}\"");
        problems.push(FieldError::invalid("metadata.name", new.at("/metadata/name"), &detail));
    }
    if group.is_empty() && version != "v1" {
        let detail = "only v1 may have an empty group and it better be legacy kube";
        problems.push(FieldError::required("spec.group", detail));
    }
    problems.extend(check::all(CHECKS, new, None));
    for (field, max, detail) in [
        ("groupPriorityMinimum", 20_000, "must be positive and less than 20000"),
        ("versionPriority", 1_000, "must be positive and less than 1000"),
    ] {
        let number = new.at(&format!("/spec/{field}")).and_then(Value::as_i64).unwrap_or_default();
        if !(1..=max).contains(&number) {
            problems.push(FieldError::invalid(&format!("spec.{field}"), Some(&number.into()), detail));
        }
    }
    let is_insecure = new.at("/spec/insecureSkipTLSVerify") == Some(&Value::Bool(true));
    let has_bundle = !new.str_at("/spec/caBundle").is_empty();
    let insecure = |detail| FieldError::invalid("spec.insecureSkipTLSVerify", Some(&true.into()), detail);
    if new.at("/spec/service").is_some_and(Value::is_object) {
        problems.extend(check::all(OF_SERVICE, new, None));
        if is_insecure && has_bundle {
            problems.push(insecure("may not be true if caBundle is present"));
        }
    } else if is_insecure {
        problems.push(insecure("local APIServices may not have insecureSkipTLSVerify"));
    }
    problems
}
