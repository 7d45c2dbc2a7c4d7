//! Certificates that change while objects are converted.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use conversion::{
    definition, v1,
    v2::{self, Schedule},
    webhook,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use kubewright::{object::ObjectKey, webhook::WebhookServerOptions};
use kubewright_testing::{TestEnv, apiserver::ServiceRoute};
use tokio::task::JoinSet;

/// Lives are as short as the seconds in certificates allow; a third of each is left when the next one comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_fails_while_certificates_are_renewed() {
    let env = TestEnv::builder().timeout(Duration::from_secs(120)).start().await;
    env.install_crds([definition(&webhook::address("default")).unwrap()]).await;
    let mut certificates = webhook::certificates(env.kube(), "default");
    certificates.authority_life = Duration::from_secs(9);
    certificates.serving_life = Duration::from_secs(6);
    certificates.propagation = Duration::from_secs(1);
    certificates.check_interval = Duration::from_millis(50);
    let mut options = WebhookServerOptions::default();
    options.address = ([127, 0, 0, 1], 0).into();
    let server = webhook::server(options, certificates).unwrap();
    let manager = env.manager().build().await.unwrap();
    manager.add(server.clone()).unwrap();
    let running = env.run(manager);
    env.server().route_service("default", webhook::SERVICE, ServiceRoute::Address(server.listening().await));
    let key = ObjectKey::cluster_scoped("backups.example.com");
    env.wait_for::<CustomResourceDefinition>(&key, |it| !bundle(it).is_empty()).await;

    let (mut load, calls) = (JoinSet::new(), std::sync::Arc::new(AtomicUsize::new(0)));
    for caller in 0..2 {
        let (client, calls) = (env.kube(), calls.clone());
        load.spawn(async move {
            for round in 0.. {
                write_and_read(&client, &format!("backup-{caller}-{}", round % 8)).await;
                calls.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let mut seen = BTreeSet::new();
    let rotated = env.wait_for::<CustomResourceDefinition>(&key, |it| {
        let bundle = bundle(it);
        let is_new = seen.insert(bundle.clone());
        assert!(!bundle.is_empty(), "somebody is trusted at every moment");
        // One CA, two, and the second one alone.
        is_new && seen.len() >= 3
    });
    tokio::select! {
        _ = rotated => {}
        failed = load.join_next() => panic!("a call failed: {failed:?}"),
    }
    println!("{} rounds of calls under {} bundles", calls.load(Ordering::Relaxed), seen.len());
    load.shutdown().await;
    running.stop().await.unwrap();
}

/// Whom the API server trusts.
fn bundle(definition: Option<&CustomResourceDefinition>) -> Vec<u8> {
    let conversion = definition.and_then(|it| it.spec.conversion.as_ref()?.webhook.as_ref());
    conversion.and_then(|it| it.client_config.as_ref()?.ca_bundle.clone()).map(|it| it.0).unwrap_or_default()
}

/// Every call asks the webhook.
async fn write_and_read(client: &kube::Client, name: &str) {
    let new: Api<v2::Backup> = Api::default_namespaced(client.clone());
    let schedule = Schedule { hour: Some("3".into()), ..Schedule::default() };
    let backup = v2::Backup::new(name, v2::BackupSpec { volume: "home".into(), schedule });
    new.create(&PostParams::default(), &backup).await.unwrap();
    assert_eq!(new.get(name).await.unwrap().spec, backup.spec);
    let all = new.list(&ListParams::default()).await.unwrap();
    assert!(all.items.iter().any(|it| it.spec == backup.spec));
    let old: Api<v1::Backup> = Api::default_namespaced(client.clone());
    old.delete(name, &kube::api::DeleteParams::default()).await.unwrap();
}
