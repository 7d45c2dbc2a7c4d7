//! Horizontal pod autoscalers, in the version that knows one metric and in the one that knows many.

use super::defaults::fill;
use crate::{
    error::FieldError,
    object::{Object, object_at},
    value::{Map, Value, json},
};

/// Source: autoscaling `v1.SetDefaults_HorizontalPodAutoscaler`.
pub(super) fn default_v1(object: &mut Object) {
    fill(object.section("spec"), "minReplicas", 1);
}

/// Source: autoscaling `v2.SetDefaults_HorizontalPodAutoscaler`.
pub(super) fn default_v2(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "minReplicas", 1);
    if spec.get("metrics").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        spec.insert("metrics".into(), json!([processor(&DEFAULT_PERCENT.into())]));
    }
    if let Some(Value::Object(behavior)) = spec.get_mut("behavior") {
        let policy = |kind: &str, value: i64| json!({"type": kind, "value": value, "periodSeconds": 15});
        let up = object_at(behavior, "scaleUp");
        fill(up, "stabilizationWindowSeconds", 0);
        fill(up, "selectPolicy", "Max");
        fill(up, "policies", json!([policy("Pods", 4), policy("Percent", 100)]));
        let down = object_at(behavior, "scaleDown");
        fill(down, "selectPolicy", "Max");
        fill(down, "policies", json!([policy("Percent", 100)]));
    }
}

/// Source: autoscaling `validation.validateHorizontalPodAutoscalerSpec`.
pub(super) fn validate(new: &Object, _: Option<&Object>) -> Vec<FieldError> {
    let number = |field: &str| new.at(&format!("/spec/{field}")).and_then(Value::as_i64).unwrap_or_default();
    let (least, most) = (number("minReplicas"), number("maxReplicas"));
    let value = |field: &str| new.at(&format!("/spec/{field}"));
    let mut problems = Vec::new();
    if least < 1 {
        let detail = "must be greater than or equal to 1";
        problems.push(FieldError::invalid("spec.minReplicas", value("minReplicas"), detail));
    }
    if most < 1 {
        problems.push(FieldError::invalid(
            "spec.maxReplicas",
            value("maxReplicas"),
            "must be greater than 0",
        ));
    }
    if most < least {
        let detail = "must be greater than or equal to `minReplicas`";
        problems.push(FieldError::invalid("spec.maxReplicas", value("maxReplicas"), detail));
    }
    for field in ["kind", "name"] {
        if new.str_at(&format!("/spec/scaleTargetRef/{field}")).is_empty() {
            problems.push(FieldError::required(&format!("spec.scaleTargetRef.{field}"), ""));
        }
    }
    problems
}

/// Makes the first version of the second one. What it has no fields for goes into annotations.
///
/// # Differences from Go
/// Metrics in annotations are as the second version writes them, where upstream has a third form.
///
/// Source: autoscaling `v1.Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler`.
pub(super) fn to_v1(object: &mut Object) {
    let mut kept = Map::new();
    let spec = object.section("spec");
    if let Some(Value::Array(metrics)) = spec.remove("metrics") {
        let (processors, others): (Vec<_>, Vec<_>) =
            metrics.into_iter().partition(|metric| percent(metric).is_some());
        if let Some(percent) = processors.first().and_then(percent) {
            spec.insert("targetCPUUtilizationPercentage".into(), percent.clone());
        }
        keep(&mut kept, METRICS, &others.into());
    }
    if let Some(behavior) = spec.remove("behavior") {
        keep(&mut kept, BEHAVIOR, &behavior);
    }
    if let Some(Value::Object(status)) = object.0.get_mut("status") {
        if let Some(metrics) = status.remove("currentMetrics") {
            let current = metrics.as_array().into_iter().flatten().find_map(|metric| {
                let is_processor = metric["resource"]["name"] == "cpu";
                metric.pointer("/resource/current/averageUtilization").filter(|_| is_processor).cloned()
            });
            if let Some(current) = current {
                status.insert("currentCPUUtilizationPercentage".into(), current);
            }
            keep(&mut kept, CURRENT_METRICS, &metrics);
        }
        if let Some(conditions) = status.remove("conditions") {
            keep(&mut kept, CONDITIONS, &conditions);
        }
    }
    if !kept.is_empty() {
        object_at(object.metadata_mut(), "annotations").extend(kept);
    }
}

