//! The pods that are cached: many, large and diverse, and the same ones at every run.
//!
//! A pod is about 10.6 kB of JSON, two fifths of it `managedFields`. Five replicas make a workload and share everything but
//! name, uid, node, addresses, times and ids; workloads share little but their shape, so that a store gains nothing from
//! seeing one template under many names.

mod managed_fields;
mod pod;
mod workload;

use std::io::{BufWriter, Write, stdout};

use serde_json::Value;

/// The first `objects` pods of an endless sequence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pods {
    pub(crate) objects: usize,
}

/// What a set of pods looks like, as measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) objects: usize,
    pub(crate) workloads: usize,
    pub(crate) json_bytes: usize,
    pub(crate) managed_fields_bytes: usize,
}

impl Pods {
    /// Every pod as a JSON value, one workload after the other.
    pub(crate) fn iter(self) -> impl Iterator<Item = Value> {
        let workloads =
            (0..self.workloads()).map(move |index| workload::Workload::nth(index, self.namespaces()));
        workloads
            .flat_map(|workload| (0..REPLICAS).map(move |replica| pod::pod(&workload, replica)))
            .take(self.objects)
    }

    /// The names of the namespaces that the pods are in.
    pub(crate) fn namespace_names(self) -> impl Iterator<Item = String> {
        (0..self.namespaces()).map(workload::namespace)
    }

    /// Reads every pod once, to say what the set looks like.
    pub(crate) fn shape(self) -> Shape {
        let empty = Shape { objects: 0, workloads: self.workloads(), json_bytes: 0, managed_fields_bytes: 0 };
        self.iter().fold(empty, |shape, pod| Shape {
            objects: shape.objects + 1,
            json_bytes: shape.json_bytes + text_len(&pod),
            managed_fields_bytes: shape.managed_fields_bytes + text_len(&pod["metadata"]["managedFields"]),
            ..shape
        })
    }

    fn workloads(self) -> usize {
        self.objects.div_ceil(REPLICAS)
    }

    fn namespaces(self) -> usize {
        self.objects.div_ceil(PODS_PER_NAMESPACE)
    }
}

impl Shape {
    /// JSON bytes of a pod on average.
    pub(crate) fn mean_bytes(&self) -> f64 {
        per(self.json_bytes, self.objects)
    }

    /// Which part of a pod's JSON is `managedFields`.
    pub(crate) fn managed_fields_share(&self) -> f64 {
        per(self.managed_fields_bytes, self.json_bytes)
    }
}

/// Prints every pod, a JSON object a line.
pub(crate) fn print(pods: Pods) -> anyhow::Result<()> {
    let mut output = BufWriter::new(stdout().lock());
    for pod in pods.iter() {
        writeln!(output, "{pod}")?;
    }
    Ok(output.flush()?)
}

#[expect(clippy::cast_precision_loss, reason = "counts of bytes and objects are far below 2^52")]
fn per(amount: usize, count: usize) -> f64 {
    amount as f64 / count.max(1) as f64
}

fn text_len(value: &Value) -> usize {
    value.to_string().len()
}

/// Pods of one workload.
const REPLICAS: usize = 5;
/// Pods of one namespace on average.
const PODS_PER_NAMESPACE: usize = 100;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use k8s_openapi::api::core::v1::Pod;

    use super::*;

    const MANY: Pods = Pods { objects: 1000 };

    #[test]
    fn pods_have_the_size_and_the_managed_fields_that_the_figures_are_for() {
        let shape = MANY.shape();
        assert_eq!((shape.objects, shape.workloads), (1000, 200));
        assert!((10_300.0..11_100.0).contains(&shape.mean_bytes()), "{} bytes", shape.mean_bytes());
        assert!(
            (0.38..0.43).contains(&shape.managed_fields_share()),
            "{} managed",
            shape.managed_fields_share()
        );
    }

    #[test]
    fn every_pod_decodes_and_nothing_of_it_is_unknown_to_the_type() {
        for value in (Pods { objects: 500 }).iter() {
            let pod: Pod = serde_json::from_value(value.clone()).unwrap();
            let again = serde_json::to_value(&pod).unwrap();
            assert_eq!(again["spec"], value["spec"]);
            assert_eq!(again["status"], value["status"]);
            assert_eq!(again["metadata"], value["metadata"]);
        }
    }

    #[test]
    fn names_and_uids_are_unique_and_namespaces_are_the_announced_ones() {
        let announced: HashSet<_> = MANY.namespace_names().collect();
        let (mut names, mut uids, mut namespaces) = (HashSet::new(), HashSet::new(), HashSet::new());
        for pod in MANY.iter() {
            let metadata = &pod["metadata"];
            assert!(
                names.insert((metadata["namespace"].to_string(), metadata["name"].to_string())),
                "{}",
                metadata["name"]
            );
            assert!(uids.insert(metadata["uid"].to_string()));
            namespaces.insert(metadata["namespace"].as_str().unwrap().to_owned());
        }
        assert_eq!(namespaces, announced);
    }

    #[test]
    fn replicas_share_their_template_and_workloads_do_not() {
        let pods: Vec<_> = MANY.iter().collect();
        let template = |pod: &Value| {
            let mut spec = pod["spec"].clone();
            spec["nodeName"] = Value::Null;
            (pod["metadata"]["labels"].to_string(), spec.to_string())
        };
        let templates: HashSet<_> = pods.iter().map(template).collect();
        assert_eq!(templates.len(), 200);
        for workload in pods.chunks(REPLICAS) {
            assert!(workload.iter().all(|pod| template(pod) == template(&workload[0])));
            let addresses: HashSet<_> =
                workload.iter().map(|pod| pod["status"]["podIP"].to_string()).collect();
            assert_eq!(addresses.len(), REPLICAS);
        }
        let images: HashSet<_> =
            pods.iter().map(|pod| pod["spec"]["containers"][0]["image"].to_string()).collect();
        assert!(images.len() > 195, "{} images", images.len());
    }

    #[test]
    fn references_inside_a_pod_lead_somewhere() {
        for pod in (Pods { objects: 200 }).iter() {
            let pod: Pod = serde_json::from_value(pod).unwrap();
            let spec = pod.spec.unwrap();
            let volumes: HashSet<_> = spec.volumes.unwrap().into_iter().map(|volume| volume.name).collect();
            assert_eq!(volumes.len(), 5);
            let mounts =
                spec.containers.iter().flat_map(|container| container.volume_mounts.iter().flatten());
            assert!(mounts.into_iter().all(|mount| volumes.contains(&mount.name)));
            let containers: Vec<_> = spec.containers.iter().map(|container| container.name.clone()).collect();
            let statuses: Vec<_> = pod
                .status
                .unwrap()
                .container_statuses
                .unwrap()
                .into_iter()
                .map(|status| status.name)
                .collect();
            assert_eq!(containers, statuses);
            assert_eq!(containers.iter().collect::<HashSet<_>>().len(), containers.len());
        }
    }

    #[test]
    fn the_same_pods_come_at_every_run_and_more_pods_begin_with_fewer() {
        let few: Vec<_> = (Pods { objects: 250 }).iter().collect();
        assert_eq!(few, (Pods { objects: 250 }).iter().collect::<Vec<_>>());
        assert_eq!(few.len(), 250);
        let distinct: HashSet<_> = few.iter().map(ToString::to_string).collect();
        assert_eq!(distinct.len(), 250);
    }
}
