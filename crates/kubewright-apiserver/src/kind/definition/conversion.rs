//! How objects get from one version to another.

use crate::{error::FieldError, name::NameRule, object::Object, value::Value};

/// Source: apiextensions `validation.validateCustomResourceConversion`.
pub(super) fn check(object: &Object) -> Vec<FieldError> {
    let Some(conversion) = object.at("/spec/conversion").filter(|value| !value.is_null()) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let strategy = conversion["strategy"].as_str().unwrap_or_default();
    match strategy {
        "" => problems.push(FieldError::required(&field("strategy"), "")),
        "None" | "Webhook" => {}
        other => problems.push(FieldError::not_supported(&field("strategy"), other, &["None", "Webhook"])),
    }
    let client = conversion.pointer("/webhook/clientConfig").filter(|client| !client.is_null());
    let reviews = conversion.pointer("/webhook/conversionReviewVersions").and_then(Value::as_array);
    let reviews = reviews.map(Vec::as_slice).unwrap_or_default();
    if strategy == "Webhook" {
        let detail = match client {
            None => Some("required when strategy is set to Webhook"),
            Some(client) if client.get("url").is_some() == client.get("service").is_some() => {
                Some("exactly one of url or service is required")
            }
            Some(_) => None,
        };
        problems.extend(detail.map(|detail| FieldError::required(&field("webhookClientConfig"), detail)));
        problems.extend(review_versions(reviews));
        return problems;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    for (name, is_set) in
        [("webhookClientConfig", client.is_some()), ("conversionReviewVersions", !reviews.is_empty())]
    {
        problems.extend(is_set.then(|| FieldError::forbidden(&field(name), detail)));
    }
    problems
}

/// Source: apiextensions `validation.validateConversionReviewVersions`.
fn review_versions(versions: &[Value]) -> Vec<FieldError> {
    let path = field("conversionReviewVersions");
    if versions.is_empty() {
        return vec![FieldError::required(&path, "")];
    }
    let mut problems = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let at = format!("{path}[{index}]");
        let mut bad = |detail: &str| problems.push(FieldError::invalid(&at, Some(version), detail));
        if versions[..index].contains(version) {
            bad("duplicate version");
            continue;
        }
        for text in NameRule::Dns1035Label.check(version.as_str().unwrap_or_default()) {
            bad(&text);
        }
    }
    if !versions.iter().any(|version| matches!(version.as_str(), Some("v1" | "v1beta1"))) {
        let detail = "must include at least one of v1, v1beta1";
        problems.push(FieldError::invalid(&path, Some(&versions.to_vec().into()), detail));
    }
    problems
}

fn field(name: &str) -> String {
    format!("spec.conversion.{name}")
}
