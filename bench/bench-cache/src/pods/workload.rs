//! What the replicas of one workload share.

use std::collections::BTreeMap;

use bench_common::words::Words;
use serde_json::{Value, json};

/// A workload: the pod template, and the names that go with it.
#[derive(Debug, Clone)]
pub(super) struct Workload {
    pub(super) index: usize,
    pub(super) namespace: String,
    /// The name of the replica set; pods append a suffix.
    pub(super) replica_set: String,
    pub(super) replica_set_uid: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    /// The pod's `spec` without the node.
    pub(super) spec: Value,
}

/// The name of the namespace with this number.
pub(super) fn namespace(index: usize) -> String {
    let mut words = Words::with_seed(NAMESPACE_SEED + index as u64);
    format!("{}-{}-{index}", words.word(2), words.word(1))
}

impl Workload {
    /// The workload with this number, in one of `namespaces` namespaces.
    pub(super) fn nth(index: usize, namespaces: usize) -> Self {
        let mut words = Words::with_seed(index as u64);
        let app = format!("{}-{}-{index}", words.word(2), words.word(1));
        let version = format!("{}.{}.{}", words.below(9), words.below(30), words.below(60));
        let hash = words.suffix(10);
        Self {
            index,
            namespace: namespace(index % namespaces.max(1)),
            replica_set: format!("{app}-{hash}"),
            replica_set_uid: words.uuid(),
            labels: labels(&mut words, &app, &version, &hash),
            annotations: annotations(&mut words),
            spec: spec(&mut words, &app, &version),
        }
    }
}

fn labels(words: &mut Words, app: &str, version: &str, hash: &str) -> BTreeMap<String, String> {
    let team = words.word(2);
    let pairs = [
        ("app.kubernetes.io/name", app),
        ("app.kubernetes.io/instance", app),
        ("app.kubernetes.io/version", version),
        ("app.kubernetes.io/managed-by", words.pick(&["Helm", "argocd", "flux"])),
        ("team.example.com/owner", &team),
        ("topology.example.com/tier", words.pick(&["frontend", "backend", "batch", "data"])),
        ("pod-template-hash", hash),
    ];
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

fn annotations(words: &mut Words) -> BTreeMap<String, String> {
    let config = words.hex(64);
    let port = (9000 + words.below(999)).to_string();
    let date = words.moment();
    let pairs = [
        ("checksum/config", config.as_str()),
        ("prometheus.io/scrape", "true"),
        ("prometheus.io/port", &port),
        ("prometheus.io/path", "/metrics"),
        ("kubectl.kubernetes.io/restartedAt", &date),
    ];
    let own = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let more: Vec<_> = (0..words.below(5))
        .map(|_| {
            let key = format!("{}.{}.io/{}", words.word(2), words.word(2), words.word(2));
            let value = match words.below(3) {
                0 => words.word(3),
                1 => "true".to_owned(),
                _ => words.hex(32),
            };
            (key, value)
        })
        .collect();
    own.into_iter().chain(more).collect()
}

fn spec(words: &mut Words, app: &str, version: &str) -> Value {
    let extra = usize::from(words.below(8) == 0);
    let mut containers = vec![main_container(words, app, version), proxy_container(words)];
    containers.extend((0..extra).map(|number| extra_container(words, number)));
    json!({
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 100,
            "podAffinityTerm": {
                "labelSelector": {"matchLabels": {"app.kubernetes.io/name": app}},
                "topologyKey": "kubernetes.io/hostname",
            },
        }]}},
        "containers": containers,
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": true,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {"fsGroup": 1000 + words.below(9000), "runAsNonRoot": true},
        "serviceAccount": app,
        "serviceAccountName": app,
        "terminationGracePeriodSeconds": 30 + words.below(90),
        "tolerations": [
            {"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300},
            {"effect": "NoExecute", "key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300},
        ],
        "volumes": [
            {"name": "config", "configMap": {"name": format!("{app}-config"), "defaultMode": 420}},
            {"name": "credentials", "secret": {"secretName": format!("{app}-{}", words.word(2)), "defaultMode": 420}},
            {"name": "scratch", "emptyDir": {"sizeLimit": format!("{}Mi", 64 * (1 + words.below(16)))}},
            {"name": "proxy-config", "configMap": {"name": format!("{}-proxy", words.word(2)), "defaultMode": 420}},
            {"name": TOKEN_VOLUME, "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
                {"downwardAPI": {"items": [
                    {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"},
                ]}},
            ]}},
        ],
    })
}

