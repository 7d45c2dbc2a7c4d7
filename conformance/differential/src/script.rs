//! Requests drawn at random: a short story about one kind.

use http::Method;
use serde_json::{Map, Value, json};

use crate::{
    kinds::{self, Kind},
    step::{Need, Step},
};

/// A story: the same seed gives the same one.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    /// Makes what the story needs; has to succeed on both servers and is not compared.
    pub(crate) preparation: Vec<Step>,
    pub(crate) steps: Vec<Step>,
    /// The objects whose watch events are compared after the last step.
    pub(crate) watched: Watched,
}

/// A collection, the names in it that belong to the story, and how to make the object that ends it.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    pub(crate) collection: String,
    pub(crate) prefix: String,
    pub(crate) last: Step,
}

pub(crate) const JSON: &str = "application/json";
pub(crate) const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Draws story number `number` of a run with that seed.
pub(crate) fn draw(built_in: &[Kind], seed: u64, number: u64, length: usize) -> Script {
    let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(number));
    let namespace = format!("d{seed}-{number}");
    let mut preparation = vec![
        Step::new(Method::POST, "/api/v1/namespaces")
            .body(JSON, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})),
    ];

    let kind = match random.usize(..built_in.len() + 4) {
        i if i < built_in.len() => built_in[i].clone(),
        _ => {
            let (kind, definition) = kinds::custom(&format!("{namespace}.example.com"), &mut random);
            let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            preparation.push(Step::new(Method::POST, definitions).body(JSON, definition));
            kind
        }
    };
    let mut author = Author { random, kind, namespace };
    let mut steps: Vec<Step> = (0..length).map(|_| author.step()).collect();
    // What is not built yet comes last, because after it the two servers may hold different objects.
    if author.random.usize(..4) == 0 {
        steps.push(author.beyond());
    }
    Script { preparation, steps, watched: author.watched() }
}

struct Author {
    random: fastrand::Rng,
    kind: Kind,
    namespace: String,
}

impl Author {
    fn step(&mut self) -> Step {
        match self.random.usize(..100) {
            0..=17 => self.create(),
            18..=25 => self.get(),
            26..=35 => self.list(),
            36..=53 => self.update(),
            54..=68 => self.merge(),
            69..=75 => self.json_patch(),
            76..=81 => self.subresource(),
            82..=93 => self.delete(),
            94..=95 => self.delete_collection(),
            _ => self.nonsense(),
        }
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.random.usize(..n) == 0
    }

