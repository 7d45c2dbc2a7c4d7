//! Replicas that live for long, on the API server of tests.

use std::time::Duration;

use k8s_openapi::{
    api::{admissionregistration::v1::ValidatingWebhookConfiguration, core::v1::Secret},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    jiff::Timestamp,
};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use kubewright_testing::TestEnv;
use serde_json::json;

use super::{
    Keeper, SelfManagedCertificates, WebhookTarget, certificate::Certificate, contents::Contents,
    keeper::Kept,
};

const HOUR: Duration = Duration::from_secs(3600);

struct House {
    env: TestEnv,
    options: SelfManagedCertificates,
    secrets: Api<Secret>,
    configurations: Api<ValidatingWebhookConfiguration>,
}

impl House {
    async fn start() -> Self {
        let env = TestEnv::start().await;
        let mut options = SelfManagedCertificates::new(env.kube(), "default", "hook")
            .target(WebhookTarget::Validating("hooks".to_owned()))
            .target(WebhookTarget::Definition("widgets.example.com".to_owned()));
        options.authority_life = 60 * 24 * HOUR;
        options.serving_life = 30 * 24 * HOUR;
        let (secrets, configurations) = (Api::default_namespaced(env.kube()), Api::all(env.kube()));
        Self { env, options, secrets, configurations }
    }

    fn now(&self) -> Timestamp {
        self.env.clock().now()
    }

    /// The configuration as a tool applies it, with somebody else's webhook beside ours.
    async fn configure(&self) {
        let webhook = |name: &str, service: &str| {
            json!({
                "name": name, "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "clientConfig": {"service": {"namespace": "default", "name": service}},
            })
        };
        let sent = json!({
            "metadata": {"name": "hooks"},
            "webhooks": [webhook("a.example.com", "hook"), webhook("b.example.com", "other")],
        });
        let sent = serde_json::from_value(sent).unwrap();
        self.configurations.create(&PostParams::default(), &sent).await.unwrap();
    }

    /// The CAs that the API server trusts when it calls us, and whether it trusts anybody elsewhere.
    async fn trusted(&self) -> (Vec<Certificate>, bool) {
        let webhooks = self.configurations.get("hooks").await.unwrap().webhooks.unwrap();
        let bundle = |at: usize| webhooks[at].client_config.ca_bundle.clone().unwrap_or_default().0;
        (Certificate::read_all(&bundle(0)), !bundle(1).is_empty())
    }

    #[track_caller]
    fn check(&self, kept: &Kept, trusted: &[Certificate]) {
        assert!(kept.untrusted.is_none());
        let leaf = &Certificate::read_all(&kept.files[0])[0];
        assert_eq!(leaf.verify(trusted, "hook.default.svc", self.now()), Ok(()), "{}", self.now());
        assert!(trusted.iter().all(|authority| authority.is_ca));
    }
}

#[tokio::test(start_paused = true)]
async fn replicas_that_start_together_agree_for_two_hundred_days() {
    let house = House::start().await;
    house.configure().await;
    let mut replicas: Vec<_> = (0..3).map(|_| Keeper::new(&house.options)).collect();
    let now = house.now();
    let first = futures::future::join_all(replicas.iter_mut().map(|replica| replica.look(now))).await;
    let mut shown: Vec<_> = first.into_iter().map(Result::unwrap).collect();
    assert_eq!(house.trusted().await.0.len(), 1, "one of them makes a ca");
    let (mut authorities, mut leaves) = (Vec::new(), Vec::new());
    for round in 0..200 * 24 / 4 {
        tokio::time::advance(4 * HOUR).await;
        let (now, one) = (house.now(), round % 3);
        shown[one] = replicas[one].look(now).await.unwrap();
        let (trusted, others) = house.trusted().await;
        assert!(!others, "the webhook of somebody else is left alone");
        for kept in &shown {
            house.check(kept, &trusted);
            if leaves.last() != Some(&kept.files[0]) && !leaves.contains(&kept.files[0]) {
                leaves.push(kept.files[0].clone());
            }
        }
        for authority in
            trusted.into_iter().filter(|authority| !authorities.contains(authority)).collect::<Vec<_>>()
        {
            authorities.push(authority);
        }
    }
    assert_eq!(authorities.len(), 6, "a new ca each 40 days");
    assert!((9..=11).contains(&leaves.len()), "a new leaf each 20 days: {}", leaves.len());
}

#[tokio::test(start_paused = true)]
async fn what_others_delete_comes_back_as_it_was() {
    let house = House::start().await;
    let mut keeper = Keeper::new(&house.options);
    let before = keeper.look(house.now()).await.unwrap();
    assert!(
        before.untrusted.is_none(),
        "a configuration that is not there yet keeps nobody from being ready"
    );
    house.secrets.delete("webhook-server-cert", &DeleteParams::default()).await.unwrap();
    house.configure().await;
    let after = keeper.look(house.now()).await.unwrap();
    assert_eq!(after.files, before.files);
    house.check(&after, &house.trusted().await.0);
    let secret = house.secrets.get("webhook-server-cert").await.unwrap();
    assert_eq!(Contents::read(&secret.data.unwrap()), keeper.known());
}

#[tokio::test(start_paused = true)]
async fn the_conversion_of_a_definition_is_trusted_too() {
    let house = House::start().await;
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {"namespace": "default", "name": "hook", "path": "/convert"}},
            }},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let definition: CustomResourceDefinition = serde_json::from_value(definition).unwrap();
    let definitions = Api::<CustomResourceDefinition>::all(house.env.kube());
    definitions.create(&PostParams::default(), &definition).await.unwrap();
    let kept = Keeper::new(&house.options).look(house.now()).await.unwrap();
    let stored = definitions.get("widgets.example.com").await.unwrap();
    let client = stored.spec.conversion.unwrap().webhook.unwrap().client_config.unwrap();
    house.check(&kept, &Certificate::read_all(&client.ca_bundle.unwrap().0));
    assert_eq!(client.service.unwrap().path.as_deref(), Some("/convert"));
}
