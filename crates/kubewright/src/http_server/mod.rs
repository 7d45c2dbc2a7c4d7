//! HTTP servers of a process: what webhooks, metrics and health have in common.
//!
//! HTTP/1.1, over TLS or plain. A server knows its limits, contains panics, and lets requests finish when it stops.

mod answer;
mod body;
mod certificate;
mod endpoint;
mod listen;
mod routes;
mod tls;

pub(crate) use self::{
    answer::{Answer, json, text},
    body::Budget,
    certificate::{Shown, read_files},
    endpoint::{Answering, Endpoint, Mounted},
    listen::{Handler, Limits, Serving, contained},
    routes::Routes,
    tls::server_config,
};
pub use self::{body::BodyError, certificate::CertificateError, routes::RegisterError, tls::TlsError};
