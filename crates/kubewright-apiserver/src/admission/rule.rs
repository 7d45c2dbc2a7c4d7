//! Which requests a rule is for.

use super::attributes::Operation;
use crate::value::Value;

/// One rule of a webhook: operations, and the resources they are done to.
///
/// Source: apiserver `admission/plugin/webhook/predicates/rules.Matcher`.
#[derive(Debug)]
pub(super) struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    resources: Vec<String>,
    scope: String,
}

/// What a rule is compared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) operation: Operation,
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) plural: &'a str,
    pub(super) subresource: &'a str,
    /// Whether it is in a namespace. Namespaces are not.
    pub(super) is_namespaced: bool,
}

impl Rule {
    pub(super) fn read(rule: &Value) -> Self {
        let list = |field: &str| {
            let list = rule[field].as_array().map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            operations: list("operations"),
            groups: list("apiGroups"),
            versions: list("apiVersions"),
            resources: list("resources"),
            scope: rule["scope"].as_str().unwrap_or("*").to_owned(),
        }
    }

    pub(super) fn is_for(&self, subject: Subject<'_>) -> bool {
        let names = |list: &[String], value: &str| list.iter().any(|item| item == "*" || item == value);
        let scope = match self.scope.as_str() {
            "Namespaced" => subject.is_namespaced,
            "Cluster" => !subject.is_namespaced,
            _ => true,
        };
        scope
            && names(&self.groups, subject.group)
            && names(&self.versions, subject.version)
            && names(&self.operations, subject.operation.as_str())
            && self.resources.iter().any(|resource| {
                let (plural, subresource) = resource.split_once('/').unwrap_or((resource, ""));
                (plural == "*" || plural == subject.plural)
                    && (subresource == "*" || subresource == subject.subresource)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[track_caller]
    fn check(rule: (&str, &str, &str, &str, &str), asked: &str, expected: bool) {
        let (operation, group, version, resource, scope) = rule;
        let rule = Rule::read(&json!({
            "operations": [operation], "apiGroups": [group], "apiVersions": [version], "resources": [resource],
            "scope": scope,
        }));
        let (plural, subresource) = asked.split_once('/').unwrap_or((asked, ""));
        let subject = Subject {
            operation: Operation::Update,
            group: "apps",
            version: "v1",
            plural,
            subresource,
            is_namespaced: plural != "nodes",
        };
        assert_eq!(rule.is_for(subject), expected);
    }

    #[test]
    fn rules_name_resources_as_upstream_reads_them() {
        let all = ("*", "*", "*", "*/*", "*");
        check(all, "deployments", true);
        check(all, "deployments/scale", true);
        let main = ("UPDATE", "apps", "v1", "*", "Namespaced");
        check(main, "deployments", true);
        check(main, "deployments/scale", false);
        check(main, "nodes", false);
        check(("UPDATE", "apps", "v1", "*/scale", "Cluster"), "nodes/scale", true);
        check(("*", "apps", "*", "deployments/*", "*"), "deployments", true);
        check(("*", "apps", "*", "deployments/status", "*"), "deployments/scale", false);
        check(("CREATE", "apps", "v1", "deployments", "*"), "deployments", false);
        check(("*", "", "v1", "deployments", "*"), "deployments", false);
        check(("*", "apps", "v2", "deployments", "*"), "deployments", false);
    }
}
