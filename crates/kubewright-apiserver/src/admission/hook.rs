//! One webhook, as a configuration declares it.

use std::time::Duration;

use super::rule::Rule;
use crate::{object::Object, selector::LabelSelector, value::Value, webhook::Endpoint};

/// One webhook of a configuration.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) name: String,
    pub(super) rules: Vec<Rule>,
    pub(super) match_policy: MatchPolicy,
    pub(super) namespace_selector: LabelSelector,
    pub(super) object_selector: LabelSelector,
    pub(super) failure_policy: FailurePolicy,
    /// Whether it may be called where nothing is to be stored.
    pub(super) takes_dry_runs: bool,
    /// Whether it is called again when another one changes the object after it.
    pub(super) is_reinvoked: bool,
    /// The version in which it is asked, `v1` if it takes that.
    pub(super) review_version: ReviewVersion,
    pub(super) endpoint: Endpoint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchPolicy {
    /// Rules name the resource and the version that the client uses.
    Exact,
    /// They may name any version of the resource.
    Equivalent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailurePolicy {
    Fail,
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReviewVersion {
    V1,
    V1Beta1,
}

impl Hook {
    /// The webhooks of a configuration that was stored, so that it is valid and has its defaults.
    pub(super) fn read_all(configuration: &Object) -> Vec<Self> {
        let webhooks = configuration.at("/webhooks").and_then(Value::as_array);
        webhooks.into_iter().flatten().map(Self::read).collect()
    }

    fn read(webhook: &Value) -> Self {
        let text = |field: &str| webhook[field].as_str().unwrap_or_default();
        let is = |field: &str, value: &str| text(field) == value;
        let versions = webhook["admissionReviewVersions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let known =
            versions.iter().filter_map(Value::as_str).find(|version| ["v1", "v1beta1"].contains(version));
        let timeout = Duration::from_secs(webhook["timeoutSeconds"].as_u64().unwrap_or(10));
        Self {
            name: text("name").to_owned(),
            rules: webhook["rules"].as_array().into_iter().flatten().map(Rule::read).collect(),
            match_policy: if is("matchPolicy", "Exact") {
                MatchPolicy::Exact
            } else {
                MatchPolicy::Equivalent
            },
            namespace_selector: LabelSelector::of_object(&webhook["namespaceSelector"]),
            object_selector: LabelSelector::of_object(&webhook["objectSelector"]),
            failure_policy: if is("failurePolicy", "Ignore") {
                FailurePolicy::Ignore
            } else {
                FailurePolicy::Fail
            },
            takes_dry_runs: is("sideEffects", "None") || is("sideEffects", "NoneOnDryRun"),
            is_reinvoked: is("reinvocationPolicy", "IfNeeded"),
            review_version: if known == Some("v1beta1") { ReviewVersion::V1Beta1 } else { ReviewVersion::V1 },
            endpoint: Endpoint::new(&webhook["clientConfig"], timeout),
        }
    }
}
