//! Authentication: whose token it is that somebody has brought to the API server.

mod authenticator;
mod endpoint;
mod request;
mod response;

pub use authenticator::Authenticator;
pub(super) use endpoint::AuthenticationEndpoint;
pub use request::TokenRequest;
pub use response::AuthenticationResponse;