/// Makes the second version of the first one.
///
/// Source: autoscaling `v1.Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler`.
pub(super) fn from_v1(object: &mut Object) {
    let mut metrics = match take(object, METRICS) {
        Some(Value::Array(metrics)) => metrics,
        _ => Vec::new(),
    };
    let (behavior, current) = (take(object, BEHAVIOR), take(object, CURRENT_METRICS));
    let conditions = take(object, CONDITIONS);
    if object.metadata().get("annotations").and_then(Value::as_object).is_some_and(Map::is_empty) {
        object.metadata_mut().remove("annotations");
    }
    let spec = object.section("spec");
    metrics.extend(spec.remove("targetCPUUtilizationPercentage").as_ref().map(processor));
    if metrics.is_empty() {
        metrics.push(processor(&DEFAULT_PERCENT.into()));
    }
    spec.insert("metrics".into(), metrics.into());
    spec.extend(behavior.map(|behavior| ("behavior".to_owned(), behavior)));
    if let Some(Value::Object(status)) = object.0.get_mut("status") {
        let percent = status.remove("currentCPUUtilizationPercentage");
        let current = current.or_else(|| {
            let resource = |percent| json!({"name": "cpu", "current": {"averageUtilization": percent}});
            percent.map(|percent| json!([{"type": "Resource", "resource": resource(percent)}]))
        });
        status.insert("currentMetrics".into(), current.unwrap_or_default());
        status.extend(conditions.map(|conditions| ("conditions".to_owned(), conditions)));
    }
}

/// The share of a processor that pods are to use.
fn processor(percent: &Value) -> Value {
    let target = json!({"type": "Utilization", "averageUtilization": percent});
    json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
}

fn percent(metric: &Value) -> Option<&Value> {
    let is_processor = metric["type"] == "Resource" && metric["resource"]["name"] == "cpu";
    metric.pointer("/resource/target/averageUtilization").filter(|_| is_processor)
}

fn keep(annotations: &mut Map, name: &str, value: &Value) {
    let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    if !is_empty {
        annotations.insert(name.into(), value.to_string().into());
    }
}

fn take(object: &mut Object, name: &str) -> Option<Value> {
    let annotations = object.metadata_mut().get_mut("annotations")?.as_object_mut()?;
    serde_json::from_str(annotations.remove(name)?.as_str()?).ok()
}

const DEFAULT_PERCENT: i64 = 80;
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: &Value) -> Object {
        Object(value.as_object().cloned().unwrap())
    }

    #[test]
    fn nothing_is_lost_on_the_way_to_the_first_version_and_back() {
        let second = json!({
            "metadata": {"name": "a"},
            "spec": {
                "minReplicas": 1, "maxReplicas": 3, "behavior": {"scaleDown": {"selectPolicy": "Min"}},
                "metrics": [{"type": "Pods", "pods": {"metric": {"name": "m"}}}, processor(&50.into())],
            },
            "status": {"currentReplicas": 2, "conditions": [{"type": "AbleToScale"}],
                "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7}}}]},
        });
        let mut converted = object(&second);
        to_v1(&mut converted);
        assert_eq!(
            converted.at("/spec"),
            Some(&json!({"minReplicas": 1, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50}))
        );
        let status = json!({"currentReplicas": 2, "currentCPUUtilizationPercentage": 7});
        assert_eq!(converted.at("/status"), Some(&status));
        from_v1(&mut converted);
        assert_eq!(Value::from(converted.0), second);
    }

    #[test]
    fn the_first_version_has_one_metric() {
        let mut converted = object(&json!({"metadata": {}, "spec": {"maxReplicas": 3}}));
        from_v1(&mut converted);
        assert_eq!(converted.at("/spec/metrics"), Some(&json!([processor(&80.into())])));
        to_v1(&mut converted);
        let spec = json!({"maxReplicas": 3, "targetCPUUtilizationPercentage": 80});
        assert_eq!(Value::from(converted.0), json!({"metadata": {}, "spec": spec}));
    }
}
