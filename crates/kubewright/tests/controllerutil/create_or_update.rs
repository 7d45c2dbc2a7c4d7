//! Create or update, create or patch.

use std::{convert::Infallible, error::Error as _, time::Duration};

use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret, Service, ServicePort, ServiceSpec},
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kubewright::{
    client::Client,
    controllerutil::{CreateOrUpdateError, OperationResult, create_or_patch, create_or_update},
    kube::{api::Patch, core::ObjectMeta},
    object::Object,
};
use kubewright_testing::{
    RunningManager, TestEnv,
    apiserver::{Fault, FaultHandle, RequestInfo, Status, Verb},
};
use serde_json::json;

use crate::common::{config_map, key};

/// An API server, and a client with a running cache.
struct World {
    env: TestEnv,
    client: Client,
    running: RunningManager,
}

impl World {
    async fn start() -> Self {
        let env = TestEnv::start().await;
        let manager = env.manager().build().await.unwrap();
        let client = manager.client();
        let running = env.run(manager);
        running.elected().await;
        Self { env, client, running }
    }

    /// Counts the requests of `verb`, from now on.
    fn count(&self, verb: Verb) -> FaultHandle {
        let no_delay = Fault::delay(Duration::ZERO);
        self.env.server().faults().add(no_delay.when(move |request| request.verb == verb).always())
    }

    /// A client whose cache has not seen that somebody else has changed the ConfigMap `shared`.
    async fn behind_another_write(&self) -> Client {
        let of_config_maps = |request: &RequestInfo| request.is(Verb::Watch, "configmaps");
        let late = Duration::from_secs(3600);
        // The object and the end of the list; then the watch breaks, and the next one is late.
        self.env.server().faults().add(Fault::cut_watch(2).when(of_config_maps));
        self.env.server().faults().add(Fault::delay(late).when(of_config_maps).after(1));
        self.env.create(&config_map("shared", &[("value", "a"), ("theirs", "a")])).await;
        let client = self.client.clone().without_own_writes();
        client.get::<ConfigMap>(&key("shared")).await.unwrap();
        let theirs = Patch::Merge(json!({ "data": { "theirs": "b" } }));
        client.patch::<ConfigMap, _>(&key("shared"), &theirs).await.unwrap();
        assert_eq!(
            client.get::<ConfigMap>(&key("shared")).await.unwrap().data.as_ref().unwrap()["theirs"],
            "a"
        );
        client
    }

    async fn stored<K: Object>(&self, name: &str) -> K {
        self.client.live().get(&key(name)).await.unwrap()
    }

    async fn stop(self) {
        self.running.stop().await.unwrap();
    }
}

/// Sets `data.value`.
fn set(value: &str) -> impl FnOnce(&mut ConfigMap) -> Result<(), Infallible> {
    let value = value.to_owned();
    move |config| {
        config.data.get_or_insert_default().insert("value".to_owned(), value);
        Ok(())
    }
}

fn value(config: &ConfigMap) -> &str {
    &config.data.as_ref().unwrap()["value"]
}

