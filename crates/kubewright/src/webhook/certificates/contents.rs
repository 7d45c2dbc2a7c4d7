//! What the Secret holds.

use std::{collections::BTreeMap, fmt};

use k8s_openapi::ByteString;

use super::certificate::{Certificate, Pair};

/// What replicas share: the CAs that clients are to trust, the key of the newest, and what all of them show.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// The newest first. There is nothing but CAs among them.
    pub(super) authorities: Vec<Certificate>,
    /// The key of the newest CA; empty if it is not known.
    pub(super) authority_key: String,
    pub(super) serving: Option<Pair>,
}

impl Contents {
    /// Reads the data of a Secret. What cannot be read, or does not belong together, is as if it were not there.
    pub(super) fn read(data: &BTreeMap<String, ByteString>) -> Self {
        let bytes = |name: &str| data.get(name).map(|value| value.0.as_slice()).unwrap_or_default();
        let text = |name: &str| String::from_utf8_lossy(bytes(name)).into_owned();
        let mut authorities = Certificate::read_all(bytes(CA_CERTIFICATES));
        authorities.retain(|certificate| certificate.is_ca);
        authorities.sort_by_key(|authority| std::cmp::Reverse(authority.life.not_before));
        let authority_key = text(CA_KEY);
        let is_whole = authorities.first().is_some_and(|newest| newest.is_of(&authority_key));
        let serving = Certificate::read_all(bytes(SERVING_CERTIFICATE)).into_iter().next();
        let serving = serving.map(|certificate| Pair { certificate, key: text(SERVING_KEY) });
        Self {
            authorities,
            authority_key: if is_whole { authority_key } else { String::new() },
            serving: serving.filter(|pair| pair.certificate.is_of(&pair.key)),
        }
    }

    /// The data of a Secret that holds it. Others may keep more in it.
    pub(super) fn write(&self, data: &mut BTreeMap<String, ByteString>) {
        let mut put = |name: &str, text: String| data.insert(name.to_owned(), ByteString(text.into_bytes()));
        put(CA_CERTIFICATES, self.bundle());
        put(CA_KEY, self.authority_key.clone());
        if let Some(serving) = &self.serving {
            put(SERVING_CERTIFICATE, serving.certificate.pem());
            put(SERVING_KEY, serving.key.clone());
        }
    }

    /// The newest CA with its key.
    pub(super) fn signer(&self) -> Option<Pair> {
        let certificate = self.authorities.first()?.clone();
        (!self.authority_key.is_empty()).then(|| Pair { certificate, key: self.authority_key.clone() })
    }

    /// The CAs in PEM.
    pub(super) fn bundle(&self) -> String {
        self.authorities.iter().map(Certificate::pem).collect()
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents").field("authorities", &self.authorities).finish_non_exhaustive()
    }
}

/// The names that cert-manager and `kubernetes.io/tls` give them; `ca.key` is what others do not keep there.
const CA_CERTIFICATES: &str = "ca.crt";
const CA_KEY: &str = "ca.key";
const SERVING_CERTIFICATE: &str = "tls.crt";
const SERVING_KEY: &str = "tls.key";
