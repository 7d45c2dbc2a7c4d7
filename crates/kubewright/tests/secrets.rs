//! What must not be read by whoever reads logs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{collections::BTreeMap, io, net::SocketAddr, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{
    Api, Config,
    api::PostParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright::{
    controllerutil::create_or_update,
    manager::Manager,
    metrics::{MetricsAccess, MetricsServerOptions, Registry},
    prelude::*,
    recorder::{Event, EventRecorder},
    tracing,
    webhook::{
        SelfManagedCertificates, Webhook, WebhookAddress, WebhookServer, WebhookServerOptions, WebhookTarget,
        admission::{AdmissionRequest, Validator, Warnings},
    },
};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, ListenOptions, ServiceRoute, Status},
};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// All that this process logs.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn install() -> Self {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_max_level(tracing::Level::TRACE)
            .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
            .with_ansi(false)
            .finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
        log
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

/// Copies a Secret.
struct Copier(Client, EventRecorder);

impl Reconciler for Copier {
    type Error = BoxError;

    async fn reconcile(&self, _: Context, request: Request) -> Result<Action, BoxError> {
        let Some(secret) = self.0.get::<Secret>(&request).await.optional()? else {
            return Ok(Action::await_change());
        };
        if request.name() != "original" {
            return Ok(Action::await_change());
        }
        let mut copy = Secret::default();
        (copy.metadata.namespace, copy.metadata.name) = (Some("default".into()), Some("copy".into()));
        create_or_update(&self.0, copy, |copy| {
            copy.data.clone_from(&secret.data);
            Ok::<_, BoxError>(())
        })
        .await?;
        self.1.record(&*secret, Event::normal("Copied", "copied").action("Copy"));
        Ok(Action::await_change())
    }
}

struct Anything;

impl Validator<Secret> for Anything {
    type Error = BoxError;

    async fn validate_create(
        &self,
        _: &AdmissionRequest,
        secret: &Secret,
        warnings: &Warnings,
    ) -> Result<(), BoxError> {
        warnings.add("it is known");
        if secret.data.is_none() { Err("it is empty".into()) } else { Ok(()) }
    }
}

fn secret(name: &str) -> Secret {
    let mut secret =
        Secret { data: Some(BTreeMap::from([("key".into(), ByteString(DATA.into()))])), ..Secret::default() };
    secret.metadata.name = Some(name.into());
    secret.metadata.namespace = Some("default".into());
    secret
}

/// A manager with everything that sees secrets, over TCP and TLS, with requests that succeed and that fail.
#[tokio::test]
async fn tokens_keys_and_secrets_are_not_logged_at_any_level() {
    let log = Log::install();
    let env = TestEnv::start().await;
    let mut listen = ListenOptions::default();
    listen.token = Some(TOKEN.to_owned());
    let listener = env.server().listen(listen).await.unwrap();
    let kubeconfig = Kubeconfig::from_yaml(&listener.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let mut metrics = MetricsServerOptions::default();
    metrics.bind_address = "127.0.0.1:0".parse().unwrap();
    metrics.access = MetricsAccess::Authorized;
    let manager = Manager::builder().config(config).metrics_registry(Registry::new()).metrics_server(metrics);
    let manager = manager.rest_client_metrics(true).build().await.unwrap();
    let webhooks = webhooks(&env, &manager).await;
    manager.add(webhooks.clone()).unwrap();
    let copier = Copier(manager.client(), manager.event_recorder("copier"));
    Controller::builder(&manager).for_::<Secret>().complete(copier).unwrap();
    // The first Secret that the operator writes, its certificate, is refused.
    let refused = Fault::respond(Status::service_unavailable("not now"));
    env.server()
        .faults()
        .add(refused.when(|info| info.verb.as_str() == "create" && info.path.ends_with("/secrets")));
    let running = env.run(manager.clone());

    let address = SocketAddr::from(([127, 0, 0, 1], webhooks.listening().await.port()));
    env.server().route_service("default", "hook", ServiceRoute::Address(address));
    env.wait_for::<Secret>(&Request::new("default", "webhook-server-cert"), |it| it.is_some()).await;
    while webhooks.ready().is_err() {
        tokio::task::yield_now().await;
    }
    let secrets: Api<Secret> = Api::default_namespaced(env.kube());
    let empty = Secret { data: None, ..secret("empty") };
    assert!(
        secrets.create(&PostParams::default(), &empty).await.unwrap_err().to_string().contains("it is empty")
    );
    secrets.create(&PostParams::default(), &secret("original")).await.unwrap();
    env.wait_for::<Secret>(&Request::new("default", "copy"), |it| it.is_some()).await;
    let mut stream = TcpStream::connect(manager.metrics_address().await).await.unwrap();
    let ask = format!(
        "GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer {READER}\r\n\r\n"
    );
    stream.write_all(ask.as_bytes()).await.unwrap();
    stream.read_to_string(&mut String::new()).await.unwrap();
    running.stop().await.unwrap();

    let kept = secrets.get("webhook-server-cert").await.unwrap().data.unwrap();
    let keys = kept.values().filter_map(|value| String::from_utf8(value.0.clone()).ok());
    let lines: Vec<String> = keys
        .filter(|text| text.contains("PRIVATE KEY"))
        .flat_map(|key| {
            key.lines().filter(|line| !line.starts_with("--")).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    assert!(!lines.is_empty(), "there are private keys");
    let text = log.text();
    for part in ["serving webhooks", "trusts our ca", "DEBUG", "not now"] {
        assert!(text.contains(part), "all is captured: {part}");
    }
    let data = STANDARD.encode(DATA);
    let hidden = [TOKEN, READER, DATA, &data].into_iter().chain(lines.iter().map(String::as_str));
    for word in hidden {
        let found = text.lines().find(|line| line.contains(word));
        assert_eq!(found, None, "{word} is logged");
    }
}

async fn webhooks(env: &TestEnv, manager: &Manager) -> WebhookServer {
    let mut options = WebhookServerOptions::default();
    options.address = "127.0.0.1:0".parse().unwrap();
    options.metrics_registry = Registry::new();
    let target = WebhookTarget::Validating("hooks-validating-webhook-configuration".to_owned());
    let mut certificates =
        SelfManagedCertificates::new(manager.kube().clone(), "default", "hook").target(target);
    certificates.check_interval = Duration::from_millis(100);
    options.self_managed = Some(certificates);
    let server = WebhookServer::new(options);
    Webhook::<Secret>::builder().validator(Anything).register(&server).unwrap();
    let address = WebhookAddress::Service { namespace: "default".into(), name: "hook".into() };
    let mut validating = server.configurations("hooks", &address).validating.unwrap();
    // Its own Secret has to be written while nobody answers.
    validating.webhooks.as_mut().unwrap()[0].failure_policy = Some("Ignore".to_owned());
    Api::all(env.kube()).create(&PostParams::default(), &validating).await.unwrap();
    server
}

const TOKEN: &str = "token-of-the-operator-4711";
const READER: &str = "token-of-who-reads-metrics-4712";
const DATA: &str = "what-nobody-shall-read-4713";
