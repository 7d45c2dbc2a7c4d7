//! HTTP servers of a process: what webhooks, metrics and health have in common.
//!
//! HTTP/1.1, over TLS or plain; HTTP/2 over TLS where it is asked for (feature `http2`). A server knows its limits, contains panics, and lets requests
//! finish when it stops.

mod address;
mod answer;
mod body;
mod bound;
mod certificate;
mod certificates;
mod endpoint;
#[cfg(feature = "http2")]
mod http2;
mod listen;
mod routes;
mod server;
mod tls;

pub use self::{
    address::{BindAddress, BindAddressError},
    body::BodyError,
    certificate::CertificateError,
    certificates::Certificates,
    routes::RegisterError,
    server::{HttpServer, HttpServerError, HttpServerOptions},
    tls::TlsError,
};
pub(crate) use self::{
    answer::{Answer, answer, json, text},
    body::Budget,
    certificate::{CertificateReads, Shown, read_files},
    endpoint::{Answering, Endpoint, Mounted},
    listen::{Handler, Limits, Serving, contained},
    routes::Routes,
    tls::{Protocols, server_config},
};
