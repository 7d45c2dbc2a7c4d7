//! Who asks, whether he may, and what was asked: authenticators, authorizers, recordings.

mod authenticator;
mod authorizer;
mod recording;
mod token;

pub(crate) use authenticator::{Authenticator, Credentials, Everybody, KnownCertificate};
pub(crate) use authorizer::forbidden;
pub use authorizer::{AlwaysAllow, Authorizer, Decision};
pub(crate) use recording::Recordings;
pub use recording::{RecordedRequest, RequestRecorder};
pub(crate) use token::{BearerToken, TokenReader, TokenUser};
