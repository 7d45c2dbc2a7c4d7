//! What each guestbook should have.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            ConfigMap, ConfigMapEnvSource, Container, ContainerPort, EnvFromSource, PodSpec, PodTemplateSpec,
            Service, ServicePort, ServiceSpec,
        },
    },
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use kube::{ResourceExt as _, core::ObjectMeta};

use crate::Guestbook;

/// Held until the guestbook's last message is in the archive.
pub const FINALIZER: &str = "webapp.example.com/archive";
/// The ConfigMap in which a namespace keeps the messages of guestbooks that are gone.
pub const ARCHIVE: &str = "guestbook-archive";

/// The metadata that all children of a guestbook have.
pub(crate) fn meta(guestbook: &Guestbook) -> ObjectMeta {
    ObjectMeta {
        name: Some(guestbook.name_any()),
        namespace: guestbook.namespace(),
        labels: Some(labels(guestbook)),
        ..ObjectMeta::default()
    }
}

/// The message, for the pods to read.
pub(crate) fn set_config_map(guestbook: &Guestbook, config: &mut ConfigMap) {
    config.data = Some([("MESSAGE".to_owned(), guestbook.spec.message.clone())].into());
}

/// One name for all pods.
pub(crate) fn set_service(guestbook: &Guestbook, service: &mut Service) {
    let spec = service.spec.get_or_insert_with(ServiceSpec::default);
    spec.selector = Some(labels(guestbook));
    let ports = spec.ports.get_or_insert_default();
    ports.resize_with(1, ServicePort::default);
    ports[0].port = 80;
}

/// The pods.
pub(crate) fn set_deployment(guestbook: &Guestbook, deployment: &mut Deployment) {
    let spec: &mut DeploymentSpec = &mut deployment.spec;
    spec.selector = LabelSelector { match_labels: Some(labels(guestbook)), ..LabelSelector::default() };
    spec.replicas = Some(guestbook.spec.replicas);
    let PodTemplateSpec { metadata, spec: pod } = &mut spec.template;
    metadata.get_or_insert_default().labels = Some(labels(guestbook));
    let containers = &mut pod.get_or_insert_with(PodSpec::default).containers;
    containers.resize_with(1, Container::default);
    let container = &mut containers[0];
    container.name = "guestbook".to_owned();
    container.image = Some(guestbook.spec.image.clone());
    let source = ConfigMapEnvSource { name: guestbook.name_any(), ..ConfigMapEnvSource::default() };
    container.env_from =
        Some(vec![EnvFromSource { config_map_ref: Some(source), ..EnvFromSource::default() }]);
    let ports = container.ports.get_or_insert_default();
    ports.resize_with(1, ContainerPort::default);
    ports[0].container_port = 80;
}

fn labels(guestbook: &Guestbook) -> BTreeMap<String, String> {
    [("app.kubernetes.io/name", "guestbook".to_owned()), ("app.kubernetes.io/instance", guestbook.name_any())]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}
