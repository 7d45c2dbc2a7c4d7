//! Gives each `Greeting` a ConfigMap with its words.

use std::collections::BTreeMap;

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Condition};
use kube::CustomResource;
use kubewright::{controllerutil, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Words for whoever reads them.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Greeting", namespaced, status = "GreetingStatus")]
struct GreetingSpec {
    words: String,
}

/// What the operator says of it. The conditions' schema is why k8s-openapi has its feature `schemars`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct GreetingStatus {
    conditions: Vec<Condition>,
}

struct Greeter {
    client: Client,
}

impl Reconciler for Greeter {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, request: Request) -> Result<Action, BoxError> {
        let Some(greeting) = self.client.get::<Greeting>(&request).await.optional()? else {
            return Ok(Action::await_change());
        };
        let mut config = ConfigMap::default();
        config.metadata.name = Some(request.name().to_owned());
        config.metadata.namespace = request.namespace().map(str::to_owned);
        config.data = Some(BTreeMap::from([("words".to_owned(), greeting.spec.words.clone())]));
        controllerutil::set_controller_reference(&*greeting, &mut config)?;
        match self.client.create(&config).await {
            Err(error) if !error.is_already_exists() => Err(error.into()),
            _ => Ok(Action::await_change()),
        }
    }
}

fn add_to_manager(manager: &Manager) -> Result<(), BoxError> {
    let greeter = Greeter { client: manager.client() };
    Controller::builder(manager).for_::<Greeting>().owns::<ConfigMap>().complete(greeter)?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    kubewright::log::init();
    let manager = Manager::builder().build().await?;
    add_to_manager(&manager)?;
    manager.start(signals::shutdown()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use kube::CustomResourceExt;
    use kubewright_testing::TestEnv;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_greeting_becomes_a_config_map() -> Result<(), BoxError> {
        let env = TestEnv::start().await;
        env.install_crds([Greeting::crd()]).await;
        let manager = env.manager().build().await?;
        add_to_manager(&manager)?;
        let running = env.run(manager);

        let key = Request::new("default", "hello");
        let mut greeting = Greeting::new("hello", GreetingSpec { words: "good morning".to_owned() });
        greeting.metadata = env.meta(&key);
        env.create(&greeting).await;
        env.wait_for::<ConfigMap>(&key, |config| config.is_some()).await;
        running.stop().await?;
        Ok(())
    }
}
