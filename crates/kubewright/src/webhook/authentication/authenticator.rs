//! What an author writes.

use std::{future::Future, pin::Pin};

use super::{AuthenticationResponse, TokenRequest};

/// Says whose a token is.
///
/// # Example: one token
/// ```
/// use kubewright::webhook::{WebhookServer, authentication::{AuthenticationResponse, Authenticator, TokenRequest}};
///
/// struct One;
///
/// impl Authenticator for One {
///     async fn authenticate(&self, request: &TokenRequest) -> AuthenticationResponse {
///         match request.token.as_str() {
///             "sesame" => AuthenticationResponse::authenticated("ali", ["readers"]),
///             _ => AuthenticationResponse::unauthenticated(),
///         }
///     }
/// }
///
/// let server = WebhookServer::default();
/// server.register_authenticator("/authenticate", One)?;
/// # Ok::<(), kubewright::http_server::RegisterError>(())
/// ```
///
/// Source: controller-runtime `authentication.Handler`.
#[diagnostic::on_unimplemented(message = "`{Self}` authenticates nobody")]
pub trait Authenticator: Send + Sync + 'static {
    /// Judges one token. A panic is an answer, too: nobody is authenticated.
    fn authenticate(&self, request: &TokenRequest) -> impl Future<Output = AuthenticationResponse> + Send;
}

/// [`Authenticator`] as a value.
pub(super) trait DynAuthenticator: Send + Sync + 'static {
    fn authenticate<'a>(
        &'a self,
        request: &'a TokenRequest,
    ) -> Pin<Box<dyn Future<Output = AuthenticationResponse> + Send + 'a>>;
}

impl<A: Authenticator> DynAuthenticator for A {
    fn authenticate<'a>(
        &'a self,
        request: &'a TokenRequest,
    ) -> Pin<Box<dyn Future<Output = AuthenticationResponse> + Send + 'a>> {
        Box::pin(Authenticator::authenticate(self, request))
    }
}
