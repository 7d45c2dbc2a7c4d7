//! What a webhook configuration has to be like.

use std::collections::HashSet;

use crate::{error::FieldError, name::NameRule, object::Object, value::Value};

/// Source: admissionregistration `validation.ValidateMutatingWebhookConfiguration`, `ValidateValidatingWebhookConfiguration`.
///
/// # Differences from Go
/// Match conditions are refused: this server evaluates no CEL, and a condition that is ignored lets pass what it should not.
pub(super) fn webhook_configuration(new: &Object, _: Option<&Object>) -> Vec<FieldError> {
    let webhooks = new.at("/webhooks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (mut problems, mut names) = (Vec::new(), HashSet::new());
    for (index, webhook) in webhooks.iter().enumerate() {
        let mut report = Report { path: format!("webhooks[{index}]"), webhook, problems: &mut problems };
        report.name(&mut names);
        report.one_of("failurePolicy", &["Fail", "Ignore"]);
        report.one_of("matchPolicy", &["Equivalent", "Exact"]);
        report.one_of("reinvocationPolicy", &["Never", "IfNeeded"]);
        report.side_effects();
        report.review_versions();
        report.timeout();
        report.client();
        report.rules();
        if webhook["matchConditions"].as_array().is_some_and(|conditions| !conditions.is_empty()) {
            report.forbid("matchConditions", "this server does not evaluate CEL");
        }
    }
    problems
}

struct Report<'a, 'b> {
    path: String,
    webhook: &'a Value,
    problems: &'b mut Vec<FieldError>,
}

impl<'a> Report<'a, '_> {
    fn name(&mut self, names: &mut HashSet<&'a str>) {
        let name = self.webhook["name"].as_str().unwrap_or_default();
        if name.is_empty() {
            return self.require("name", "");
        }
        for text in NameRule::DnsSubdomain.check(name) {
            self.invalid("name", &text);
        }
        if name.split('.').count() < 3 {
            self.invalid("name", "should be a domain with at least three segments separated by dots");
        }
        if !names.insert(name) {
            let path = format!("{}.name", self.path);
            self.problems.push(FieldError::duplicate(&path, &name.into()));
        }
    }

    fn one_of(&mut self, field: &str, supported: &[&str]) {
        if let Some(value) = self.webhook[field].as_str().filter(|value| !supported.contains(value)) {
            let path = format!("{}.{field}", self.path);
            self.problems.push(FieldError::not_supported(&path, value, supported));
        }
    }

    fn side_effects(&mut self) {
        match self.webhook["sideEffects"].as_str() {
            None => self.require("sideEffects", "must specify one of None, NoneOnDryRun"),
            Some(_) => self.one_of("sideEffects", &["None", "NoneOnDryRun"]),
        }
    }

    fn review_versions(&mut self) {
        let versions = self.webhook["admissionReviewVersions"].as_array();
        let versions = versions.map(Vec::as_slice).unwrap_or_default();
        if versions.is_empty() {
            self.require("admissionReviewVersions", "must specify one of v1, v1beta1");
        } else if !versions.iter().any(|version| *version == "v1" || *version == "v1beta1") {
            self.invalid("admissionReviewVersions", "must include at least one of v1, v1beta1");
        }
    }

    fn timeout(&mut self) {
        let timeout = &self.webhook["timeoutSeconds"];
        if !timeout.is_null() && !timeout.as_i64().is_some_and(|seconds| (1..=30).contains(&seconds)) {
            self.invalid("timeoutSeconds", "the timeout value must be between 1 and 30 seconds");
        }
    }

    fn client(&mut self) {
        let client = &self.webhook["clientConfig"];
        let (url, service) = (client["url"].as_str(), &client["service"]);
        match (url, service.is_null()) {
            (Some(_), false) | (None, true) => {
                self.require("clientConfig", "exactly one of url or service is required");
            }
            (Some(url), true) => match url.parse::<http::Uri>().ok() {
                Some(parsed) if parsed.host().is_none() => {
                    self.invalid("clientConfig.url", "host must be specified");
                }
                Some(parsed) if parsed.scheme_str() != Some("https") => {
                    self.invalid("clientConfig.url", "'https' is the only allowed URL scheme");
                }
                Some(parsed) if parsed.query().is_some() => {
                    self.invalid("clientConfig.url", "query parameters are not permitted");
                }
                Some(_) => {}
                None => self.invalid("clientConfig.url", "url must be a valid URL"),
            },
            (None, false) => {
                for field in ["name", "namespace"] {
                    if service[field].as_str().unwrap_or_default().is_empty() {
                        self.require(
                            &format!("clientConfig.service.{field}"),
                            &format!("service {field} is required"),
                        );
                    }
                }
            }
        }
    }

    fn rules(&mut self) {
        for (index, rule) in self.webhook["rules"].as_array().into_iter().flatten().enumerate() {
            for field in ["operations", "apiGroups", "apiVersions", "resources"] {
                if rule[field].as_array().is_none_or(Vec::is_empty) {
                    self.require(&format!("rules[{index}].{field}"), "");
                }
            }
        }
    }

    fn require(&mut self, field: &str, detail: &str) {
        self.problems.push(FieldError::required(&format!("{}.{field}", self.path), detail));
    }

    fn forbid(&mut self, field: &str, detail: &str) {
        self.problems.push(FieldError::forbidden(&format!("{}.{field}", self.path), detail));
    }

    fn invalid(&mut self, field: &str, detail: &str) {
        let value = self.webhook.pointer(&format!("/{}", field.replace('.', "/")));
        self.problems.push(FieldError::invalid(&format!("{}.{field}", self.path), value, detail));
    }
}

#[cfg(test)]
mod tests {
    use crate::value::json;

    use super::*;

    #[track_caller]
    fn check(change: Value, expected: &[&str]) {
        let mut webhook = json!({
            "name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "n", "name": "s"}},
        });
        crate::patch::merge_patch(&mut webhook, change);
        let object = json!({"webhooks": [webhook]}).as_object().cloned().unwrap();
        let problems = webhook_configuration(&Object(object), None);
        assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn configurations_are_judged_as_upstream_judges_them() {
        check(json!({}), &[]);
        check(
            json!({"name": "a.b", "timeoutSeconds": 31}),
            &[
                r#"webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots"#,
                "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
            ],
        );
        check(
            json!({"sideEffects": "Some", "admissionReviewVersions": ["v2"]}),
            &[
                r#"webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun""#,
                r#"webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1"#,
            ],
        );
        let both = "webhooks[0].clientConfig: Required value: exactly one of url or service is required";
        check(json!({"clientConfig": {"url": "https://a"}}), &[both]);
        check(
            json!({"clientConfig": {"url": "http://a", "service": null}}),
            &[
                r#"webhooks[0].clientConfig.url: Invalid value: "http://a": 'https' is the only allowed URL scheme"#,
            ],
        );
        check(
            json!({"matchConditions": [{"name": "a", "expression": "true"}], "rules": [{"operations": ["*"]}]}),
            &[
                "webhooks[0].rules[0].apiGroups: Required value",
                "webhooks[0].rules[0].apiVersions: Required value",
                "webhooks[0].rules[0].resources: Required value",
                "webhooks[0].matchConditions: Forbidden: this server does not evaluate CEL",
            ],
        );
    }
}
