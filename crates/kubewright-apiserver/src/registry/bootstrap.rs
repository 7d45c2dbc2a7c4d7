//! What every cluster has from its start: its namespaces, and the Service under which its API server is reached.
//!
//! # Differences from Go
//! What is deleted is there again before the deletion is answered, not within ten seconds or a minute.

use super::{cluster::Cluster, metadata};
use crate::{
    object::Object,
    storage::Key,
    value::{Value, json},
};

/// Makes what every cluster has, as far as it is missing.
///
/// Source: kube-apiserver `controlplane/controller/systemnamespaces`, `kubernetesservice`.
pub(super) fn bootstrap(cluster: &Cluster) {
    for namespace in NAMESPACES {
        make(cluster, "namespaces", "", json!({"kind": "Namespace", "metadata": {"name": namespace}}));
    }
    make(cluster, "services", "default", kubernetes_service());
}

fn make(cluster: &Cluster, plural: &str, namespace: &str, value: Value) {
    let served = cluster.served();
    let (Some(kind), Value::Object(fields)) = (served.find("", "v1", plural), value) else { return };
    let mut object = Object(fields);
    object.0.insert("apiVersion".into(), "v1".into());
    let key = Key::new(namespace, object.name());
    if cluster.store.get(&kind.prefix, &key).is_some() {
        return;
    }
    metadata::before_create(cluster, kind, &mut object);
    // The address is taken only while the Service that goes has it, and then so is the name.
    let Ok(reservation) = kind.strategy.reserve(kind, None, &mut object) else { return };
    let Ok(draft) = object.encode() else { return };
    if cluster.store.create(&kind.prefix, &key, &draft, &[]).is_ok() {
        reservation.keep();
    }
}

/// In the process there is no port to lead to, and behind a door the client knows it.
fn kubernetes_service() -> Value {
    json!({
        "kind": "Service",
        "metadata": {
            "name": "kubernetes", "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": "10.0.0.1",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
        },
    })
}

/// Source: kubernetes `pkg/controlplane/apiserver.DefaultSystemNamespaces` and `default`.
const NAMESPACES: &[&str] = &["default", "kube-node-lease", "kube-public", "kube-system"];
