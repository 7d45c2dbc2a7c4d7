//! One request on its way in.

use std::error::Error;

use bytes::Bytes;
use http::HeaderMap;
use http::Method;
use http_body_util::combinators::UnsyncBoxBody;

use crate::{context::Context, fault::Verdict};

/// One request on its way in. Each layer knows a little more of it.
#[derive(Debug)]
pub(in crate::door) struct Asked {
    /// Whoever asks is nobody in particular until [`Authentication`](super::Authentication) knows better.
    pub(in crate::door) context: Context,
    pub(in crate::door) method: Method,
    pub(in crate::door) headers: HeaderMap,
    pub(in crate::door) body: RequestBody,
    /// Whether the client has shown a certificate that the handshake has verified.
    pub(in crate::door) has_certificate: bool,
    /// What the fault plan has in mind for the answer.
    pub(in crate::door) verdict: Verdict,
}

/// A body of any kind, as it comes, up to the largest that is taken.
pub(in crate::door) type RequestBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// An extension of requests on a connection whose client has shown a certificate.
#[derive(Debug, Clone, Copy)]
pub(in crate::door) struct ClientCertificate;
