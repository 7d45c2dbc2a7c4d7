//! The documents that tell a client what is served: one kind.

/// The document at `path`.
pub(super) fn document(path: &str) -> Option<&'static str> {
    match path {
        "/api" => Some(VERSIONS),
        "/apis" => Some(GROUPS),
        "/api/v1" => Some(RESOURCES),
        "/version" => Some(VERSION),
        _ => None,
    }
}

const VERSIONS: &str = r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}"#;
const GROUPS: &str = r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[]}"#;
const RESOURCES: &str = r#"{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["get","list","watch"],"shortNames":["cm"]}]}"#;
const VERSION: &str = r#"{"major":"1","minor":"37","gitVersion":"v1.37.2","gitCommit":"","gitTreeState":"","buildDate":"2026-09-01T00:00:00Z","goVersion":"","compiler":"","platform":"linux/amd64"}"#;

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::{
        apis::meta::v1::{APIGroupList, APIResourceList, APIVersions},
        version::Info,
    };

    use super::*;

    #[test]
    fn documents_are_what_clients_decode() {
        let text = |path| document(path).unwrap();
        assert_eq!(serde_json::from_str::<APIVersions>(text("/api")).unwrap().versions, ["v1"]);
        assert!(serde_json::from_str::<APIGroupList>(text("/apis")).unwrap().groups.is_empty());
        let resources: APIResourceList = serde_json::from_str(text("/api/v1")).unwrap();
        assert_eq!(resources.resources[0].kind, "ConfigMap");
        assert_eq!(serde_json::from_str::<Info>(text("/version")).unwrap().major, "1");
        assert_eq!(document("/api/v2"), None);
    }
}
