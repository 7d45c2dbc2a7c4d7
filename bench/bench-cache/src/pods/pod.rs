//! One replica of a workload, as a running pod looks.

use bench_common::words::Words;
use serde_json::{Value, json};

use super::{managed_fields::managed_fields, workload::Workload};

/// The pod number `replica` of `workload`.
pub(super) fn pod(workload: &Workload, replica: usize) -> Value {
    let mut words = Words::with_seed(POD_SEED + (workload.index * super::REPLICAS + replica) as u64);
    let node = Node::pick(&mut words);
    let started = words.moment();
    let mut spec = workload.spec.clone();
    spec["nodeName"] = node.name.as_str().into();
    let status = status(&mut words, &spec, &node, &started);
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("{}-{}", workload.replica_set, words.suffix(5)),
            "generateName": format!("{}-", workload.replica_set),
            "namespace": workload.namespace,
            "uid": words.uuid(),
            "creationTimestamp": started,
            "labels": workload.labels,
            "annotations": workload.annotations,
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": workload.replica_set,
                "uid": workload.replica_set_uid, "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": spec,
        "status": status,
    });
    pod["metadata"]["managedFields"] = managed_fields(&pod, &started);
    pod
}

/// A machine that pods run on.
struct Node {
    name: String,
    address: String,
}

impl Node {
    fn pick(words: &mut Words) -> Self {
        let (rack, slot) = (words.below(20), 1 + words.below(50));
        Self {
            name: format!("ip-10-0-{rack}-{slot}.eu-central-1.compute.internal"),
            address: format!("10.0.{rack}.{slot}"),
        }
    }
}

fn status(words: &mut Words, spec: &Value, node: &Node, started: &str) -> Value {
    let address = format!("10.{}.{}.{}", 1 + words.below(250), words.below(256), 1 + words.below(250));
    let conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
    let conditions = conditions.map(|kind| {
        json!({"lastProbeTime": null, "lastTransitionTime": words.moment(), "status": "True", "type": kind})
    });
    let containers: Vec<_> = spec["containers"].as_array().into_iter().flatten().collect();
    let statuses: Vec<_> =
        containers.into_iter().map(|container| container_status(words, container)).collect();
    json!({
        "conditions": without_nulls(&conditions),
        "containerStatuses": statuses,
        "hostIP": node.address,
        "hostIPs": [{"ip": node.address}],
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "qosClass": "Burstable",
        "startTime": started,
    })
}

fn container_status(words: &mut Words, container: &Value) -> Value {
    let image = container["image"].as_str().unwrap_or_default();
    let repository = image.split(':').next().unwrap_or_default();
    json!({
        "containerID": format!("containerd://{}", words.hex(64)),
        "image": image,
        "imageID": format!("{repository}@sha256:{}", words.hex(64)),
        "lastState": {},
        "name": container["name"],
        "ready": true,
        "restartCount": words.below(4),
        "started": true,
        "state": {"running": {"startedAt": words.moment()}},
    })
}

/// API servers write `lastProbeTime: null`, which decoders read as absent; a pod that is compared after decoding has none.
fn without_nulls(conditions: &[Value]) -> Value {
    let kept = conditions.iter().map(|condition| {
        let fields = condition.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        fields.map(|(key, value)| (key.clone(), value.clone())).collect()
    });
    Value::Array(kept.map(Value::Object).collect())
}

/// Keeps the words of pods apart from those of workloads.
const POD_SEED: u64 = 1 << 41;
