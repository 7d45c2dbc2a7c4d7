//! Values that Kubernetes fills in, where they are cheap and certain.

use crate::{
    object::{Object, object_at},
    value::{Map, Value, json},
};

/// Sets a field that is absent or null.
pub(super) fn fill(map: &mut Map, field: &str, value: impl Into<Value>) {
    if map.get(field).is_none_or(Value::is_null) {
        map.insert(field.into(), value.into());
    }
}

/// Source: core `v1.SetDefaults_Secret`; `stringData` is write-only and wins over `data`.
pub(super) fn secret(object: &mut Object) {
    fill(&mut object.0, "type", "Opaque");
    if let Some(Value::Object(texts)) = object.0.remove("stringData") {
        let data = object.section("data");
        for (key, text) in texts {
            let encoded = base64::Engine::encode(
                &base64::engine::general_purpose::STANDARD,
                text.as_str().unwrap_or_default(),
            );
            data.insert(key, encoded.into());
        }
    }
}

/// A namespace is protected by its own finalizer and labelled with its name.
///
/// Source: core `v1.SetDefaults_Namespace`, registry `namespace.strategy`.
pub(super) fn namespace(object: &mut Object) {
    let name = object.name().to_owned();
    if !name.is_empty() {
        object_at(object.metadata_mut(), "labels").insert("kubernetes.io/metadata.name".into(), name.into());
    }
}

pub(super) fn new_namespace(object: &mut Object) {
    object.section("spec").insert("finalizers".into(), json!(["kubernetes"]));
    object.put("status", Some(json!({"phase": "Active"})));
}

/// Source: core `v1.SetDefaults_PodSpec`, `SetDefaults_Container`.
pub(super) fn pod(object: &mut Object) {
    pod_spec(object.section("spec"));
    fill(object.section("spec"), "enableServiceLinks", true);
}

pub(super) fn new_pod(object: &mut Object) {
    object.put("status", Some(json!({"phase": "Pending", "qosClass": quality_of_service(object)})));
}

/// Source: component-helpers `qos.ComputePodQOS`.
fn quality_of_service(object: &Object) -> &'static str {
    let containers = object.at("/spec/containers").and_then(Value::as_array);
    let containers = containers.map(Vec::as_slice).unwrap_or_default();
    let amount = |container: &Value, which: &str, resource: &str| {
        container.pointer(&format!("/resources/{which}/{resource}")).cloned().unwrap_or_default()
    };
    let none = |container: &Value| {
        ["cpu", "memory"].iter().all(|resource| {
            amount(container, "requests", resource).is_null()
                && amount(container, "limits", resource).is_null()
        })
    };
    let full = |container: &Value| {
        ["cpu", "memory"].iter().all(|resource| {
            let (request, limit) =
                (amount(container, "requests", resource), amount(container, "limits", resource));
            !limit.is_null() && (request.is_null() || request == limit)
        })
    };
    if containers.iter().all(none) {
        "BestEffort"
    } else if containers.iter().all(full) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Source: core `v1.SetDefaults_PersistentVolume`.
pub(super) fn persistent_volume(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "persistentVolumeReclaimPolicy", "Retain");
    fill(spec, "volumeMode", "Filesystem");
}

pub(super) fn new_persistent_volume(object: &mut Object) {
    object.put("status", Some(json!({"phase": "Pending"})));
}

/// What it does not select, and how it is labelled, is what its template is labelled with.
///
/// Source: core `v1.SetDefaults_ReplicationController`.
pub(super) fn replication_controller(object: &mut Object) {
    let labels = object.at("/spec/template/metadata/labels").cloned();
    let labels = labels.filter(|labels| labels.as_object().is_some_and(|labels| !labels.is_empty()));
    let spec = object.section("spec");
    fill(spec, "replicas", 1);
    if let Some(labels) = &labels {
        fill(spec, "selector", labels.clone());
    }
    template(spec);
    if let Some(labels) = labels {
        fill(object.metadata_mut(), "labels", labels);
    }
}

