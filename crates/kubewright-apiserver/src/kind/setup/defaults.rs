//! What is filled in where their objects do not say it.
//!
//! Source: `SetDefaults_*` of kubernetes `pkg/apis`, by the kind that each function is named after.

use crate::{
    kind::defaults::{fill, list_at, template},
    object::{Object, object_at},
    value::{Map, Value, json},
};

pub(super) fn pod_template(object: &mut Object) {
    template(&mut object.0);
}

/// Source: storage `v1.SetDefaults_CSIDriver`.
pub(super) fn storage_driver(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "attachRequired", true);
    for field in ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"] {
        fill(spec, field, false);
    }
    fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if spec.get("volumeLifecycleModes").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        spec.insert("volumeLifecycleModes".into(), json!(["Persistent"]));
    }
}

/// Source: admissionregistration `v1.SetDefaults_ValidatingAdmissionPolicySpec`, `SetDefaults_MatchResources`.
pub(super) fn policy(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "failurePolicy", "Fail");
    matched(spec, "matchConstraints");
}

pub(super) fn policy_binding(object: &mut Object) {
    matched(object.section("spec"), "matchResources");
}

fn matched(spec: &mut Map, field: &str) {
    let Some(Value::Object(resources)) = spec.get_mut(field) else { return };
    fill(resources, "matchPolicy", "Equivalent");
    fill(resources, "namespaceSelector", json!({}));
    fill(resources, "objectSelector", json!({}));
    for list in ["resourceRules", "excludeResourceRules"] {
        for rule in list_at(resources, list) {
            fill(rule, "scope", "*");
        }
    }
}

pub(super) fn claim(object: &mut Object) {
    requests(object.section("spec"));
}

pub(super) fn claim_template(object: &mut Object) {
    requests(object_at(object.section("spec"), "spec"));
}

/// Source: resource `v1.SetDefaults_ExactDeviceRequest`, `SetDefaults_DeviceSubRequest`.
fn requests(spec: &mut Map) {
    let Some(Value::Object(devices)) = spec.get_mut("devices") else { return };
    for request in list_at(devices, "requests") {
        if let Some(Value::Object(exactly)) = request.get_mut("exactly") {
            device_request(exactly);
        }
        list_at(request, "firstAvailable").for_each(device_request);
    }
}

fn device_request(request: &mut Map) {
    fill(request, "allocationMode", "ExactCount");
    if request.get("allocationMode").is_some_and(|mode| mode == "ExactCount") {
        fill(request, "count", 1);
    }
}

/// Source: flowcontrol `v1.SetDefaults_FlowSchemaSpec`.
pub(super) fn flow_schema(object: &mut Object) {
    fill_zero(object.section("spec"), "matchingPrecedence", 1000);
}

/// Source: flowcontrol `v1.SetDefaults_LimitedPriorityLevelConfiguration` and its siblings.
pub(super) fn priority_level(object: &mut Object) {
    let spec = object.section("spec");
    if let Some(Value::Object(exempt)) = spec.get_mut("exempt") {
        fill(exempt, "nominalConcurrencyShares", 0);
        fill(exempt, "lendablePercent", 0);
    }
    let Some(Value::Object(limited)) = spec.get_mut("limited") else { return };
    fill(limited, "nominalConcurrencyShares", 30);
    fill(limited, "lendablePercent", 0);
    let Some(Value::Object(response)) = limited.get_mut("limitResponse") else { return };
    let Some(Value::Object(queuing)) = response.get_mut("queuing") else { return };
    for (field, value) in [("handSize", 8), ("queues", 64), ("queueLengthLimit", 50)] {
        fill_zero(queuing, field, value);
    }
}

/// Fills in a number that is absent or nought.
fn fill_zero(fields: &mut Map, field: &str, value: i64) {
    if fields.get(field).is_some_and(|found| found == &Value::from(0)) {
        fields.remove(field);
    }
    fill(fields, field, value);
}
