//! A stand-in for what runs workloads: Deployments become available as soon as they are written.
//!
//! No ReplicaSet and no Pod is made. It serves tests of controllers that wait for a Deployment.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client, Error, ResourceExt,
    api::{ApiResource, DynamicObject, Patch, PatchParams},
};
use serde_json::{Value, json};

use super::{
    follow::{Metadata, Resource},
    settle::Settle,
};
use crate::clock::{Clock, rfc3339};

/// Declares Deployments available.
pub(super) struct Workload {
    pub(super) client: Client,
    pub(super) clock: Arc<dyn Clock>,
}

impl Settle for Workload {
    /// Namespace and name of a Deployment.
    type Place = (String, String);

    fn resources(&self) -> Vec<Resource> {
        vec![Resource { api: ApiResource::erase::<Deployment>(&()), namespaced: true }]
    }

    fn place_of(&self, _: &Resource, object: &Metadata) -> Option<Self::Place> {
        Some((object.namespace().unwrap_or_default(), object.name_any()))
    }

    async fn settle(&self, (namespace, name): &Self::Place) -> Result<bool, Error> {
        let kind = ApiResource::erase::<Deployment>(&());
        let api = Api::namespaced_with(self.client.clone(), namespace, &kind);
        settle(&api, name, self.clock.now()).await.map(|()| true)
    }
}

/// Writes the status that the Deployment would have with all its pods ready.
async fn settle(api: &Api<DynamicObject>, name: &str, now: Timestamp) -> Result<(), Error> {
    let Some(deployment) = api.get_opt(name).await? else { return Ok(()) };
    let value = serde_json::to_value(&deployment).map_err(Error::SerdeError)?;
    let replicas = &value["spec"]["replicas"];
    if !replicas.is_null() && !replicas.is_i64() {
        // Nobody can run that. It comes back when somebody has mended it.
        return Ok(());
    }
    let status = settled_status(&value, now);
    if value.get("status") == Some(&without_nulls(&status)) {
        return Ok(());
    }
    let patch = Patch::Merge(json!({"status": status}));
    match api.patch_status(name, &PatchParams::default(), &patch).await {
        Err(Error::Api(refused)) if refused.code == 404 => Ok(()),
        result => result.map(|_| ()),
    }
}

/// The status as a merge patch: null where Kubernetes leaves a zero out.
///
/// Source: kube-controller-manager `deployment.calculateStatus`, `deployment/util.SetDeploymentCondition`.
fn settled_status(deployment: &Value, now: Timestamp) -> Value {
    let name = deployment["metadata"]["name"].as_str().unwrap_or_default();
    let replicas = match deployment["spec"]["replicas"].as_i64() {
        Some(0) => Value::Null,
        Some(replicas) => replicas.into(),
        None => 1.into(),
    };
    let progressed = format!("Deployment \"{name}\" has successfully progressed.");
    json!({
        "observedGeneration": deployment["metadata"]["generation"],
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        "unavailableReplicas": null,
        "conditions": [
            condition(deployment, now, "Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            condition(deployment, now, "Progressing", "NewReplicaSetAvailable", &progressed),
        ],
    })
}

/// A condition that is true. Its times stay while nothing about it changes.
fn condition(deployment: &Value, now: Timestamp, kind: &str, reason: &str, message: &str) -> Value {
    let present = deployment["status"]["conditions"].as_array().into_iter().flatten().find(|condition| {
        condition["type"] == kind && condition["status"] == "True" && condition["reason"] == reason
    });
    let time = |field: &str| match present {
        Some(present) => present[field].clone(),
        None => rfc3339(now).into(),
    };
    json!({
        "type": kind, "status": "True", "reason": reason, "message": message,
        "lastUpdateTime": time("lastUpdateTime"), "lastTransitionTime": time("lastTransitionTime"),
    })
}

fn without_nulls(value: &Value) -> Value {
    let fields = value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    fields.map(|(field, value)| (field.clone(), value.clone())).collect::<serde_json::Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_deployments_stay_as_they_are() {
        let mut deployment = json!({"metadata": {"name": "web", "generation": 3}, "spec": {"replicas": 2}});
        let first = settled_status(&deployment, Timestamp::UNIX_EPOCH);
        assert_eq!((&first["availableReplicas"], &first["observedGeneration"]), (&json!(2), &json!(3)));
        deployment["status"] = without_nulls(&first);
        let later = settled_status(&deployment, Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(60));
        assert_eq!(later, first);
    }

    #[test]
    fn no_replicas_are_left_out() {
        let deployment = json!({"metadata": {"name": "web"}, "spec": {"replicas": 0}});
        let status = settled_status(&deployment, Timestamp::UNIX_EPOCH);
        assert_eq!(without_nulls(&status).get("replicas"), None);
    }
}