/// Source: core `v1.SetDefaults_PersistentVolumeClaim`.
pub(super) fn persistent_volume_claim(object: &mut Object) {
    fill(object.section("spec"), "volumeMode", "Filesystem");
}

pub(super) fn new_persistent_volume_claim(object: &mut Object) {
    object.put("status", Some(json!({"phase": "Pending"})));
}

/// Source: apps `v1.SetDefaults_Deployment`.
pub(super) fn deployment(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
    let strategy = object_at(spec, "strategy");
    fill(strategy, "type", "RollingUpdate");
    if strategy.get("type").is_some_and(|kind| kind == "RollingUpdate") {
        let rolling = object_at(strategy, "rollingUpdate");
        fill(rolling, "maxSurge", "25%");
        fill(rolling, "maxUnavailable", "25%");
    }
    template(spec);
}

/// Source: apps `v1.SetDefaults_ReplicaSet`.
pub(super) fn replica_set(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "replicas", 1);
    template(spec);
}

/// Source: apps `v1.SetDefaults_StatefulSet`.
pub(super) fn stateful_set(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "podManagementPolicy", "OrderedReady");
    let retention = object_at(spec, "persistentVolumeClaimRetentionPolicy");
    fill(retention, "whenDeleted", "Retain");
    fill(retention, "whenScaled", "Retain");
    let strategy = object_at(spec, "updateStrategy");
    fill(strategy, "type", "RollingUpdate");
    if strategy.get("type").is_some_and(|kind| kind == "RollingUpdate") {
        fill(object_at(strategy, "rollingUpdate"), "partition", 0);
    }
    template(spec);
}

/// Source: apps `v1.SetDefaults_DaemonSet`.
pub(super) fn daemon_set(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "revisionHistoryLimit", 10);
    let strategy = object_at(spec, "updateStrategy");
    fill(strategy, "type", "RollingUpdate");
    if strategy.get("type").is_some_and(|kind| kind == "RollingUpdate") {
        let rolling = object_at(strategy, "rollingUpdate");
        fill(rolling, "maxUnavailable", 1);
        fill(rolling, "maxSurge", 0);
    }
    template(spec);
}

/// Source: batch `v1.SetDefaults_Job`.
pub(super) fn job(object: &mut Object) {
    let spec = object.section("spec");
    if spec.get("completions").is_none() && spec.get("parallelism").is_none() {
        fill(spec, "completions", 1);
    }
    fill(spec, "parallelism", 1);
    fill(spec, "backoffLimit", 6);
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    template(spec);
}

/// Source: batch `v1.SetDefaults_CronJob`.
pub(super) fn cron_job(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
    template(object_at(object_at(spec, "jobTemplate"), "spec"));
}

/// Source: networking `v1.SetDefaults_NetworkPolicy`.
pub(super) fn network_policy(object: &mut Object) {
    let has_egress =
        object.at("/spec/egress").and_then(Value::as_array).is_some_and(|rules| !rules.is_empty());
    let types = if has_egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
    fill(object.section("spec"), "policyTypes", types);
}

/// Source: scheduling `v1.SetDefaults_PriorityClass`.
pub(super) fn priority_class(object: &mut Object) {
    fill(&mut object.0, "preemptionPolicy", "PreemptLowerPriority");
}

/// Source: storage `v1.SetDefaults_StorageClass`.
pub(super) fn storage_class(object: &mut Object) {
    fill(&mut object.0, "reclaimPolicy", "Delete");
    fill(&mut object.0, "volumeBindingMode", "Immediate");
}

/// Source: apiextensions `v1.SetDefaults_CustomResourceDefinitionSpec`.
pub(super) fn custom_resource_definition(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "conversion", json!({"strategy": "None"}));
    let names = object_at(spec, "names");
    let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    fill(names, "singular", kind.to_lowercase());
    fill(names, "listKind", format!("{kind}List"));
}

