//! The checks that are cheap, certain and needed most. The schema-driven ones are the business of `schema`.

use super::containers;
use crate::{error::FieldError, name::check_config_key, object::Object, value::Value};

/// Checks a new object, with the one it replaces if there is one.
pub(crate) type Validate = fn(&Object, Option<&Object>) -> Vec<FieldError>;

/// ConfigMaps and Secrets may be frozen.
///
/// Source: core `validation.ValidateConfigMapUpdate`, `ValidateSecretUpdate`.
fn immutable_when_asked(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let Some(old) = old else { return Vec::new() };
    let mut problems = Vec::new();
    if old.at("/immutable") == Some(&Value::Bool(true)) {
        if new.at("/immutable") != Some(&Value::Bool(true)) {
            problems.push(FieldError::forbidden("immutable", "field is immutable when `immutable` is set"));
        }
        for field in ["data", "binaryData"] {
            if new.0.get(field) != old.0.get(field) {
                problems.push(FieldError::forbidden(field, "field is immutable when `immutable` is set"));
            }
        }
    }
    problems
}

/// Source: core `validation.ValidateConfigMap`.
pub(super) fn config_map(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = immutable_when_asked(new, old);
    let mut bytes = 0;
    for field in ["data", "binaryData"] {
        for (key, value) in entries(new, field) {
            let path = format!("{field}[{key}]");
            problems.extend(bad_key(&path, key));
            if field == "data" && entries(new, "binaryData").any(|(other, _)| other == key) {
                let detail = "duplicate of key present in binaryData";
                problems.push(FieldError::invalid(&path, Some(&key.into()), detail));
            }
            let text = value.as_str().unwrap_or_default();
            bytes += if field == "data" { text.len() } else { decoded_length(text) };
        }
    }
    if bytes > MAX_DATA_BYTES {
        // The whole object is to blame.
        problems.push(FieldError::too_long("", MAX_DATA_BYTES));
    }
    problems
}

fn entries<'a>(object: &'a Object, field: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let map = object.0.get(field).and_then(Value::as_object).into_iter().flatten();
    map.map(|(key, value)| (key.as_str(), value))
}

fn bad_key(path: &str, key: &str) -> Vec<FieldError> {
    let texts = check_config_key(key);
    texts.iter().map(|text| FieldError::invalid(path, Some(&key.into()), text)).collect()
}

/// How many bytes stand in base64.
fn decoded_length(text: &str) -> usize {
    (text.len() / 4 * 3).saturating_sub(text.bytes().rev().take_while(|byte| *byte == b'=').count())
}

/// Source: core `MaxSecretSize`.
const MAX_DATA_BYTES: usize = 1 << 20;

/// What a Secret of a type has to have.
///
/// Source: core `validation.ValidateSecret`.
fn secret_data(new: &Object) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let mut bytes = 0;
    for (key, value) in entries(new, "data") {
        problems.extend(bad_key(&format!("data[{key}]"), key));
        bytes += value.as_str().map_or(0, decoded_length);
    }
    if bytes > MAX_DATA_BYTES {
        problems.push(FieldError::too_long("data", MAX_DATA_BYTES));
    }
    let missing = |key: &&&str| new.0.get("data").and_then(|data| data.get(key)).is_none();
    let required = |keys: &[&str]| {
        let missing = keys.iter().filter(missing);
        missing.map(|key| FieldError::required(&format!("data[{key}]"), "")).collect::<Vec<_>>()
    };
    problems.extend(match new.str_at("/type") {
        "kubernetes.io/service-account-token" => {
            let account = "kubernetes.io/service-account.name";
            let annotations = new.metadata().get("annotations");
            let given = annotations.and_then(|annotations| annotations.get(account)?.as_str());
            if given.unwrap_or_default().is_empty() {
                vec![FieldError::required(&format!("metadata.annotations[{account}]"), "")]
            } else {
                Vec::new()
            }
        }
        "kubernetes.io/dockercfg" => required(&[".dockercfg"]),
        "kubernetes.io/dockerconfigjson" => required(&[".dockerconfigjson"]),
        "kubernetes.io/basic-auth" => {
            // One of them is enough.
            let both = required(&["username", "password"]);
            if both.len() == 2 { both } else { Vec::new() }
        }
        "kubernetes.io/ssh-auth" => required(&["ssh-privatekey"]),
        "kubernetes.io/tls" => required(&["tls.crt", "tls.key"]),
        _ => Vec::new(),
    });
    problems
}