    fn choose<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.random.usize(..among.len())]
    }

    fn name(&mut self) -> String {
        let name = self.choose(&["a", "b", "c"]);
        format!("{}-{name}", self.namespace)
    }

    fn collection(&self) -> String {
        self.kind.collection(&self.namespace)
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.collection())
    }

    fn object(&self, metadata: &Value) -> Value {
        let mut object =
            json!({"apiVersion": self.kind.api_version, "kind": self.kind.name, "metadata": metadata});
        merge(&mut object, &self.kind.content);
        if !self.kind.namespaced
            && object["metadata"]["labels"].as_object().is_none_or(|it| !it.contains_key("a b"))
        {
            object["metadata"]["labels"]["story"] = json!(self.namespace);
        }
        object
    }

    /// Metadata as clients write it, right and wrong.
    fn metadata(&mut self) -> Value {
        let mut metadata = Map::new();
        let mut put = |name: &str, value: Value| metadata.insert(name.to_owned(), value);
        match self.random.usize(..30) {
            0..=7 => _ = put("labels", json!({"a": self.choose(&["1", "2"])})),
            8 => _ = put("labels", json!({"a b": "1"})),
            9 => _ = put("labels", json!({"a": "not valid"})),
            10..=11 => _ = put("annotations", json!({"a": "1"})),
            12 => _ = put("annotations", json!({"not valid": "1"})),
            13..=15 => _ = put("finalizers", json!(["example.com/f"])),
            16 => _ = put("finalizers", json!(["example.com/f", "example.com/f"])),
            17 => _ = put("finalizers", json!(["f"])),
            18 => _ = put("finalizers", json!([])),
            19 => {
                let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}]);
                put("ownerReferences", owner);
            }
            20 => {
                put(
                    "ownerReferences",
                    json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "", "uid": ""}]),
                );
            }
            21 => _ = put("deletionTimestamp", json!("2020-01-01T00:00:00Z")),
            22 => _ = put("creationTimestamp", json!("2020-01-01T00:00:00Z")),
            23 => _ = put("generation", json!(7)),
            24 => _ = put("uid", json!("somebody-elses")),
            _ => {}
        }
        Value::Object(metadata)
    }

    /// Query options of writes.
    fn options(&mut self, mut step: Step) -> Step {
        match self.random.usize(..20) {
            0..=1 => step = step.query("dryRun", "All"),
            2 => step = step.query("dryRun", "Some"),
            3..=4 => step = step.query("fieldManager", "somebody"),
            5 => step = step.query("fieldValidation", self.choose(&["Ignore", "Warn", "Strict", "Other"])),
            6 => step = step.query("pretty", "true"),
            _ => {}
        }
        step
    }

    fn create(&mut self) -> Step {
        let mut metadata = self.metadata();
        match self.random.usize(..14) {
            0 => metadata["generateName"] = json!(format!("{}-g-", self.namespace)),
            1 => metadata["name"] = json!("Not_Valid"),
            2 => {}
            3 => {
                metadata["name"] = json!(self.name());
                metadata["namespace"] = json!(self.choose(&["other", ""]));
            }
            4 => {
                metadata["name"] = json!(self.name());
                metadata["resourceVersion"] = json!("1");
            }
            _ => metadata["name"] = json!(self.name()),
        }
        let mut object = self.object(&metadata);
        match self.random.usize(..24) {
            0 => object["kind"] = json!("Other"),
            1 => object["apiVersion"] = json!("other/v1"),
            2 => _ = object.as_object_mut().map(|object| object.remove("kind")),
            3 => _ = object.as_object_mut().map(|object| object.remove("apiVersion")),
            4 => object["unknown"] = json!({"a": 1}),
            _ => {}
        }
        let step = Step::new(Method::POST, self.collection()).body(JSON, object);
        self.options(step)
    }

    fn get(&mut self) -> Step {
        let name = self.name();
        let mut step = Step::new(Method::GET, self.path(&name));
        match self.random.usize(..8) {
            0 => step = step.query("resourceVersion", "0"),
            1 => step = step.query("resourceVersion", format!("${{version:{}}}", self.path(&name))),
            2 => step = step.query("resourceVersion", "x"),
            3 => step.accept = Some(PARTIAL),
            4 => step.accept = Some(TABLE),
            _ => {}
        }
        step
    }

    fn list(&mut self) -> Step {
        let mut step = Step::new(Method::GET, self.collection());
        // Whoever lists a kind without namespaces sees other stories; labels of this one keep them out.
        if !self.kind.namespaced {
            return step.query("labelSelector", format!("story={}", self.namespace));
        }
        match self.random.usize(..12) {
            0..=1 => step = step.query("labelSelector", "a=1"),
            2 => step = step.query("labelSelector", "a in (1,2),b!=3"),
            3 => step = step.query("labelSelector", "a in"),
            4 => step = step.query("fieldSelector", format!("metadata.name={}", self.name())),
            5 => step = step.query("fieldSelector", "spec.other=1"),
            6 => step = step.query("limit", "1"),
            7 => step = step.query("limit", "x"),
            8 => step = step.query("resourceVersionMatch", "Exact"),
            9 => step.accept = Some(TABLE),
            10 => step.accept = Some(PARTIAL_LIST),
            _ => {}
        }
        step
    }

    fn update(&mut self) -> Step {
        let name = self.name();
        let mut metadata = self.metadata();
        metadata["name"] = json!(name);
        let path = self.path(&name);
        match self.random.usize(..10) {
            0..=5 => metadata["resourceVersion"] = json!(format!("${{version:{path}}}")),
            6 => metadata["resourceVersion"] = json!(format!("${{first-version:{path}}}")),
            7 => metadata["resourceVersion"] = json!("x"),
            _ => {}
        }
        if self.one_in(10) {
            metadata["uid"] = json!(format!("${{uid:{path}}}"));
        }
        if self.one_in(20) {
            metadata["name"] = json!("other");
        }
        let mut object = self.object(&metadata);
        if self.random.bool() {
            merge(&mut object, &self.kind.change.clone());
        }
        let step = Step::new(Method::PUT, path).body(JSON, object);
        self.options(step)
    }

    fn merge(&mut self) -> Step {
        let name = self.name();
        let mut patch = json!({"metadata": self.metadata()});
        if self.random.bool() {
            merge(&mut patch, &self.kind.change.clone());
        }
        match self.random.usize(..16) {
            0..=1 => patch["metadata"]["finalizers"] = Value::Null,
            2 => patch["metadata"]["resourceVersion"] = json!(format!("${{version:{}}}", self.path(&name))),
            3 => {
                let first = format!("${{first-version:{}}}", self.path(&name));
                patch["metadata"]["resourceVersion"] = json!(first);
            }
            4 => patch["metadata"]["name"] = json!("other"),
            5 => patch["metadata"]["labels"] = Value::Null,
            6 => patch["kind"] = json!("Other"),
            7 => patch = json!([]),
            _ => {}
        }
        // Nobody knows how lists of custom resources are merged.
        let form = if !self.kind.is_custom && self.one_in(3) { STRATEGIC } else { MERGE };
        let step = Step::new(Method::PATCH, self.path(&name)).body(form, patch);
        self.options(step)
    }

    fn json_patch(&mut self) -> Step {
        let name = self.name();
        let patch = match self.random.usize(..9) {
            0 => json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "2"}}]),
            1 => json!([{"op": "remove", "path": "/metadata/labels/a"}]),
            2 => json!([{"op": "replace", "path": "/metadata/labels/a", "value": "1"}]),
            3 => json!([{"op": "test", "path": "/metadata/name", "value": "other"}]),
            4 => json!([{"op": "test", "path": "/metadata/name", "value": name}]),
            5 => json!([{"op": "move", "from": "/metadata/labels", "path": "/metadata/annotations"}]),
            6 => json!([{"op": "copy", "from": "/metadata/labels", "path": "/metadata/annotations"}]),
            7 => json!([{"op": "other", "path": "/metadata/name"}]),
            _ => json!({"op": "remove"}),
        };
        let step = Step::new(Method::PATCH, self.path(&name)).body(JSON_PATCH, patch);
        self.options(step)
    }

    fn subresource(&mut self) -> Step {
        let name = self.name();
        let mut subresources = self.kind.subresources.clone();
        subresources.push(self.choose(&["status", "scale", "other"]).to_owned());
        let subresource = &subresources[self.random.usize(..subresources.len())];
        let path = format!("{}/{subresource}", self.path(&name));
        match (self.random.usize(..4), subresource.as_str()) {
            (0, _) => Step::new(Method::GET, path),
            (1, "scale") => {
                let scale = json!({
                    "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name, "namespace": self.namespace},
                    "spec": {"replicas": self.choose(&[0, 3, -1])},
                });
                Step::new(Method::PUT, path).body(JSON, scale)
            }
            (_, "scale") => Step::new(Method::PATCH, path)
                .body(MERGE, json!({"spec": {"replicas": self.choose(&[0, 5])}})),
            (1, _) => {
                let metadata =
                    json!({"name": name, "resourceVersion": format!("${{version:{}}}", self.path(&name))});
                Step::new(Method::PUT, path).body(JSON, self.object(&metadata))
            }
            _ => {
                let mut patch = json!({"metadata": self.metadata()});
                merge(&mut patch, &self.kind.change.clone());
                Step::new(Method::PATCH, path).body(MERGE, patch)
            }
        }
    }

    fn delete(&mut self) -> Step {
        let name = self.name();
        let path = self.path(&name);
        let step = Step::new(Method::DELETE, path.clone());
        match self.random.usize(..16) {
            0 => {
                step.query("propagationPolicy", self.choose(&["Foreground", "Orphan", "Background", "Other"]))
            }
            1 => step.query("gracePeriodSeconds", self.choose(&["0", "-1", "5", "x"])),
            2 => step.query("dryRun", "All"),
            3 => step.query("orphanDependents", self.choose(&["true", "false", "x"])),
            4 => step.body(JSON, json!({"preconditions": {"uid": format!("${{uid:{path}}}")}})),
            5 => step.body(JSON, json!({"preconditions": {"uid": "other"}})),
            6 => {
                step.body(JSON, json!({"preconditions": {"resourceVersion": format!("${{version:{path}}}")}}))
            }
            7 => step.body(
                JSON,
                json!({"preconditions": {"resourceVersion": format!("${{first-version:{path}}}")}}),
            ),
            8 => {
                step.body(JSON, json!({"propagationPolicy": self.choose(&["Foreground", "Orphan", "Other"])}))
            }
            9 => step.body(JSON, json!({"orphanDependents": true, "propagationPolicy": "Orphan"})),
            10 => step.body(JSON, json!({"dryRun": "All", "preconditions": {"uid": 5}})),
            _ => step,
        }
    }

    fn delete_collection(&mut self) -> Step {
        let story = format!("story={}", self.namespace);
        let selector = if self.kind.namespaced { "a=1".to_owned() } else { story };
        Step::new(Method::DELETE, self.collection()).query("labelSelector", selector)
    }

    fn nonsense(&mut self) -> Step {
        let name = self.name();
        match self.random.usize(..8) {
            0 => Step::new(Method::PUT, self.collection()).body(JSON, self.object(&json!({}))),
            1 => Step::new(Method::POST, self.path(&name)).body(JSON, self.object(&json!({"name": name}))),
            2 => Step::new(Method::PATCH, self.path(&name)).body(JSON, json!({})),
            3 => Step::new(Method::POST, self.collection()).body("text/other", json!({})),
            4 => Step::new(Method::POST, self.collection()).body(JSON, json!([1])),
            5 => Step::new(Method::POST, self.collection()).body(JSON, json!("text")),
            6 => Step::new(Method::GET, format!("{}/other/thing", self.path(&name))),
            _ => Step::new(Method::GET, "/apis/nobody.example.com/v1/things"),
        }
    }

    /// A request for what is not built yet.
    fn beyond(&mut self) -> Step {
        let name = self.name();
        if self.random.bool() {
            return Step::new(Method::PATCH, self.path(&name))
                .query("fieldManager", "somebody")
                .body(APPLY, self.object(&json!({"name": name})))
                .needs(Need::ServerSideApply);
        }
        let step = Step::new(Method::PATCH, self.path(&name)).body(MERGE, self.kind.wrong.clone());
        if self.kind.is_custom { step } else { step.needs(Need::Validation) }
    }

    fn watched(&self) -> Watched {
        let object = self.object(&json!({"name": format!("{}-last", self.namespace)}));
        Watched {
            collection: self.collection(),
            prefix: format!("{}-", self.namespace),
            last: Step::new(Method::POST, self.collection()).body(JSON, object),
        }
    }
}

const PARTIAL: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const PARTIAL_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

/// A merge of JSON objects without deletions, to make bodies.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

impl Script {
    /// The namespace of the story: all of its names begin with it.
    pub(crate) fn namespace(&self) -> &str {
        self.watched.prefix.trim_end_matches('-')
    }

    /// The same story under other names.
    pub(crate) fn renamed(&self, namespace: &str) -> Self {
        let old = self.namespace();
        let text = |text: &str| text.replace(old, namespace);
        let step = |step: &Step| Step {
            path: text(&step.path),
            query: step.query.iter().map(|(name, value)| (*name, text(value))).collect(),
            body: step.body.as_ref().map(|body| {
                // A text that was JSON stays JSON: names hold letters, digits and hyphens.
                serde_json::from_str(&text(&body.to_string())).unwrap_or(Value::Null)
            }),
            ..step.clone()
        };
        Self {
            preparation: self.preparation.iter().map(step).collect(),
            steps: self.steps.iter().map(step).collect(),
            watched: Watched {
                collection: text(&self.watched.collection),
                prefix: text(&self.watched.prefix),
                last: step(&self.watched.last),
            },
        }
    }
}
