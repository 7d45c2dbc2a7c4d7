//! The objects: `ConfigMap`s of about 1 kB, a third of it `managedFields`, and the same ones at every run.

use std::collections::BTreeMap;

use bench_common::words::Words;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A `ConfigMap` in the order in which API servers write fields.
#[derive(Debug, Serialize)]
pub(super) struct ConfigMap {
    metadata: Metadata,
    data: BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    namespace: String,
    uid: String,
    /// Empty: every event has another one.
    resource_version: &'static str,
    creation_timestamp: String,
    labels: BTreeMap<&'static str, String>,
    managed_fields: Value,
}

impl ConfigMap {
    /// The `index`th of an endless sequence. Some neighbours share namespace and labels, as the parts of one application do.
    pub(super) fn nth(index: usize) -> Self {
        let mut of_namespace = Words::with_seed(NAMESPACE_SEED + (index / PER_NAMESPACE) as u64);
        let mut of_application = Words::with_seed(APPLICATION_SEED + (index / PER_APPLICATION) as u64);
        let mut words = Words::with_seed(index as u64);
        let application = format!("{}-{}", of_application.word(2), of_application.word(1));
        let labels = labels(&mut of_application, &application);
        let data = data(&mut words);
        let created = words.moment();
        Self {
            metadata: Metadata {
                name: format!("{application}-{}-{index}", words.word(2)),
                namespace: format!("{}-{}", of_namespace.word(2), index / PER_NAMESPACE),
                uid: words.uuid(),
                resource_version: "",
                managed_fields: managed_fields(&labels, &data, &created),
                creation_timestamp: created,
                labels,
            },
            data,
        }
    }
}

fn labels(words: &mut Words, application: &str) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("app.kubernetes.io/instance", format!("{application}-{}", words.below(9))),
        ("app.kubernetes.io/managed-by", words.pick(&["Helm", "argocd", "flux"]).to_owned()),
        ("app.kubernetes.io/name", application.to_owned()),
        ("app.kubernetes.io/version", format!("{}.{}.{}", words.below(9), words.below(30), words.below(60))),
    ])
}

fn data(words: &mut Words) -> BTreeMap<String, String> {
    let mut data: BTreeMap<_, _> = (0..4 + words.below(4))
        .map(|number| (format!("{}.{}-{number}", words.word(1), words.word(2)), words.word(4)))
        .collect();
    let address = format!("{}.{}.svc", words.word(2), words.word(2));
    let file = format!(
        "listen: {}\nupstream: \"https://{address}:{}\"\n",
        1024 + words.below(9999),
        1024 + words.below(9999)
    );
    data.insert("config.yaml".to_owned(), file);
    data
}

/// Who set which field: one writer, as a tool that applies charts leaves it.
fn managed_fields(
    labels: &BTreeMap<&'static str, String>,
    data: &BTreeMap<String, String>,
    time: &str,
) -> Value {
    let owned = |names: &mut dyn Iterator<Item = &str>| {
        let fields = names.map(|name| (format!("f:{name}"), json!({})));
        std::iter::once((".".to_owned(), json!({}))).chain(fields).collect::<Map<_, _>>()
    };
    let fields = json!({
        "f:data": owned(&mut data.keys().map(String::as_str)),
        "f:metadata": {"f:labels": owned(&mut labels.keys().copied())},
    });
    json!([{
        "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields, "manager": "helm", "operation": "Update", "time": time,
    }])
}

const PER_NAMESPACE: usize = 100;
const PER_APPLICATION: usize = 5;
/// Keep the words of namespaces, applications and objects apart.
const NAMESPACE_SEED: u64 = 1 << 40;
const APPLICATION_SEED: u64 = 1 << 41;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use k8s_openapi::api::core::v1;

    use super::*;

    #[test]
    fn objects_have_the_size_that_the_figures_are_for() {
        let bytes: usize = (0..1000).map(|index| text(index).len()).sum();
        assert!((950_000..1_100_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn every_object_decodes_under_its_own_name_and_nothing_of_it_is_unknown() {
        let mut names = HashSet::new();
        for index in 0..1000 {
            let value: Value = serde_json::from_str(&text(index)).unwrap();
            let decoded: v1::ConfigMap = serde_json::from_value(value.clone()).unwrap();
            let again = serde_json::to_value(&decoded).unwrap();
            assert_eq!((&again["metadata"], &again["data"]), (&value["metadata"], &value["data"]));
            assert!(names.insert((decoded.metadata.namespace, decoded.metadata.name)));
        }
    }

    fn text(index: usize) -> String {
        serde_json::to_string(&ConfigMap::nth(index)).unwrap()
    }
}
