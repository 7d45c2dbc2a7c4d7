//! What the API server has to know.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    CustomResourceExt as _,
    core::crd::{MergeError, merge_crds},
};
use kubewright::webhook::WebhookAddress;

use crate::{v1, v2};

/// The kind in both versions, converted by whoever is at `address`.
pub fn definition(address: &WebhookAddress) -> Result<CustomResourceDefinition, MergeError> {
    let mut definition = merge_crds(vec![v1::Backup::crd(), v2::Backup::crd()], "v1")?;
    definition.spec.conversion = Some(address.conversion());
    Ok(definition)
}
