//! Where a list goes on.

use base64::{DecodeError, Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::{error::Status, storage::Key};

/// Where a list goes on.
///
/// Source: apiserver `storage.EncodeContinue`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Continue {
    v: String,
    pub(super) rv: i64,
    pub(super) start: String,
    /// How many objects are left, where somebody has counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left: Option<usize>,
}

impl Continue {
    /// Goes on with the object at `key`.
    pub(super) fn at(key: &Key, revision: u64, left: Option<usize>) -> Self {
        let rv = i64::try_from(revision).unwrap_or(i64::MAX);
        Self { v: CONTINUE_VERSION.to_owned(), rv, start: key.to_string(), left }
    }

    /// Goes on with what there is now. What is left then is not what was counted.
    pub(super) fn inconsistent(&self) -> Self {
        Self { rv: -1, left: None, ..self.clone() }
    }

    pub(super) fn read(token: &str) -> Result<Option<Self>, Status> {
        if token.is_empty() {
            return Ok(None);
        }
        let invalid = |problem: String| {
            Status::bad_request(format!("invalid continue token: continue key is not valid: {problem}"))
        };
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|error| invalid(illegal_base64(&error)))?;
        let read: Self = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        match (read.v.as_str(), read.rv, read.start.as_str()) {
            (CONTINUE_VERSION, 0, _) => {
                Err(invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)".into()))
            }
            (CONTINUE_VERSION, _, "") => {
                Err(invalid("encoded start key empty (version meta.k8s.io/v1)".into()))
            }
            (CONTINUE_VERSION, ..) => Ok(Some(read)),
            (version, ..) => {
                Err(invalid(format!("server does not recognize this encoded version {version}")))
            }
        }
    }

    pub(super) fn write(&self) -> String {
        // A struct of strings and a number always encodes.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }
}

/// Source: Go's `base64.CorruptInputError`.
fn illegal_base64(error: &DecodeError) -> String {
    let at = match error {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => *at,
        DecodeError::InvalidLength(length) => length - length % 4,
        DecodeError::InvalidPadding => 0,
    };
    format!("illegal base64 data at input byte {at}")
}

const CONTINUE_VERSION: &str = "meta.k8s.io/v1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_the_round_trip() {
        let token = Continue::at(&Key::new("a", "b"), 7, Some(2));
        assert_eq!(Continue::read(&token.write()).unwrap(), Some(token));
    }

    /// As the original answers.
    #[test]
    fn tokens_of_others_are_refused() {
        let encoded = |token: &str| URL_SAFE_NO_PAD.encode(token);
        for (token, problem) in [
            ("%".to_owned(), "illegal base64 data at input byte 0"),
            ("a*".to_owned(), "illegal base64 data at input byte 1"),
            ("abcde".to_owned(), "illegal base64 data at input byte 4"),
            (encoded("{}"), "server does not recognize this encoded version "),
            (
                encoded(r#"{"v":"meta.k8s.io/v1","start":"a"}"#),
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            (encoded(r#"{"v":"meta.k8s.io/v1","rv":5}"#), "encoded start key empty (version meta.k8s.io/v1)"),
        ] {
            let message = format!("invalid continue token: continue key is not valid: {problem}");
            assert_eq!(Continue::read(&token).unwrap_err().message, message);
        }
    }
}
