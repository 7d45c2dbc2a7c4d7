//! What their objects have to say.
//!
//! Source: the `validation` packages of kubernetes `pkg/apis`.

use super::check::{
    self,
    Check::{self, Immutable, Name, OneOf, Required},
};
use crate::{error::FieldError, kind::containers, name::NameRule, object::Object, value::Value};

pub(super) const TRUST_BUNDLE: &[Check] = &[
    Required("spec.trustBundle", "at least one trust anchor must be provided"),
    Immutable("spec.signerName"),
];

pub(super) const POD_CERTIFICATE: &[Check] =
    &[Required("spec.signerName", ""), Name("spec.podName", NameRule::DnsSubdomain), Immutable("spec")];

pub(super) const IP_ADDRESS: &[Check] = &[
    Required("spec.parentRef", ""),
    Required("spec.parentRef.resource", ""),
    Required("spec.parentRef.name", ""),
    Immutable("spec.parentRef"),
];

pub(super) const SERVICE_RANGE: &[Check] =
    &[Required("spec.cidrs", "at least one CIDR required"), Immutable("spec.cidrs")];

pub(super) const STORAGE_DRIVER: &[Check] = &[
    OneOf("spec.fsGroupPolicy", &["File", "None", "ReadWriteOnceWithFSType"]),
    Immutable("spec.attachRequired"),
    Immutable("spec.volumeLifecycleModes"),
];

pub(super) const STORAGE_CAPACITY: &[Check] = &[
    Required("storageClassName", ""),
    Name("storageClassName", NameRule::DnsSubdomain),
    Immutable("nodeTopology"),
    Immutable("storageClassName"),
];

pub(super) const MUTATING_POLICY: &[Check] = &[
    OneOf("spec.failurePolicy", FAILURE_POLICIES),
    Required("spec.matchConstraints", ""),
    Required("spec.matchConstraints.resourceRules", ""),
    Required("spec.mutations", "mutations must contain at least one item"),
    Required("spec.reinvocationPolicy", ""),
    OneOf("spec.reinvocationPolicy", &["IfNeeded", "Never"]),
];

pub(super) const MUTATING_BINDING: &[Check] =
    &[Required("spec.policyName", ""), Name("spec.policyName", NameRule::DnsSubdomain)];

pub(super) const RUNTIME_CLASS: &[Check] =
    &[Required("handler", ""), Name("handler", NameRule::DnsLabel), Immutable("handler")];

pub(super) const CLAIM: &[Check] = &[Immutable("spec")];

pub(super) const SLICE: &[Check] = &[
    Required("spec.driver", ""),
    Required("spec.pool.name", ""),
    Immutable("spec.driver"),
    Immutable("spec.pool.name"),
    Immutable("spec.nodeName"),
];

pub(super) const MIGRATION: &[Check] =
    &[Required("spec.resource.resource", "resource is required to be set"), Immutable("spec")];

const POLICY: &[Check] = &[
    OneOf("spec.failurePolicy", FAILURE_POLICIES),
    Required("spec.matchConstraints", ""),
    Required("spec.matchConstraints.resourceRules", ""),
    OneOf("spec.matchConstraints.matchPolicy", &["Equivalent", "Exact"]),
];

const FAILURE_POLICIES: &[&str] = &["Fail", "Ignore"];

/// Source: core `validation.ValidatePodTemplate`.
pub(super) fn pod_template(new: &Object, _: Option<&Object>) -> Vec<FieldError> {
    containers::spec(new.at("/template/spec"), "template.spec")
}

/// It has one source, and is never changed.
pub(super) fn attachment(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    const CHECKS: &[Check] =
        &[Required("spec.attacher", ""), Required("spec.nodeName", ""), Immutable("spec")];
    let mut problems = check::all(CHECKS, new, old);
    let has = |field: &str| new.at(&format!("/spec/source/{field}")).is_some_and(|value| !value.is_null());
    let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (has("inlineVolumeSpec"), has("persistentVolumeName")) {
        (false, false) => problems.push(FieldError::required("spec.source", detail)),
        (true, true) => problems.push(FieldError::forbidden("spec.source", detail)),
        _ => {}
    }
    problems
}

/// It is never changed.
pub(super) fn attributes_class(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    const CHECKS: &[Check] = &[
        Required("driverName", ""),
        Name("driverName", NameRule::DnsSubdomain),
        Required("parameters", "must contain at least one key/value pair"),
    ];
    let mut problems = check::all(CHECKS, new, None);
    for field in ["driverName", "parameters"] {
        if old.is_some_and(|old| old.0.get(field) != new.0.get(field)) {
            problems.push(FieldError::forbidden(field, &format!("updates to {field} are forbidden.")));
        }
    }
    problems
}