/// Source: admissionregistration `v1.SetDefaults_MutatingWebhook`.
pub(super) fn mutating_webhook_configuration(object: &mut Object) {
    for webhook in list_at(&mut object.0, "webhooks") {
        admission_webhook(webhook);
        fill(webhook, "reinvocationPolicy", "Never");
    }
}

/// Source: admissionregistration `v1.SetDefaults_ValidatingWebhook`.
pub(super) fn validating_webhook_configuration(object: &mut Object) {
    list_at(&mut object.0, "webhooks").for_each(admission_webhook);
}

fn admission_webhook(webhook: &mut Map) {
    fill(webhook, "failurePolicy", "Fail");
    fill(webhook, "matchPolicy", "Equivalent");
    fill(webhook, "namespaceSelector", json!({}));
    fill(webhook, "objectSelector", json!({}));
    fill(webhook, "timeoutSeconds", 10);
    if let Some(Value::Object(service)) = webhook.get_mut("clientConfig").and_then(|it| it.get_mut("service"))
    {
        fill(service, "port", 443);
    }
    for rule in list_at(webhook, "rules") {
        fill(rule, "scope", "*");
    }
}

pub(super) fn template(spec: &mut Map) {
    if let Some(Value::Object(template)) = spec.get_mut("template") {
        pod_spec(object_at(template, "spec"));
    }
}

fn pod_spec(spec: &mut Map) {
    fill(spec, "dnsPolicy", "ClusterFirst");
    fill(spec, "restartPolicy", "Always");
    fill(spec, "schedulerName", "default-scheduler");
    fill(spec, "securityContext", json!({}));
    fill(spec, "terminationGracePeriodSeconds", 30);
    for field in ["initContainers", "containers"] {
        for container in list_at(spec, field) {
            fill(container, "resources", json!({}));
            fill(container, "terminationMessagePath", "/dev/termination-log");
            fill(container, "terminationMessagePolicy", "File");
            let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
            let policy = if is_latest(image) { "Always" } else { "IfNotPresent" };
            fill(container, "imagePullPolicy", policy);
            for port in list_at(container, "ports") {
                fill(port, "protocol", "TCP");
            }
        }
    }
}

/// Whether an image reference means `:latest`: no digest, and no other tag.
fn is_latest(image: &str) -> bool {
    let last = image.rsplit('/').next().unwrap_or(image);
    !last.contains('@') && last.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

/// The objects in a list.
pub(super) fn list_at<'a>(map: &'a mut Map, field: &str) -> impl Iterator<Item = &'a mut Map> {
    map.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_without_a_tag_are_the_latest() {
        for (image, latest) in [
            ("nginx", true),
            ("nginx:latest", true),
            ("nginx:1.27", false),
            ("registry:5000/nginx", true),
            ("nginx@sha256:0", false),
        ] {
            assert_eq!(is_latest(image), latest, "{image}");
        }
    }

    #[test]
    fn a_replication_controller_selects_what_it_makes() {
        let labels = json!({"a": "b"});
        let spec = json!({"template": {"metadata": {"labels": labels}, "spec": {}}});
        let mut object = Object(json!({"spec": spec}).as_object().cloned().unwrap());
        replication_controller(&mut object);
        assert_eq!(
            (object.at("/spec/selector"), object.at("/metadata/labels")),
            (Some(&labels), Some(&labels))
        );
        assert_eq!(object.at("/spec/replicas"), Some(&json!(1)));
    }

    #[test]
    fn what_is_set_stays() {
        let Value::Object(map) = json!({"spec": {"replicas": 0, "strategy": {"type": "Recreate"}}}) else {
            unreachable!()
        };
        let mut object = Object(map);
        deployment(&mut object);
        assert_eq!(object.at("/spec/replicas"), Some(&json!(0)));
        assert_eq!(object.at("/spec/strategy"), Some(&json!({"type": "Recreate"})));
        assert_eq!(object.at("/spec/revisionHistoryLimit"), Some(&json!(10)));
    }
}
