//! Why a request to list or watch ended before its time.

use std::{sync::Arc, time::Duration};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;

/// A list or a watch went wrong. The reflector always tries again; this is what it says meanwhile.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Failure {
    /// The API server answered with a Status.
    #[error("the API server answered {code} {reason}: {message}")]
    Status { code: u16, reason: String, message: String },
    /// The connection could not be made, or it broke.
    #[error("the connection to the API server failed")]
    Transport(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// The connection stands and nothing comes.
    #[error("the API server sent nothing for {0:?}")]
    Silent(Duration),
    /// The API server sends objects but never says that the list is complete.
    #[error("the API server never ended its streaming list")]
    Endless,
    /// The API server remembers less of a list than it takes to read its pages.
    #[error("the list expired before its last page was read")]
    PageExpired,
    /// The API server is not as far as it was. It may be a replica that lags, or a server that was restored from a backup.
    #[error("the API server is at version {version} after it had been at {reached}")]
    Older { version: u64, reached: u64 },
    /// What came is not what a list or a watch looks like.
    #[error("the API server's answer is malformed: {0}")]
    Malformed(String),
}

impl Failure {
    pub(crate) fn transport(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Transport(error.into().into())
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` calls")]
    pub(crate) fn malformed(error: impl ToString) -> Self {
        Self::Malformed(error.to_string())
    }

    /// Reads the body of an error answer, or the object of an `ERROR` event: a Status if the API server wrote it, any text if a proxy did.
    pub(crate) fn from_status(code: Option<u16>, body: &[u8]) -> Self {
        let status: Status = serde_json::from_slice(body).unwrap_or_default();
        let code = code.or_else(|| status.code.and_then(|code| u16::try_from(code).ok())).unwrap_or(500);
        let message = status.message.unwrap_or_else(|| String::from_utf8_lossy(body).trim().to_owned());
        Self::Status { code, reason: status.reason.unwrap_or_default(), message }
    }

    /// The resource version that we asked for is gone: only a new list helps.
    pub(crate) fn is_expired(&self) -> bool {
        matches!(self, Self::Status { code, reason, .. } if *code == 410 || reason == "Expired" || reason == "Gone")
    }

    /// The API server has not reached the resource version that we asked for, and may never do so.
    pub(crate) fn is_too_large_version(&self) -> bool {
        matches!(self, Self::Status { code: 504, message, .. } if message.contains("Too large resource version"))
    }

    /// The API server does not know the kind.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::Status { code: 404, .. })
    }

    /// A definite answer: nothing comes before somebody installs the kind, or grants a permission.
    pub(crate) fn is_refusal(&self) -> bool {
        self.is_absence() || matches!(self, Self::Status { code: 401 | 403, .. })
    }

    /// The same request may well succeed later, from where we are.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Status { code, .. } => matches!(code, 429 | 500 | 502 | 503 | 504),
            Self::Transport(_) | Self::Silent(_) => true,
            Self::Endless | Self::PageExpired | Self::Older { .. } | Self::Malformed(_) => false,
        }
    }

    /// The status of the API server's answer, if this is one.
    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// The API server answered, and this is its answer.
    pub(crate) fn is_status(&self) -> bool {
        matches!(self, Self::Status { .. })
    }

    /// The API server does not know streaming lists: it refuses the parameter, or ignores it.
    pub(crate) fn means_no_streaming(&self) -> bool {
        match self {
            Self::Status { code, .. } => matches!(code, 400 | 422),
            Self::Endless => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_error_body_becomes_a_failure() {
        let expired = Failure::from_status(
            None,
            br#"{"kind":"Status","code":410,"reason":"Expired","message":"too old resource version: 1 (9)"}"#,
        );
        assert!(expired.is_expired());
        assert_eq!(
            expired.to_string(),
            "the API server answered 410 Expired: too old resource version: 1 (9)"
        );
        let proxy = Failure::from_status(Some(502), b"<html>bad gateway</html>\n");
        assert!(proxy.is_passing());
        assert_eq!(proxy.to_string(), "the API server answered 502 : <html>bad gateway</html>");
        assert!(matches!(Failure::from_status(None, b"\"nonsense\""), Failure::Status { code: 500, .. }));
    }
}