/// It validates or audits something.
pub(super) fn validating_policy(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = check::all(POLICY, new, old);
    let fields = ["validations", "auditAnnotations"];
    if fields.iter().all(|field| items(new, &format!("/spec/{field}")).is_empty()) {
        let detail = "validations or auditAnnotations must contain at least one item";
        problems.extend(fields.map(|field| FieldError::required(&format!("spec.{field}"), detail)));
    }
    problems
}

/// It does something with what its policy finds.
pub(super) fn validating_binding(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    const ACTIONS: &[&str] = &["Audit", "Deny", "Warn"];
    const PATH: &str = "spec.validationActions";
    let mut problems = check::all(MUTATING_BINDING, new, old);
    let actions = items(new, "/spec/validationActions");
    let words: Vec<&str> = actions.iter().filter_map(Value::as_str).collect();
    for (index, word) in words.iter().enumerate() {
        let path = format!("{PATH}[{index}]");
        if !ACTIONS.contains(word) {
            problems.push(FieldError::not_supported(&path, *word, ACTIONS));
        } else if words[..index].contains(word) {
            problems.push(FieldError::duplicate(&path, &(*word).into()));
        }
    }
    if words.contains(&"Deny") && words.contains(&"Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        problems.push(FieldError::invalid(PATH, new.at("/spec/validationActions"), detail));
    }
    if words.is_empty() {
        problems.push(FieldError::required(PATH, "at least one validation action is required"));
    }
    problems
}

/// Its rules say who asks for what.
pub(super) fn flow_schema(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    const CHECKS: &[Check] = &[
        Required("spec.priorityLevelConfiguration.name", "must reference a priority level"),
        OneOf("spec.distinguisherMethod.type", &["ByNamespace", "ByUser"]),
    ];
    let precedence = new.at("/spec/matchingPrecedence");
    let detail = match precedence.and_then(Value::as_i64).unwrap_or_default() {
        ..=0 => Some("must be a positive value"),
        1 if new.name() != "exempt" => Some("only the schema named 'exempt' may have matchingPrecedence 1"),
        10_001.. => Some("must not be greater than 10000"),
        _ => None,
    };
    let invalid = |detail| FieldError::invalid("spec.matchingPrecedence", precedence, detail);
    let mut problems: Vec<FieldError> = detail.map(invalid).into_iter().collect();
    problems.extend(check::all(CHECKS, new, old));
    for (index, rule) in items(new, "/spec/rules").iter().enumerate() {
        let path = format!("spec.rules[{index}]");
        let is_empty = |field: &str| rule[field].as_array().is_none_or(Vec::is_empty);
        if is_empty("subjects") {
            let detail = "subjects must contain at least one value";
            problems.push(FieldError::required(&format!("{path}.subjects"), detail));
        }
        if is_empty("resourceRules") && is_empty("nonResourceRules") {
            let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
            problems.push(FieldError::required(&path, detail));
        }
    }
    problems
}

/// It is limited, or the one that is not.
pub(super) fn priority_level(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    const CHECKS: &[Check] = &[
        Required("spec.type", ""),
        OneOf("spec.type", &["Exempt", "Limited"]),
        OneOf(RESPONSE, &["Queue", "Reject"]),
    ];
    const RESPONSE: &str = "spec.limited.limitResponse.type";
    let mut problems = Vec::new();
    let is_exempt = new.str_at("/spec/type") == "Exempt";
    if is_exempt != (new.name() == "exempt") {
        let detail = "must be 'Exempt' if and only if `name` is 'exempt'";
        problems.push(FieldError::invalid("spec.type", new.at("/spec/type"), detail));
    }
    problems.extend(check::all(CHECKS, new, old));
    let has = |field: &str| new.at(&format!("/spec/{field}")).is_some_and(|value| !value.is_null());
    match new.str_at("/spec/type") {
        "Exempt" if has("limited") => {
            problems.push(FieldError::forbidden("spec.limited", "must be nil if the type is not Limited"));
        }
        "Limited" if has("exempt") => {
            problems.push(FieldError::forbidden("spec.exempt", "must be nil if the type is Limited"));
        }
        "Limited" if !has("limited") => {
            problems.push(FieldError::required("spec.limited", "must not be empty when type is Limited"));
        }
        _ => {}
    }
    problems
}

fn items<'a>(object: &'a Object, pointer: &str) -> &'a [Value] {
    object.at(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
