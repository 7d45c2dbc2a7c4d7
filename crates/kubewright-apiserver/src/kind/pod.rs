//! Pods get time to stop.

use super::{rules::Rules, strategy::Strategy};
use crate::{name::NameRule, object::Object, value::Value};

/// Pods.
#[derive(Debug)]
pub(super) struct Pods(pub(super) Rules);

impl Strategy for Pods {
    fn rules(&self) -> &Rules {
        &self.0
    }

    /// Source: core `pod.podStrategy.WarningsOnCreate`.
    fn warnings(&self, pod: &Object, old: Option<&Object>) -> Vec<String> {
        let problems = if old.is_none() { NameRule::DnsLabel.check(pod.name()) } else { Vec::new() };
        if problems.is_empty() {
            return Vec::new();
        }
        let problems = problems.join(" ");
        vec![format!(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [{problems}]"
        )]
    }

    /// Only a pod that a node runs has something to stop.
    ///
    /// Source: core `pod.podStrategy.CheckGracefulDelete`.
    fn grace_period(&self, pod: &Object, asked: Option<i64>) -> Option<i64> {
        let finished = matches!(pod.str_at("/status/phase"), "Succeeded" | "Failed");
        if finished || pod.str_at("/spec/nodeName").is_empty() {
            return Some(0);
        }
        let own = pod.at("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
        Some(asked.or(own).unwrap_or_default().max(0))
    }
}