/// Both functions share the rows that do not speak of how they write.
macro_rules! rows_of_both {
    ($function:ident, $verb:expr) => {
        use super::*;

        #[tokio::test(start_paused = true)]
        async fn it_creates_a_new_object_if_one_does_not_exist() {
            let world = World::start().await;
            let (object, result) =
                $function(&world.client, config_map("new", &[]), set("a")).await.unwrap();
            assert_eq!(result, OperationResult::Created);
            assert!(object.metadata.uid.is_some(), "what the API server stored comes back");
            assert_eq!(value(&world.stored("new").await), "a");
            world.stop().await;
        }

        #[tokio::test(start_paused = true)]
        async fn it_updates_an_existing_object() {
            let world = World::start().await;
            let created = world.env.create(&config_map("old", &[("value", "a"), ("other", "kept")])).await;
            let (object, result) =
                $function(&world.client, config_map("old", &[]), set("b")).await.unwrap();
            assert_eq!(result, OperationResult::Updated);
            assert_ne!(object.metadata.resource_version, created.metadata.resource_version);
            let stored: ConfigMap = world.stored("old").await;
            assert_eq!(value(&stored), "b");
            assert_eq!(stored.data.unwrap()["other"], "kept");
            world.stop().await;
        }

        #[tokio::test(start_paused = true)]
        async fn it_writes_only_changed_objects() {
            let world = World::start().await;
            let (created, _) =
                $function(&world.client, config_map("same", &[]), set("a")).await.unwrap();
            let writes = world.count($verb);
            let (object, result) =
                $function(&world.client, config_map("same", &[]), set("a")).await.unwrap();
            assert_eq!(result, OperationResult::Unchanged);
            assert_eq!(object.metadata.resource_version, created.metadata.resource_version);
            assert_eq!(writes.fired(), 0);
            let (_, result) = $function(&world.client, config_map("same", &[]), set("b")).await.unwrap();
            assert_eq!((result, writes.fired()), (OperationResult::Updated, 1));
            world.stop().await;
        }

        #[tokio::test(start_paused = true)]
        async fn it_errors_when_the_function_changes_the_name_or_namespace_on_creation_and_on_update() {
            let world = World::start().await;
            world.env.create(&config_map("existing", &[])).await;
            for name in ["existing", "new"] {
                let rename = |config: &mut ConfigMap| {
                    config.metadata.name = Some("other".into());
                    Ok::<_, Infallible>(())
                };
                let error = $function(&world.client, config_map(name, &[]), rename).await.unwrap_err();
                assert!(matches!(&error, CreateOrUpdateError::Renamed { to, .. } if *to == key("other")));
                let move_away = |config: &mut ConfigMap| {
                    config.metadata.namespace = Some("other".into());
                    Ok::<_, Infallible>(())
                };
                let error = $function(&world.client, config_map(name, &[]), move_away).await.unwrap_err();
                assert_eq!(
                    error.to_string(),
                    format!(
                        "the mutate function changed default/{name} into other/{name}: it must not change the name \
                         or the namespace"
                    )
                );
            }
            assert!(world.client.live().get::<ConfigMap>(&key("new")).await.unwrap_err().is_not_found());
            world.stop().await;
        }

        #[tokio::test(start_paused = true)]
        async fn it_returns_the_error_of_the_function_and_writes_nothing() {
            let world = World::start().await;
            let fail = |_: &mut ConfigMap| Err("no idea");
            let error = $function(&world.client, config_map("new", &[]), fail).await.unwrap_err();
            assert_eq!(error.to_string(), "failed to mutate ConfigMap \"default/new\"");
            assert_eq!(error.source().unwrap().to_string(), "no idea");
            assert!(world.client.live().get::<ConfigMap>(&key("new")).await.unwrap_err().is_not_found());
            world.stop().await;
        }

        #[tokio::test(start_paused = true)]
        async fn it_returns_any_error_of_the_read_but_not_found_and_does_not_call_the_function() {
            let world = World::start().await;
            let forbidden = Status::new(http::StatusCode::FORBIDDEN, "Forbidden", "secrets is forbidden");
            let of_secrets = |request: &RequestInfo| {
                request.resource.as_ref().is_some_and(|resource| resource.resource == "secrets")
            };
            world.env.server().faults().add(Fault::respond(forbidden).when(of_secrets).always());
            let metadata = config_map("any", &[]).metadata;
            let never = |_: &mut Secret| -> Result<(), Infallible> { panic!("there is nothing to change") };
            let error =
                $function(&world.client, Secret { metadata, ..Secret::default() }, never).await.unwrap_err();
            assert!(matches!(&error, CreateOrUpdateError::Client(error) if error.is_forbidden()), "{error:?}");
            assert!(kubewright::error_chain(&error).ends_with("secrets is forbidden"), "{error:?}");
            world.stop().await;
        }

        #[tokio::test(start_paused = true)]
        async fn it_finds_in_the_next_call_what_it_has_created_in_this_one() {
            let world = World::start().await;
            for round in ["a", "b", "c", "d"] {
                $function(&world.client, config_map("own", &[]), set(round)).await.unwrap();
            }
            assert_eq!(value(&world.stored("own").await), "d");
            world.stop().await;
        }
    };
}

mod update {
    rows_of_both!(create_or_update, Verb::Update);

    #[tokio::test(start_paused = true)]
    async fn an_object_that_somebody_else_has_changed_is_a_conflict() {
        let world = World::start().await;
        let stale = world.behind_another_write().await;
        let error = create_or_update(&stale, config_map("shared", &[]), set("ours")).await.unwrap_err();
        assert!(matches!(&error, CreateOrUpdateError::Client(error) if error.is_conflict()), "{error:?}");
        world.stop().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_status_that_the_function_sets_is_left_out_by_the_api_server() {
        let world = World::start().await;
        let service = create_service(&world).await;
        let (_, result) =
            create_or_update(&world.client, named_service(), with_condition("Ours")).await.unwrap();
        assert_eq!(result, OperationResult::Unchanged);
        let stored: Service = world.stored("service").await;
        assert_eq!(condition(&stored), condition(&service));
        world.stop().await;
    }
}

mod patch {
    rows_of_both!(create_or_patch, Verb::Patch);

