//! Status writes after conflicts.

use std::{cell::Cell, time::Duration};

use k8s_openapi::api::{
    apps::v1::{Deployment, DeploymentSpec},
    core::v1::{Container, PodSpec},
};
use kubewright::{
    controllerutil::update_status,
    kube::{api::Patch, core::ObjectMeta},
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, RequestInfo, Status, Verb},
};
use serde_json::json;

use crate::common::key;

fn deployment() -> Deployment {
    let labels = Some([("app".to_owned(), "a".to_owned())].into());
    let mut spec = DeploymentSpec::default();
    spec.selector.match_labels.clone_from(&labels);
    spec.template.metadata = Some(ObjectMeta { labels, ..ObjectMeta::default() });
    let container = Container { name: "a".into(), image: Some("a".into()), ..Container::default() };
    spec.template.spec = Some(PodSpec { containers: vec![container], ..PodSpec::default() });
    Deployment {
        metadata: ObjectMeta {
            namespace: Some("default".into()),
            name: Some("a".into()),
            ..ObjectMeta::default()
        },
        spec,
        ..Deployment::default()
    }
}

fn observe(deployment: &mut Deployment) {
    deployment.status.get_or_insert_default().observed_generation = deployment.metadata.generation;
}

#[tokio::test(start_paused = true)]
async fn a_status_is_written_again_from_the_latest_state_after_a_conflict() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client().without_own_writes();
    let running = env.run(manager);
    running.elected().await;
    env.create(&deployment()).await;
    // The object and the end of the list; then the watch breaks, and the next one is late: the cache stays behind.
    let of_deployments = |request: &RequestInfo| request.is(Verb::Watch, "deployments");
    env.server().faults().add(Fault::cut_watch(2).when(of_deployments));
    env.server().faults().add(Fault::delay(Duration::from_secs(3600)).when(of_deployments).after(1));
    client.get::<Deployment>(&key("a")).await.unwrap();
    let scale = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    client.patch::<Deployment, _>(&key("a"), &scale).await.unwrap();

    let calls = Cell::new(0);
    let stored = update_status::<Deployment>(&client, &key("a"), |deployment| {
        calls.set(calls.get() + 1);
        observe(deployment);
    })
    .await
    .unwrap();
    assert_eq!((calls.get(), stored.status.unwrap().observed_generation), (2, Some(2)));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_status_that_is_as_desired_is_not_written_and_endless_conflicts_are_an_error() {
    let env = TestEnv::start().await;
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;
    env.create(&deployment()).await;
    let first = update_status::<Deployment>(&client, &key("a"), observe).await.unwrap();
    let second = update_status::<Deployment>(&client, &key("a"), observe).await.unwrap();
    assert_eq!(first.metadata.resource_version, second.metadata.resource_version);

    let conflict = Status::stale("deployments.apps", "a");
    let refused =
        env.server().faults().add(Fault::respond(conflict).when(|it| it.verb == Verb::Update).always());
    let error = update_status::<Deployment>(&client, &key("a"), |deployment| {
        deployment.status.get_or_insert_default().replicas = Some(7);
    })
    .await
    .unwrap_err();
    assert!(error.is_conflict(), "{error}");
    assert_eq!(refused.fired(), 5);
    running.stop().await.unwrap();
}
