//! Who set which field, in the words of server-side apply: one entry for the controller that made the pod, one for the
//! kubelet that reports its status.

use serde_json::{Map, Value, json};

/// The `managedFields` of `pod`.
///
/// Source: structured-merge-diff `fieldpath`, the `FieldsV1` encoding.
pub(super) fn managed_fields(pod: &Value, time: &str) -> Value {
    let metadata = pod["metadata"].as_object().into_iter().flatten();
    let metadata = metadata.filter(|(key, _)| {
        ["annotations", "generateName", "labels", "ownerReferences"].contains(&key.as_str())
    });
    let metadata: Map<_, _> = metadata.map(|(key, value)| (format!("f:{key}"), owned(key, value))).collect();
    let spec = fields(&pod["spec"], false);
    json!([
        {
            "apiVersion": "v1", "fieldsType": "FieldsV1", "manager": "kube-controller-manager", "operation": "Update", "time": time,
            "fieldsV1": {"f:metadata": metadata, "f:spec": spec},
        },
        {
            "apiVersion": "v1", "fieldsType": "FieldsV1", "manager": "kubelet", "operation": "Update", "subresource": "status", "time": time,
            "fieldsV1": {"f:status": fields(&pod["status"], false)},
        },
    ])
}

/// The set of fields below `value`, which stands under `name`.
fn owned(name: &str, value: &Value) -> Value {
    match value {
        Value::Object(_) => Value::Object(fields(value, true)),
        Value::Array(items) => match merge_key(name) {
            Some(key) => {
                let items = items.iter().filter(|item| item["type"] != SET_BY_SCHEDULER);
                let items = items.map(|item| (element(key, item), Value::Object(fields(item, true))));
                Value::Object(std::iter::once((".".to_owned(), json!({}))).chain(items).collect())
            }
            // A list without a merge key is owned as a whole.
            None => json!({}),
        },
        _ => json!({}),
    }
}

/// The fields of one object; `whole` says that the object itself is owned too.
fn fields(object: &Value, whole: bool) -> Map<String, Value> {
    let own = whole.then(|| (".".to_owned(), json!({})));
    let members =
        object.as_object().into_iter().flatten().filter(|(key, _)| !OWNED_BY_NOBODY.contains(&key.as_str()));
    own.into_iter().chain(members.map(|(key, value)| (format!("f:{key}"), owned(key, value)))).collect()
}

/// How `FieldsV1` names an element of a list with a merge key.
fn element(key: &str, item: &Value) -> String {
    format!("k:{}", json!({ key: item[key] }))
}

/// By which field the elements of a list are told apart.
fn merge_key(list: &str) -> Option<&'static str> {
    match list {
        "containers" | "env" | "volumes" => Some("name"),
        "ports" => Some("containerPort"),
        "volumeMounts" => Some("mountPath"),
        "conditions" => Some("type"),
        "ownerReferences" => Some("uid"),
        "podIPs" | "hostIPs" => Some("ip"),
        _ => None,
    }
}

/// The one condition of a pod that is not the kubelet's.
const SET_BY_SCHEDULER: &str = "PodScheduled";
/// What defaulting and admission fill in after the owner has written. (The scheduler binds a pod without owning its `nodeName`.)
const OWNED_BY_NOBODY: &[&str] = &[
    "blockOwnerDeletion",
    "defaultMode",
    "dnsPolicy",
    "enableServiceLinks",
    "failureThreshold",
    "imagePullPolicy",
    "nodeName",
    "preemptionPolicy",
    "priority",
    "protocol",
    "qosClass",
    "schedulerName",
    "scheme",
    "serviceAccount",
    "successThreshold",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "timeoutSeconds",
    "tolerations",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_an_api_server_writes_them() {
        let pod = json!({
            "metadata": {"name": "a", "labels": {"x": "y"}},
            "spec": {"nodeName": "n", "containers": [{"name": "main", "args": ["b"]}]},
            "status": {"phase": "Running"},
        });
        let managed = managed_fields(&pod, "2026-09-01T00:00:00Z");
        assert_eq!(
            managed[0]["fieldsV1"],
            json!({
                "f:metadata": {"f:labels": {".": {}, "f:x": {}}},
                "f:spec": {"f:containers": {".": {}, "k:{\"name\":\"main\"}": {".": {}, "f:args": {}, "f:name": {}}}},
            })
        );
        assert_eq!(managed[1]["fieldsV1"], json!({"f:status": {"f:phase": {}}}));
        assert_eq!(managed[1]["subresource"], "status");
    }
}
