//! A Kubernetes API server in a library.
//!
//! One server has two doors. [`ApiServer::service`] is a `tower` service that `kube::Client::new` takes directly: no
//! sockets, no certificates, and paused Tokio time works. [`ApiServer::listen`] puts the same server behind TLS, for
//! kubectl and for clients in any language.
//!
//! It stores, lists, watches, patches and deletes the built-in kinds that operators use and every custom resource
//! whose `CustomResourceDefinition` is created, with the words, codes and numbers of kube-apiserver.
//!
//! # Example: create a ConfigMap and follow its changes
//! ```
//! use futures::TryStreamExt;
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::{Api, Client, api::{PostParams, WatchEvent, WatchParams}};
//! use kubewright_apiserver::ApiServer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = ApiServer::builder().build();
//! let config_maps: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
//! let mut config_map = ConfigMap::default();
//! config_map.metadata.name = Some("settings".into());
//! config_maps.create(&PostParams::default(), &config_map).await?;
//!
//! let mut events = Box::pin(config_maps.watch(&WatchParams::default(), "0").await?);
//! let Some(WatchEvent::Added(found)) = events.try_next().await? else { panic!("the watch begins with what is there") };
//! assert_eq!(found.metadata.name.as_deref(), Some("settings"));
//! # Ok(())
//! # }
//! ```
//!
//! # What it does not do yet
//! Built-in kinds are not validated or pruned by a schema beyond a few certain rules, and strict field validation finds
//! nothing in them. Rules in CEL are kept and not evaluated. Server-side apply is refused with 415. Everybody who gets in
//! is an administrator. Match conditions of webhooks are refused.
//!
//! # Features
//! - `bin`: the `kubewright-apiserver` program. The library is the same without it.

mod admission;
mod auth;
mod clock;
mod context;
mod controllers;
mod convert;
mod discovery;
mod door;
mod endpoint;
mod error;
mod fault;
mod fields;
mod identity;
mod kind;
mod name;
mod object;
mod openapi;
mod options;
mod patch;
mod registry;
mod schema;
mod selector;
mod server;
mod service_tokens;
mod storage;
mod value;
mod webhook;
mod wire;

pub use auth::{AlwaysAllow, Authorizer, Decision, RecordedRequest, RequestRecorder};
pub use clock::{Clock, SystemClock, VirtualClock};
pub use context::{RequestInfo, ResourceInfo, UserInfo, Verb};
pub use controllers::{Controllers, RunningControllers};
pub use door::{
    ApiService, CertificateError, ListenError, ListenOptions, Listener, ServiceError, ServingCertificate,
    Transport,
};
pub use error::Status;
pub use fault::{Fault, FaultHandle, Faults};
pub use server::{ApiServer, ApiServerBuilder};
pub use webhook::{ServiceRoute, WebhookHandler};
pub use wire::{Body, BodyError};