fn main_container(words: &mut Words, app: &str, version: &str) -> Value {
    let port = 1024 + words.below(40_000);
    let args: Vec<_> = (0..words.below(10))
        .map(|_| format!("--{}-{}={}", words.word(2), words.word(1), words.word(2)))
        .collect();
    json!({
        "args": args,
        "env": environment(words, app),
        "image": format!("registry.{}.io/{}/{app}:{version}", words.word(2), words.word(2)),
        "imagePullPolicy": "IfNotPresent",
        "livenessProbe": probe(words, "/healthz", 20),
        "name": "main",
        "ports": [{"containerPort": port, "name": "http", "protocol": "TCP"}],
        "readinessProbe": probe(words, "/readyz", 5),
        "resources": resources(words),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {"mountPath": "/etc/config", "name": "config"},
            {"mountPath": "/etc/credentials", "name": "credentials"},
            {"mountPath": format!("/var/{}", words.word(2)), "name": "scratch"},
            token_mount(),
        ],
    })
}

fn proxy_container(words: &mut Words) -> Value {
    json!({
        "args": ["--upstream", format!("http://127.0.0.1:{}", 1024 + words.below(40_000)), "--log-level", "info"],
        "image": format!("registry.{}.io/mesh/proxy:1.{}.{}", words.word(2), words.below(40), words.below(20)),
        "imagePullPolicy": "IfNotPresent",
        "name": "proxy",
        "ports": [{"containerPort": 15_090, "name": "metrics", "protocol": "TCP"}],
        "resources": resources(words),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [{"mountPath": "/etc/proxy", "name": "proxy-config"}, token_mount()],
    })
}

fn extra_container(words: &mut Words, number: usize) -> Value {
    let args: Vec<_> = (0..words.below(4)).map(|_| words.word(2)).collect();
    json!({
        "args": args,
        "image": format!("registry.{}.io/{}/{}:{}.{}", words.word(2), words.word(2), words.word(2), words.below(9), words.below(30)),
        "imagePullPolicy": "Always",
        "name": format!("{}-{number}", words.word(2)),
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [token_mount()],
    })
}

/// Literals of all sorts, and a reference of each kind.
fn environment(words: &mut Words, app: &str) -> Vec<Value> {
    let references = [
        json!({"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}),
        json!({"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}),
        json!({"name": "DATABASE_PASSWORD", "valueFrom": {"secretKeyRef": {"key": words.word(2), "name": format!("{app}-db")}}}),
    ];
    let literals = (0..words.below(11)).map(|number| {
        let value = match words.below(4) {
            0 => words.word(3),
            1 => words.below(10_000).to_string(),
            2 => format!(
                "https://{}.{}.svc.cluster.local:{}/{}",
                words.word(3),
                words.word(2),
                words.below(9999),
                words.word(2)
            ),
            _ => words.hex(24),
        };
        let name = format!("{}_{}_{number}", words.word(2), words.word(1)).to_uppercase();
        json!({"name": name, "value": value})
    });
    let literals: Vec<_> = literals.collect();
    references.into_iter().chain(literals).collect()
}

fn probe(words: &mut Words, path: &str, period: usize) -> Value {
    json!({
        "failureThreshold": 3 + words.below(3),
        "httpGet": {"path": path, "port": "http", "scheme": "HTTP"},
        "periodSeconds": period,
        "successThreshold": 1,
        "timeoutSeconds": 1 + words.below(5),
    })
}

fn resources(words: &mut Words) -> Value {
    let (cpu, memory) = (50 * (1 + words.below(20)), 64 * (1 + words.below(30)));
    json!({
        "limits": {"cpu": format!("{}m", cpu * 2), "memory": format!("{}Mi", memory * 2)},
        "requests": {"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")},
    })
}

fn token_mount() -> Value {
    json!({"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": TOKEN_VOLUME, "readOnly": true})
}

const TOKEN_VOLUME: &str = "kube-api-access";
/// Keeps the words of namespaces apart from those of workloads.
const NAMESPACE_SEED: u64 = 1 << 40;