    #[tokio::test(start_paused = true)]
    async fn what_others_have_written_meanwhile_is_not_overwritten() {
        let world = World::start().await;
        let stale = world.behind_another_write().await;
        let (_, result) = create_or_patch(&stale, config_map("shared", &[]), set("ours")).await.unwrap();
        assert_eq!(result, OperationResult::Updated);
        let stored: ConfigMap = world.stored("shared").await;
        let data = stored.data.unwrap();
        assert_eq!((data["value"].as_str(), data["theirs"].as_str()), ("ours", "b"));
        world.stop().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_field_that_the_function_takes_away_goes() {
        let world = World::start().await;
        world.env.create(&config_map("shrinking", &[("value", "a"), ("gone", "soon")])).await;
        let take = |config: &mut ConfigMap| {
            config.data.get_or_insert_default().remove("gone");
            Ok::<_, Infallible>(())
        };
        let (object, _) = create_or_patch(&world.client, config_map("shrinking", &[]), take).await.unwrap();
        assert_eq!(object.data.unwrap().into_keys().collect::<Vec<_>>(), ["value"]);
        world.stop().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_object_is_created_without_its_status() {
        let world = World::start().await;
        let (created, result) =
            create_or_patch(&world.client, full_service(), with_condition("Ours")).await.unwrap();
        assert_eq!(result, OperationResult::Created);
        assert_eq!(condition(&created), None);
        world.stop().await;
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_changed_status_is_written_if_nothing_else_is() {
        let world = World::start().await;
        create_service(&world).await;
        let (object, result) =
            create_or_patch(&world.client, named_service(), with_condition("Ours")).await.unwrap();
        assert_eq!(result, OperationResult::UpdatedStatusOnly);
        assert_eq!(condition(&object).as_deref(), Some("Ours"));
        assert_eq!(condition(&world.stored("service").await).as_deref(), Some("Ours"));
        // A status that is there already and does not change is not written.
        let patches = world.count(Verb::Patch);
        let (_, result) =
            create_or_patch(&world.client, named_service(), with_condition("Ours")).await.unwrap();
        assert_eq!((result, patches.fired()), (OperationResult::Unchanged, 0));
        world.stop().await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_object_and_its_status_are_written() {
        let world = World::start().await;
        create_service(&world).await;
        for reason in ["First", "Second"] {
            let change_both = |service: &mut Service| {
                service.metadata.labels.get_or_insert_default().insert("reason".into(), reason.into());
                with_condition(reason)(service)
            };
            // In the second round the status is not empty before.
            let patches = world.count(Verb::Patch);
            let (object, result) =
                create_or_patch(&world.client, named_service(), change_both).await.unwrap();
            assert_eq!((result, patches.fired()), (OperationResult::UpdatedStatus, 2));
            let stored: Service = world.stored("service").await;
            assert_eq!(stored.metadata.resource_version, object.metadata.resource_version);
            assert_eq!(condition(&stored).as_deref(), Some(reason));
            assert_eq!(stored.metadata.labels.unwrap()["reason"], reason);
        }
        world.stop().await;
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_with_a_status_is_written_alone_if_the_status_does_not_change() {
        let world = World::start().await;
        create_service(&world).await;
        create_or_patch(&world.client, named_service(), with_condition("Ours")).await.unwrap();
        let label = |service: &mut Service| {
            service.metadata.labels.get_or_insert_default().insert("a".into(), "b".into());
            Ok::<_, Infallible>(())
        };
        let (object, result) = create_or_patch(&world.client, named_service(), label).await.unwrap();
        assert_eq!(result, OperationResult::Updated);
        assert_eq!(condition(&object).as_deref(), Some("Ours"));
        world.stop().await;
    }
}

fn named_service() -> Service {
    let (namespace, name) = (Some("default".to_owned()), Some("service".to_owned()));
    Service { metadata: ObjectMeta { namespace, name, ..ObjectMeta::default() }, ..Service::default() }
}

fn full_service() -> Service {
    let port = ServicePort { port: 80, ..ServicePort::default() };
    Service {
        spec: Some(ServiceSpec { ports: Some(vec![port]), ..ServiceSpec::default() }),
        ..named_service()
    }
}

async fn create_service(world: &World) -> Service {
    world.env.create(&full_service()).await
}

/// Sets the reason of the one condition.
fn with_condition(reason: &str) -> impl FnOnce(&mut Service) -> Result<(), Infallible> {
    let condition: Condition = serde_json::from_value(json!({
        "type": "Ready", "status": "True", "reason": reason, "message": "", "lastTransitionTime": "1970-01-01T00:00:00Z",
    }))
    .unwrap();
    move |service| {
        service.status.get_or_insert_default().conditions = Some(vec![condition]);
        Ok(())
    }
}

fn condition(service: &Service) -> Option<String> {
    Some(service.status.as_ref()?.conditions.as_ref()?.first()?.reason.clone())
}
