//! Tokens of service accounts: made on request, and known again.

use std::sync::OnceLock;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use rcgen::{KeyPair, PKCS_ED25519, SigningKey};

use crate::value::{Value, json};

/// Makes tokens, and knows those that it has made. Each server has a key of its own, made for the first token.
///
/// # Differences from Go
/// They are signed with Ed25519, and nobody else is told the key: only this server can say whether one is good.
///
/// Source: kubernetes `pkg/serviceaccount.JWTTokenGenerator`.
#[derive(Default)]
pub(crate) struct ServiceTokens(OnceLock<KeyPair>);

impl ServiceTokens {
    /// A token that says `claims`.
    ///
    /// # Errors
    /// The system gives no random numbers, of which a key is made.
    pub(crate) fn issue(&self, claims: &Value) -> Result<String, rcgen::Error> {
        let key = if let Some(key) = self.0.get() {
            key
        } else {
            let made = KeyPair::generate_for(&PKCS_ED25519)?;
            self.0.get_or_init(|| made)
        };
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encoded(&json!({"alg": "EdDSA", "typ": "JWT"})), encoded(claims));
        let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes())?);
        Ok(format!("{signed}.{signature}"))
    }

    /// What a token says, if this server has made it and it has not expired.
    pub(crate) fn read(&self, token: &str, now: Timestamp) -> Option<Value> {
        let (signed, signature) = token.rsplit_once('.')?;
        // The same words have the same signature, so that it can be checked by signing them again.
        let expected = self.0.get()?.sign(signed.as_bytes()).ok()?;
        let given = URL_SAFE_NO_PAD.decode(signature).ok()?;
        if !is_same(&given, &expected) {
            return None;
        }
        let claims = URL_SAFE_NO_PAD.decode(signed.split_once('.')?.1).ok()?;
        let claims: Value = serde_json::from_slice(&claims).ok()?;
        claims["exp"].as_i64().filter(|expires| now.as_second() < *expires)?;
        Some(claims)
    }
}

impl std::fmt::Debug for ServiceTokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ServiceTokens")
    }
}

/// Compares in a time that does not depend on where the bytes differ.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_this_server_has_signed_is_believed_and_only_in_time() {
        let (tokens, others) = (ServiceTokens::default(), ServiceTokens::default());
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(tokens.read("a.b.c", at(0)), None, "there is no key yet");
        let claims = json!({"sub": "somebody", "exp": 10});
        let token = tokens.issue(&claims).unwrap();
        assert_eq!(tokens.read(&token, at(9)), Some(claims.clone()));
        assert_eq!(tokens.read(&token, at(10)), None, "it has expired");
        assert_eq!(tokens.read(&others.issue(&claims).unwrap(), at(9)), None);
        let forged = URL_SAFE_NO_PAD.encode(json!({"sub": "admin", "exp": 10}).to_string());
        let parts: Vec<_> = token.split('.').collect();
        assert_eq!(tokens.read(&format!("{}.{forged}.{}", parts[0], parts[2]), at(9)), None);
        for wrong in ["", ".", "..", &token[..token.len() - 1], parts[0]] {
            assert_eq!(tokens.read(wrong, at(9)), None, "{wrong}");
        }
    }
}
