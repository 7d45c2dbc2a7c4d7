//! How a webhook is declared to the API server.

use std::time::Duration;

use k8s_openapi::{
    api::admissionregistration::v1::{
        MatchCondition, MutatingWebhook, RuleWithOperations, ValidatingWebhook, WebhookClientConfig,
    },
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};

use super::admission::Operation;
use crate::object::Kind;

/// How one webhook is declared to the API server: when it is called, and what follows if it cannot be.
///
/// The defaults are the strict ones: whoever wants a request to pass while the webhook is away says so.
///
/// Source: `admissionregistration.k8s.io/v1 MutatingWebhook`, `ValidatingWebhook`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WebhookDeclaration {
    /// Its name. Default: `m<kind>-<version>.kb.io` or `v<kind>-<version>.kb.io`, as kubebuilder names them.
    pub name: Option<String>,
    /// Where it is served. Default: `/mutate-<group>-<version>-<kind>` or `/validate-…`, with `-` for each dot of the group.
    pub path: Option<String>,
    /// What it is called for. Default: create and update.
    pub operations: Vec<Operation>,
    /// `status`, `scale` and the like, for which it is called, too. Default: none, the object alone.
    pub subresources: Vec<String>,
    /// Whether requests pass while it cannot be called. Default: [`FailurePolicy::Fail`], they do not.
    pub failure_policy: FailurePolicy,
    /// Whether it is called for other versions of the kind. Default: [`MatchPolicy::Equivalent`], with the object converted.
    pub match_policy: MatchPolicy,
    /// Whether it changes something elsewhere. Default: [`SideEffects::None`].
    pub side_effects: SideEffects,
    /// Whether it is called once more when others change the object after it; mutating webhooks alone. Default: no.
    pub is_reinvoked: bool,
    /// How long the API server waits for it, in whole seconds from 1 to 30. Default: 10 s.
    pub timeout: Duration,
    /// In which namespaces it is called, by their labels. Default: all.
    pub namespace_selector: Option<LabelSelector>,
    /// For which objects it is called, by their labels. Default: all. Whoever may write the labels may pass it by.
    pub object_selector: Option<LabelSelector>,
    /// Conditions in CEL, all of which have to hold. Default: none.
    pub match_conditions: Vec<MatchCondition>,
}

/// What becomes of a request while a webhook cannot be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// It is refused.
    #[default]
    Fail,
    /// It passes.
    Ignore,
}

/// For which versions of a kind a webhook is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchPolicy {
    /// For every version; it gets the object in its own.
    #[default]
    Equivalent,
    /// For its own version alone.
    Exact,
}

/// Whether a webhook changes something elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SideEffects {
    /// It does not.
    #[default]
    None,
    /// It does, but for dry runs.
    NoneOnDryRun,
}

impl Default for WebhookDeclaration {
    fn default() -> Self {
        Self {
            name: None,
            path: None,
            operations: vec![Operation::Create, Operation::Update],
            subresources: Vec::new(),
            failure_policy: FailurePolicy::default(),
            match_policy: MatchPolicy::default(),
            side_effects: SideEffects::default(),
            is_reinvoked: false,
            timeout: Duration::from_secs(10),
            namespace_selector: None,
            object_selector: None,
            match_conditions: Vec::new(),
        }
    }
}

/// Whether a webhook changes objects or judges them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Mutating,
    Validating,
}

/// A declaration, and the kind that it is for.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) role: Role,
    pub(super) kind: Kind,
    pub(super) declaration: WebhookDeclaration,
}

impl Declared {
    /// Source: controller-runtime `builder.generateMutatePath`, `generateValidatePath`.
    pub(super) fn path(&self) -> String {
        let verb = match self.role {
            Role::Mutating => "mutate",
            Role::Validating => "validate",
        };
        let usual = || {
            let group = self.kind.group().replace('.', "-");
            format!("/{verb}-{group}-{}-{}", self.kind.version(), self.kind.kind().to_lowercase())
        };
        self.declaration.path.clone().unwrap_or_else(usual)
    }

    fn name(&self) -> String {
        let role = match self.role {
            Role::Mutating => "m",
            Role::Validating => "v",
        };
        let (kind, version) = (self.kind.kind().to_lowercase(), self.kind.version());
        self.declaration.name.clone().unwrap_or_else(|| format!("{role}{kind}-{version}.kb.io"))
    }

    pub(super) fn mutating(&self, client: WebhookClientConfig) -> MutatingWebhook {
        let ValidatingWebhook {
            admission_review_versions,
            client_config,
            failure_policy,
            match_conditions,
            match_policy,
            name,
            namespace_selector,
            object_selector,
            rules,
            side_effects,
            timeout_seconds,
        } = self.validating(client);
        MutatingWebhook {
            admission_review_versions,
            client_config,
            failure_policy,
            match_conditions,
            match_policy,
            name,
            namespace_selector,
            object_selector,
            reinvocation_policy: self.declaration.is_reinvoked.then(|| "IfNeeded".to_owned()),
            rules,
            side_effects,
            timeout_seconds,
        }
    }

    pub(super) fn validating(&self, client: WebhookClientConfig) -> ValidatingWebhook {
        let declared = &self.declaration;
        ValidatingWebhook {
            admission_review_versions: vec!["v1".to_owned()],
            client_config: client,
            failure_policy: Some(format!("{:?}", declared.failure_policy)),
            match_conditions: some(&declared.match_conditions),
            match_policy: Some(format!("{:?}", declared.match_policy)),
            name: self.name(),
            namespace_selector: declared.namespace_selector.clone(),
            object_selector: declared.object_selector.clone(),
            rules: Some(vec![self.rule()]),
            side_effects: format!("{:?}", declared.side_effects),
            timeout_seconds: i32::try_from(declared.timeout.as_secs()).ok(),
        }
    }

    fn rule(&self) -> RuleWithOperations {
        let (kind, declared) = (&self.kind, &self.declaration);
        let parts = declared.subresources.iter().map(|part| format!("{}/{part}", kind.plural()));
        RuleWithOperations {
            api_groups: Some(vec![kind.group().to_owned()]),
            api_versions: Some(vec![kind.version().to_owned()]),
            operations: Some(declared.operations.iter().map(|one| one.as_str().to_owned()).collect()),
            resources: Some(std::iter::once(kind.plural().to_owned()).chain(parts).collect()),
            scope: None,
        }
    }
}

fn some<T: Clone>(list: &[T]) -> Option<Vec<T>> {
    (!list.is_empty()).then(|| list.to_vec())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{core::v1::Pod, networking::v1::NetworkPolicy};

    use super::*;
    use crate::object::Object;

    fn path<K: Object>(role: Role) -> String {
        Declared { role, kind: Kind::of::<K>(), declaration: WebhookDeclaration::default() }.path()
    }

    #[test]
    fn paths_are_those_of_kubebuilder() {
        assert_eq!(path::<Pod>(Role::Mutating), "/mutate--v1-pod");
        assert_eq!(path::<NetworkPolicy>(Role::Validating), "/validate-networking-k8s-io-v1-networkpolicy");
    }
}
