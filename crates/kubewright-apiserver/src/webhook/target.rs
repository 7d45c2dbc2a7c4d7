//! Where a webhook is.

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::value::Value;

/// Where a webhook is, and who vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) place: Place,
    /// PEM; empty if nobody does.
    pub(super) ca_bundle: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Url(String),
    Service { namespace: String, name: String, port: u16, path: String },
}

impl Target {
    pub(super) fn read(client: &Value) -> Self {
        let service = &client["service"];
        let text = |field: &str| service[field].as_str().unwrap_or_default().to_owned();
        let place = match client["url"].as_str() {
            Some(url) => Place::Url(url.to_owned()),
            None => Place::Service {
                namespace: text("namespace"),
                name: text("name"),
                port: service["port"].as_u64().and_then(|port| port.try_into().ok()).unwrap_or(443),
                path: text("path"),
            },
        };
        let bundle = client["caBundle"].as_str().unwrap_or_default();
        Self { place, ca_bundle: STANDARD.decode(bundle).unwrap_or_default() }
    }

    /// Its URL, with how long the answer is waited for.
    ///
    /// Source: apiserver `util/webhook.ClientManager.HookClient`; the parameter is that of client-go's `Request.Timeout`.
    pub(super) fn url(&self, timeout_seconds: u64) -> String {
        let url = match &self.place {
            Place::Url(url) => url.clone(),
            Place::Service { namespace, name, port, path } => {
                let slash = if path.starts_with('/') { "" } else { "/" };
                format!("https://{name}.{namespace}.svc:{port}{slash}{path}")
            }
        };
        format!("{url}?timeout={timeout_seconds}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn urls_are_those_of_services_or_their_own() {
        let check = |client: Value, expected: &str| assert_eq!(Target::read(&client).url(5), expected);
        check(json!({"url": "https://127.0.0.1:1/a"}), "https://127.0.0.1:1/a?timeout=5s");
        let service = json!({"namespace": "n", "name": "s", "port": 8443, "path": "/validate"});
        check(json!({"service": service}), "https://s.n.svc:8443/validate?timeout=5s");
        check(json!({"service": {"namespace": "n", "name": "s"}}), "https://s.n.svc:443/?timeout=5s");
    }
}
