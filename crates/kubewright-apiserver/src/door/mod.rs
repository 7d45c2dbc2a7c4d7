//! The two doors: a service in the process, and a TCP port behind TLS.
//!
//! Both lead to the same handlers. The second one adds a bearer token, certificates and a kubeconfig.

mod certificates;
mod connection;
mod health;
mod kubeconfig;
mod layer;
mod listen;
mod metrics;
mod route;
mod service;
mod shared;

pub use certificates::{CertificateError, ServingCertificate};
pub use listen::{ListenError, ListenOptions, Listener, Transport};
pub(crate) use service::DoorOptions;
pub use service::{ApiService, ServiceError};
pub(crate) use shared::Shared;
