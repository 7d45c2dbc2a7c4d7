//! What a watch may do to a controller.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{collections::BTreeMap, time::Duration};

use common::{Counter, Journal, config_map, key};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright::{
    controllerutil::{create_or_update, set_controller_reference},
    event::Event,
    handler::Requests,
    kube::{api::Patch, core::ObjectMeta},
    prelude::*,
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, Status, Verb},
};
use serde_json::json;

/// Keeps a Secret with the data of each ConfigMap.
struct Mirror {
    client: Client,
}

impl Reconciler for Mirror {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
        let Some(config) = self.client.get::<ConfigMap>(&request).await.optional()? else {
            return Ok(Action::await_change());
        };
        let metadata = ObjectMeta {
            name: config.metadata.name.clone(),
            namespace: config.metadata.namespace.clone(),
            ..ObjectMeta::default()
        };
        create_or_update(&self.client, Secret { metadata, ..Secret::default() }, |secret| {
            let data = config.data.iter().flatten();
            secret.data = Some(
                data.map(|(name, value)| (name.clone(), k8s_openapi::ByteString(value.clone().into())))
                    .collect(),
            );
            set_controller_reference(&*config, secret)
        })
        .await?;
        Ok(Action::await_change())
    }
}

#[tokio::test(start_paused = true)]
async fn an_operator_converges_though_the_watch_is_cut_between_every_two_events() {
    let env = TestEnv::start().await;
    let cuts = env.server().faults().add(Fault::cut_watch(1).always());
    let manager = env.manager().build().await.unwrap();
    Controller::builder(&manager)
        .for_::<ConfigMap>()
        .owns::<Secret>()
        .complete(Mirror { client: manager.client() })
        .unwrap();
    let client = manager.client();
    let running = env.run(manager);

    let mut wanted = BTreeMap::new();
    for round in 0..3 {
        for number in 0..5 {
            let name = format!("config-{number}");
            let value = format!("{round}-{number}");
            if round == 0 {
                env.create(&config_map(&name, &[("value", &value)])).await;
            } else {
                let patch = Patch::Merge(json!({ "data": { "value": value } }));
                client.patch::<ConfigMap, _>(&key(&name), &patch).await.unwrap();
            }
            wanted.insert(name, value);
        }
        for (name, value) in &wanted {
            env.wait_for::<Secret>(&key(name), |secret| {
                secret.is_some_and(|secret| secret.data.as_ref().unwrap()["value"].0 == value.as_bytes())
            })
            .await;
        }
        // A child that somebody deletes comes back.
        let child = env.wait_for::<Secret>(&key("config-0"), |secret| secret.is_some()).await.unwrap();
        env.delete::<Secret>(&key("config-0")).await;
        env.wait_for::<Secret>(&key("config-0"), |secret| {
            secret.is_some_and(|secret| secret.metadata.uid != child.metadata.uid)
        })
        .await;
    }
    assert!(cuts.fired() > 40, "the scenario has more events than {}", cuts.fired());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_was_deleted_before_a_410_at_watch_start_is_heard_of_as_a_tombstone() {
    let env = TestEnv::start().await;
    for name in ["kept", "deleted", "recreated"] {
        env.create(&config_map(name, &[])).await;
    }
    let of_config_maps =
        |request: &kubewright_testing::apiserver::RequestInfo| request.is(Verb::Watch, "configmaps");
    // Three objects, the end of the list, and one change; then the watch breaks, and its next start takes a while and is refused.
    env.server().faults().add(Fault::cut_watch(5).when(of_config_maps));
    env.server().faults().add(Fault::delay(Duration::from_secs(10)).when(of_config_maps).after(1));
    let refused =
        env.server().faults().add(Fault::respond(Status::expired("too old")).when(of_config_maps).after(1));

    let (journal, counter) = (Journal::default(), Counter::default());
    let heard = journal.clone();
    let record = move |event: &Event<ConfigMap>, requests: &Requests<'_, Request>| {
        let name = event.object().key().name();
        heard.write(match event {
            Event::Create { is_in_initial_list, .. } => {
                format!("create {name}, initial: {is_in_initial_list}")
            }
            Event::Update { object_old, object_new } => {
                format!("update {name}, same object: {}", object_old.uid() == object_new.uid())
            }
            Event::Delete { delete_state_unknown, .. } => {
                format!("delete {name}, unknown: {delete_state_unknown}")
            }
            Event::Generic { .. } => format!("generic {name}"),
        });
        requests.add(event.object().key().clone());
    };
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    Controller::builder(&manager).named("recorder").watches(record).complete(counter.clone()).unwrap();
    let running = env.run(manager);
    counter.wait_for(&key("kept"), 1).await;

    let patch = Patch::Merge(json!({ "data": { "changed": "yes" } }));
    client.patch::<ConfigMap, _>(&key("kept"), &patch).await.unwrap();
    counter.wait_for(&key("kept"), 2).await;
    // The watch is down now.
    env.delete::<ConfigMap>(&key("deleted")).await;
    env.delete::<ConfigMap>(&key("recreated")).await;
    env.create(&config_map("recreated", &[])).await;
    env.create(&config_map("created", &[])).await;
    for (name, times) in [("deleted", 2), ("recreated", 2), ("created", 1)] {
        counter.wait_for(&key(name), times).await;
    }
    running.stop().await.unwrap();

    assert_eq!(refused.fired(), 1);
    let mut lines = journal.lines();
    lines.sort();
    assert_eq!(
        lines,
        [
            "create created, initial: false",
            "create deleted, initial: true",
            "create kept, initial: true",
            "create recreated, initial: true",
            "delete deleted, unknown: true",
            "update kept, same object: true",
            "update recreated, same object: false",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_read_waits_for_the_own_write_that_the_watch_has_not_brought_yet() {
    let env = TestEnv::start().await;
    let of_config_maps =
        |request: &kubewright_testing::apiserver::RequestInfo| request.is(Verb::Watch, "configmaps");
    env.server().faults().add(Fault::cut_watch(2).when(of_config_maps));
    env.server().faults().add(Fault::delay(Duration::from_secs(3)).when(of_config_maps).after(1));
    let manager = env.manager().build().await.unwrap();
    let client = manager.client();
    let running = env.run(manager);
    running.elected().await;

    // The list is empty; its end and this object are the two events before the watch breaks.
    assert!(client.list::<ConfigMap>().await.unwrap().is_empty());
    client.create(&config_map("first", &[])).await.unwrap();
    assert!(client.get::<ConfigMap>(&key("first")).await.is_ok());

    let start = tokio::time::Instant::now();
    let stored = client.create(&config_map("second", &[])).await.unwrap();
    let stale = client.clone().without_own_writes();
    assert!(stale.get::<ConfigMap>(&key("second")).await.unwrap_err().is_not_found());
    let read = client.get::<ConfigMap>(&key("second")).await.unwrap();
    assert_eq!(read.metadata.resource_version, stored.metadata.resource_version);
    assert!(start.elapsed() >= Duration::from_secs(3));

    client
        .delete::<ConfigMap>(&key("second"), &kubewright::kube::api::DeleteParams::default())
        .await
        .unwrap();
    assert!(client.get::<ConfigMap>(&key("second")).await.unwrap_err().is_not_found());
    assert_eq!(client.list::<ConfigMap>().await.unwrap().len(), 1);
    running.stop().await.unwrap();
}
