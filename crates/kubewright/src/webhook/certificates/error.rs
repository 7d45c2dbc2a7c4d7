//! Why certificates could not be managed.

use thiserror::Error;

/// Why certificates could not be managed for now. It is tried again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ManageError {
    /// The Secret cannot be read: the rights are missing, or the API server is away.
    #[error("failed to read secret {name}")]
    Read {
        /// Its name.
        name: String,
        /// What the API server says.
        #[source]
        source: kube::Error,
    },
    /// The Secret cannot be written: the rights are missing, or the API server is away.
    #[error("failed to write secret {name}")]
    Write {
        /// Its name.
        name: String,
        /// What the API server says.
        #[source]
        source: kube::Error,
    },
    /// An object could not be told which CAs to trust. Whoever it has call us refuses our certificate.
    #[error("failed to have {kind} {name} trust our ca")]
    Inject {
        /// `ValidatingWebhookConfiguration` and the like.
        kind: String,
        /// Its name.
        name: String,
        /// What the API server says.
        #[source]
        source: kube::Error,
    },
    /// Others write to an object without end.
    #[error("failed to write {0}: it changes all the time")]
    Contended(String),
    /// A certificate cannot be made, most likely because a name of the server is none.
    #[error("failed to make a certificate")]
    Make(#[from] rcgen::Error),
    /// What the Secret holds is of no use to clients. This is a bug of kubewright.
    #[error("failed to verify our own certificate")]
    Verify(#[from] rustls::Error),
}