/// Source: coordination `validation.ValidateLeaseSpec`.
pub(super) fn lease(new: &Object, _: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let limits = [
        ("leaseDurationSeconds", 1, "must be greater than 0"),
        ("leaseTransitions", 0, "must be greater than or equal to 0"),
    ];
    for (field, least, detail) in limits {
        let value = new.at(&format!("/spec/{field}"));
        if value.and_then(Value::as_i64).is_some_and(|number| number < least) {
            problems.push(FieldError::invalid(&format!("spec.{field}"), value, detail));
        }
    }
    let has = |field: &str| !new.str_at(&format!("/spec/{field}")).is_empty();
    if has("preferredHolder") && !has("strategy") {
        let detail = "may only be specified if `strategy` is defined";
        problems.push(FieldError::forbidden("spec.preferredHolder", detail));
    }
    problems
}

/// Source: rbac `validation.ValidateRole`.
pub(super) fn role(new: &Object, _: Option<&Object>) -> Vec<FieldError> {
    policy_rules(new, true)
}

/// Source: rbac `validation.ValidateClusterRole`.
pub(super) fn cluster_role(new: &Object, _: Option<&Object>) -> Vec<FieldError> {
    policy_rules(new, false)
}

/// Source: rbac `validation.ValidatePolicyRule`.
fn policy_rules(new: &Object, is_namespaced: bool) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let rules = new.at("/rules").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, rule) in rules.iter().enumerate() {
        let path = |field: &str| format!("rules[{index}].{field}");
        let is_empty = |field: &str| rule[field].as_array().is_none_or(Vec::is_empty);
        let mut require = |field: &str, detail: &str| {
            if is_empty(field) {
                problems.push(FieldError::required(&path(field), detail));
            }
        };
        require("verbs", "verbs must contain at least one value");
        if is_empty("nonResourceURLs") {
            require("apiGroups", "resource rules must supply at least one api group");
            require("resources", "resource rules must supply at least one resource");
            continue;
        }
        let mut refuse = |detail: &str| {
            let value = rule.get("nonResourceURLs");
            problems.push(FieldError::invalid(&path("nonResourceURLs"), value, detail));
        };
        if is_namespaced {
            refuse("namespaced rules cannot apply to non-resource URLs");
        }
        if !["apiGroups", "resources", "resourceNames"].into_iter().all(is_empty) {
            refuse("rules cannot apply to both regular resources and non-resource URLs");
        }
    }
    problems
}

/// A Secret's type is fixed at birth.
pub(super) fn secret(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = immutable_when_asked(new, old);
    problems.extend(secret_data(new));
    if let Some(old) = old
        && old.str_at("/type") != new.str_at("/type")
    {
        problems.push(FieldError::immutable("type", new.at("/type")));
    }
    problems
}

/// A workload selects its own pods, and always the same ones.
///
/// Source: apps `validation.ValidateDeploymentSpec` and its siblings.
pub(super) fn workload(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if let Some(replicas) = new.at("/spec/replicas").and_then(Value::as_i64)
        && replicas < 0
    {
        problems.push(FieldError::invalid(
            "spec.replicas",
            new.at("/spec/replicas"),
            "must be greater than or equal to 0",
        ));
    }
    let selector = new.at("/spec/selector");
    if selector.is_none() {
        problems.push(FieldError::required("spec.selector", ""));
    }
    let labels = new.at("/spec/template/metadata/labels");
    let unmatched = new.at("/spec/selector/matchLabels").and_then(Value::as_object).is_some_and(|wanted| {
        wanted.iter().any(|(label, value)| labels.and_then(|labels| labels.get(label)) != Some(value))
    });
    if unmatched {
        let detail = "`selector` does not match template `labels`";
        problems.push(FieldError::invalid("spec.template.metadata.labels", labels, detail));
    }
    problems.extend(containers::of_template(new));
    if let Some(old) = old
        && old.at("/spec/selector") != selector
    {
        problems.push(FieldError::immutable("spec.selector", selector));
    }
    problems
}

/// Source: core `validation.ValidateReplicationControllerSpec`.
pub(super) fn replication_controller(new: &Object, _: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let replicas = new.at("/spec/replicas");
    if replicas.and_then(Value::as_i64).is_some_and(|replicas| replicas < 0) {
        let detail = "must be greater than or equal to 0";
        problems.push(FieldError::invalid("spec.replicas", replicas, detail));
    }
    let wanted = new.at("/spec/selector").and_then(Value::as_object).filter(|wanted| !wanted.is_empty());
    let labels = new.at("/spec/template/metadata/labels");
    let Some(wanted) = wanted else {
        problems.push(FieldError::required("spec.selector", ""));
        return problems;
    };
    if wanted.iter().any(|(label, value)| labels.and_then(|labels| labels.get(label)) != Some(value)) {
        let detail = "`selector` does not match template `labels`";
        problems.push(FieldError::invalid("spec.template.metadata.labels", labels, detail));
    }
    problems
}

