//! Kinds of one's own.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright::object::ObjectKey;

use crate::TestEnv;

impl TestEnv {
    /// Installs custom resource definitions and waits until the API server serves them.
    ///
    /// # Panics
    /// If the API server refuses one, or does not establish it in time; the message shows the definition's conditions.
    pub async fn install_crds(&self, definitions: impl IntoIterator<Item = CustomResourceDefinition>) {
        for definition in definitions {
            let stored = self.create(&definition).await;
            self.wait_for::<CustomResourceDefinition>(&ObjectKey::of(&stored), |it| {
                it.is_some_and(is_established)
            })
            .await;
        }
    }
}

fn is_established(definition: &CustomResourceDefinition) -> bool {
    let conditions = definition.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| condition.type_ == "Established" && condition.status == "True")
}
