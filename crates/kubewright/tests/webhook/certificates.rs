//! Certificates that a server makes for itself.

use std::time::Duration;

use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::{Api, api::PostParams};
use kubewright::webhook::{SelfManagedCertificates, WebhookTarget};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, Status},
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use serde_json::json;
use tokio::time::timeout;

use crate::house::{House, PATIENCE, connect, exchange};

async fn configure(env: &TestEnv) -> Api<ValidatingWebhookConfiguration> {
    let configurations = Api::<ValidatingWebhookConfiguration>::all(env.kube());
    let sent = json!({
        "metadata": {"name": "hooks"},
        "webhooks": [{
            "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "default", "name": "hook"}},
        }],
    });
    configurations.create(&PostParams::default(), &serde_json::from_value(sent).unwrap()).await.unwrap();
    configurations
}

fn house(env: &TestEnv) -> House {
    let mut certificates = SelfManagedCertificates::new(env.kube(), "default", "hook")
        .target(WebhookTarget::Validating("hooks".to_owned()));
    certificates.check_interval = Duration::from_millis(10);
    House::new(|options| options.self_managed = Some(certificates))
}

#[tokio::test]
async fn a_server_makes_its_certificate_and_the_configuration_trusts_it() {
    let env = TestEnv::start().await;
    let configurations = configure(&env).await;
    let mut house = house(&env);
    let address = house.start().await;
    house.server.ready().unwrap();
    let webhooks = configurations.get("hooks").await.unwrap().webhooks.unwrap();
    let bundle = webhooks[0].client_config.ca_bundle.as_ref().unwrap();
    let roots: Vec<_> = CertificateDer::pem_slice_iter(&bundle.0).map(Result::unwrap).collect();
    let stream = connect(&roots, address, "hook.default.svc").await.unwrap();
    assert!(exchange(stream, "/echo", "hello").await.unwrap().ends_with("hello"));
    assert!(connect(&roots, address, "other.default.svc").await.is_err());
    house.stopped().await;
}

#[tokio::test]
async fn readiness_says_why_nobody_trusts_the_server_until_somebody_does() {
    let env = TestEnv::start().await;
    configure(&env).await;
    let refused = Status::service_unavailable("not today");
    let fault = env.server().faults().add(
        Fault::respond(refused)
            .when(|info| info.verb.as_str() == "update" && info.path.contains("validatingwebhook"))
            .always(),
    );
    let mut house = house(&env);
    house.start().await;
    let reason = house.server.ready().unwrap_err().to_string();
    let expected =
        "webhook server is not trusted: failed to have ValidatingWebhookConfiguration hooks trust our ca";
    assert!(reason.starts_with(expected) && reason.contains("not today"), "{reason}");
    fault.remove();
    let ready = async {
        while house.server.ready().is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, ready).await.unwrap();
    house.stopped().await;
}

#[tokio::test]
async fn a_server_without_the_right_to_its_secret_says_so() {
    let env = TestEnv::start().await;
    env.server().faults().add(
        Fault::respond(Status::service_unavailable("not today"))
            .when(|info| info.path.contains("secrets"))
            .always(),
    );
    let mut house = house(&env);
    house.start().await;
    let reason = house.server.ready().unwrap_err().to_string();
    let expected = "webhook server has no valid certificate: failed to read secret webhook-server-cert";
    assert!(reason.starts_with(expected) && reason.contains("not today"), "{reason}");
    house.stopped().await;
}