/// What a role binding grants is fixed at birth.
///
/// Source: rbac `validation.ValidateRoleBindingUpdate`.
pub(super) fn role_binding(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let changed = old.is_some_and(|old| old.at("/roleRef") != new.at("/roleRef"));
    if changed {
        vec![FieldError::invalid("roleRef", new.at("/roleRef"), "cannot change roleRef")]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::value::json;

    use super::*;

    #[track_caller]
    fn check(validate: Validate, object: &Value, expected: &[&str]) {
        let object = Object(object.as_object().cloned().unwrap());
        let problems: Vec<String> = validate(&object, None).iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.starts_with(expected), "{problem}");
        }
    }

    #[test]
    fn data_has_good_keys_and_a_limit() {
        check(config_map, &json!({"data": {"a.b": "c"}, "binaryData": {"d": "ZQ=="}}), &[]);
        check(
            config_map,
            &json!({"data": {"a b": "c", "d": "e"}, "binaryData": {"d": "ZQ=="}}),
            &[
                "data[a b]: Invalid value: \"a b\": a valid config key must",
                "data[d]: Invalid value: \"d\": duplicate of key present in binaryData",
            ],
        );
        let large = "a".repeat(MAX_DATA_BYTES);
        check(config_map, &json!({"data": {"a": large}}), &[]);
        let problem = ": Too long: may not be more than 1048576 bytes";
        check(config_map, &json!({"data": {"a": large, "b": "c"}}), &[problem]);
        assert_eq!(["", "YQ==", "YWI=", "YWJj"].map(decoded_length), [0, 1, 2, 3]);
    }

    #[test]
    fn a_secret_has_what_its_type_says() {
        let of = |kind: &str, data: Value| json!({"type": kind, "data": data});
        check(secret, &of("Opaque", json!({"a/b": ""})), &["data[a/b]: Invalid value: \"a/b\""]);
        let missing = "data[tls.key]: Required value";
        check(secret, &of("kubernetes.io/tls", json!({"tls.crt": ""})), &[missing]);
        check(secret, &of("kubernetes.io/basic-auth", json!({"username": ""})), &[]);
        let both = ["data[username]: Required value", "data[password]: Required value"];
        check(secret, &of("kubernetes.io/basic-auth", json!({})), &both);
        let account = "metadata.annotations[kubernetes.io/service-account.name]: Required value";
        check(secret, &of("kubernetes.io/service-account-token", json!({})), &[account]);
    }

    #[test]
    fn a_replication_controller_selects_its_own_pods() {
        let of = |selector: Value| {
            json!({"spec": {"replicas": -1, "selector": selector,
            "template": {"metadata": {"labels": {"a": "b"}}}}})
        };
        let replicas = "spec.replicas: Invalid value: -1: must be greater than or equal to 0";
        check(replication_controller, &of(json!({"a": "b"})), &[replicas]);
        check(replication_controller, &of(json!({})), &[replicas, "spec.selector: Required value"]);
        let unmatched =
            "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match";
        check(replication_controller, &of(json!({"a": "c"})), &[replicas, unmatched]);
    }

    #[test]
    fn a_lease_lasts() {
        check(lease, &json!({"spec": {"leaseDurationSeconds": 1, "leaseTransitions": 0}}), &[]);
        check(
            lease,
            &json!({"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1, "preferredHolder": "a"}}),
            &[
                "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
                "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
                "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined",
            ],
        );
    }

    #[test]
    fn rules_say_what_may_be_done_to_what() {
        let rules = |rule: Value| json!({"rules": [rule]});
        let urls = json!({"verbs": ["get"], "nonResourceURLs": ["/"]});
        check(cluster_role, &rules(urls.clone()), &[]);
        let problem = r#"rules[0].nonResourceURLs: Invalid value: ["/"]: namespaced rules cannot apply"#;
        check(role, &rules(urls), &[problem]);
        let empty =
            ["verbs", "apiGroups", "resources"].map(|field| format!("rules[0].{field}: Required value: "));
        check(role, &rules(json!({"verbs": []})), &empty.each_ref().map(String::as_str));
        let mixed = json!({"verbs": ["get"], "nonResourceURLs": ["/"], "resources": ["pods"]});
        let problem = r#"rules[0].nonResourceURLs: Invalid value: ["/"]: rules cannot apply to both"#;
        check(cluster_role, &rules(mixed), &[problem]);
    }
}
