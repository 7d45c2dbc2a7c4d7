//! What a server prints for the API server.

use std::{convert::Infallible, time::Duration};

use k8s_openapi::api::{
    admissionregistration::v1::MatchCondition, apps::v1::Deployment, core::v1::ConfigMap,
};
use kubewright::webhook::{
    FailurePolicy, SideEffects, Webhook, WebhookAddress, WebhookServer,
    admission::{AdmissionRequest, Defaulter, Operation, Validator},
};
use serde_json::json;

struct Anything;

impl Validator<Deployment> for Anything {
    type Error = Infallible;
}

impl Defaulter<ConfigMap> for Anything {
    type Error = Infallible;

    async fn default(&self, _: &AdmissionRequest, _: &mut ConfigMap) -> Result<(), Infallible> {
        Ok(())
    }
}

fn server() -> WebhookServer {
    let server = WebhookServer::default();
    Webhook::<ConfigMap>::builder().defaulter(Anything).register(&server).unwrap();
    Webhook::<Deployment>::builder()
        .validator(Anything)
        .declare_validating(|declaration| {
            declaration.name = Some("deployments.example.com".to_owned());
            declaration.path = Some("/check".to_owned());
            declaration.operations = vec![Operation::Update, Operation::Delete];
            declaration.subresources = vec!["scale".to_owned()];
            declaration.failure_policy = FailurePolicy::Ignore;
            declaration.side_effects = SideEffects::NoneOnDryRun;
            declaration.timeout = Duration::from_secs(3);
            declaration.match_conditions =
                vec![MatchCondition { name: "a".to_owned(), expression: "true".to_owned() }];
        })
        .register(&server)
        .unwrap();
    server
}

#[test]
fn configurations_say_what_was_declared() {
    let service = WebhookAddress::Service { namespace: "system".to_owned(), name: "hook".to_owned() };
    let configurations = server().configurations("maps", &service);
    let client = |path: &str| json!({"service": {"namespace": "system", "name": "hook", "path": path}});
    let mutating = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "maps-mutating-webhook-configuration"},
        "webhooks": [{
            "name": "mconfigmap-v1.kb.io", "clientConfig": client("/mutate--v1-configmap"),
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "matchPolicy": "Equivalent",
            "sideEffects": "None", "timeoutSeconds": 10,
            "rules": [{
                "operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
            }],
        }],
    });
    assert_eq!(serde_json::to_value(configurations.mutating).unwrap(), mutating);
    let validating = json!([{
        "name": "deployments.example.com", "clientConfig": client("/check"), "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore", "matchPolicy": "Equivalent", "sideEffects": "NoneOnDryRun", "timeoutSeconds": 3,
        "matchConditions": [{"name": "a", "expression": "true"}],
        "rules": [{
            "operations": ["UPDATE", "DELETE"], "apiGroups": ["apps"], "apiVersions": ["v1"],
            "resources": ["deployments", "deployments/scale"],
        }],
    }]);
    assert_eq!(serde_json::to_value(configurations.validating.unwrap().webhooks).unwrap(), validating);
}

#[test]
fn a_server_outside_of_the_cluster_is_called_by_url() {
    let base = WebhookAddress::Url { base: "https://host:9443/".to_owned(), ca_bundle: b"ca".to_vec() };
    let webhooks = server().configurations("maps", &base).validating.unwrap().webhooks.unwrap();
    let client = &webhooks[0].client_config;
    assert_eq!(client.url.as_deref(), Some("https://host:9443/check"));
    assert_eq!(client.ca_bundle.as_ref().unwrap().0, b"ca");
    assert!(WebhookServer::default().configurations("none", &base).mutating.is_none());
}
