//! The table of built-in resources.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{
    autoscaler, columns, containers, defaults,
    definition::{self, Definitions},
    event::Events,
    namespace::Namespaces,
    pod::Pods,
    row::{ALL_BUT_DELETE_COLLECTION, ALL_VERBS, Kind, ScalePaths, Scope, Subresource},
    rules::{DeletionStyle, Generation, NewStatus, Propagation, Rules, StatusMetadata},
    service::{self, Services},
    service_address::ServiceAddresses,
    setup,
    signing_request::SigningRequests,
    strategy::Strategy,
    validation,
    versions::EVENT_FIELDS,
    webhook_validation,
};
use crate::{
    convert::{ByName, ByRule, Converter, RenamedFields},
    name::NameRule,
    object::Object,
};

/// All built-in resources, in the order of discovery.
pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = ROWS.iter().chain(setup::ROWS).map(Row::build).collect();
    let place = |kind: &Kind| GROUPS.iter().position(|group| *group == kind.group);
    kinds.sort_by(|a, b| (place(a), &a.plural).cmp(&(place(b), &b.plural)));
    kinds
}

/// The groups in the order of discovery; inside of each, resources go by name.
///
/// Source: kubernetes `pkg/controlplane/apiserver.DefaultGenericAPIServicePriorities` and its like.
const GROUPS: &[&str] = &[
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "storagemigration.k8s.io",
];

/// A row of the table. What is usual is left to [`Row::namespaced`] and [`Row::cluster`].
#[allow(clippy::struct_excessive_bools, reason = "each is a column of the table")]
pub(super) struct Row {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    pub(super) short_names: &'static [&'static str],
    pub(super) in_all: bool,
    pub(super) scope: Scope,
    pub(super) verbs: &'static [&'static str],
    pub(super) has_status: bool,
    pub(super) has_scale: bool,
    /// Field label and pointer.
    pub(super) field_labels: &'static [(&'static str, &'static str)],
    pub(super) columns: columns::Columns,
    /// Whether `Age` is among the columns.
    pub(super) shows_age: bool,
    /// What clients are told who use it.
    pub(super) deprecation: Option<&'static str>,
    pub(super) rules: fn() -> Rules,
    pub(super) strategy: fn(Rules) -> Arc<dyn Strategy>,
    /// How the objects that another row keeps become those of this one; `None` where the row keeps its own.
    pub(super) other: Option<Other>,
}

/// A resource of the same objects in another version or group.
pub(super) struct Other {
    group: &'static str,
    version: &'static str,
    converter: fn() -> Arc<dyn Converter>,
}

impl Row {
    pub(super) const fn namespaced(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self {
            group,
            version,
            kind,
            plural,
            short_names: &[],
            in_all: false,
            scope: Scope::Namespaced,
            verbs: ALL_VERBS,
            has_status: false,
            has_scale: false,
            field_labels: &[],
            columns: &[],
            shows_age: true,
            deprecation: None,
            rules: Rules::default,
            strategy: |rules| Arc::new(rules),
            other: None,
        }
    }

    pub(super) const fn cluster(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self { scope: Scope::Cluster, ..Self::namespaced(group, version, kind, plural) }
    }

    /// Source: the storage of each kind in kubernetes `pkg/registry`.
    fn registry_path(&self) -> &'static str {
        match (self.group, self.plural) {
            ("", "services") => "services/specs",
            ("", "endpoints") => "services/endpoints",
            ("", "nodes") => "minions",
            ("networking.k8s.io", "ingresses") => "ingress",
            ("apiextensions.k8s.io", _) => super::DEFINITIONS,
            (_, plural) => plural,
        }
    }

    /// Source: the storage of each kind in kubernetes `pkg/registry`, apiextensions and kube-aggregator.
    fn categories(&self) -> &'static [&'static str] {
        match self.group {
            _ if self.in_all => &["all"],
            "admissionregistration.k8s.io" | "apiextensions.k8s.io" | "apiregistration.k8s.io" => {
                &["api-extensions"]
            }
            _ => &[],
        }
    }

    fn build(&self) -> Kind {
        let mut subresources = Vec::new();
        if self.has_status {
            subresources.push(Subresource::Status);
        }
        if self.has_scale {
            subresources.push(Subresource::Scale(ScalePaths {
                replicas: "/spec/replicas".into(),
                status_replicas: "/status/replicas".into(),
                selector: Some("/spec/selector".into()),
            }));
        }
        match self.plural {
            "namespaces" => subresources.push(Subresource::Finalize),
            "serviceaccounts" => subresources.push(Subresource::Token),
            "certificatesigningrequests" => subresources.push(Subresource::Approval),
            "pods" => subresources.extend([Subresource::Binding, Subresource::Eviction]),
            _ => {}
        }
        subresources.sort_by_key(Subresource::name);
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let keeper = |other: &Other| (other.group, other.version);
        let (group, version) = self.other.as_ref().map_or((self.group, self.version), keeper);
        Kind {
            group: self.group.into(),
            version: self.version.into(),
            kind: self.kind.into(),
            list_kind: format!("{}List", self.kind),
            plural: self.plural.into(),
            singular: self.kind.to_lowercase(),
            short_names: owned(self.short_names),
            categories: owned(self.categories()),
            scope: self.scope,
            verbs: self.verbs,
            subresources,
            prefix: format!("{group}/{}", self.plural).into(),
            kept_as: if group.is_empty() { version.into() } else { format!("{group}/{version}") },
            converter: self.other.as_ref().map_or_else(|| Arc::new(ByName) as _, |other| (other.converter)()),
            strategy: (self.strategy)((self.rules)()),
            registry_path: self.registry_path().into(),
            field_labels: self.field_labels.iter().map(|(l, p)| ((*l).to_owned(), (*p).to_owned())).collect(),
            columns: columns::build(self.columns, self.shows_age),
            schema: None,
            deprecation: self.deprecation.map(str::to_owned),
            is_custom: false,
            definition_uid: String::new(),
            retired: CancellationToken::new(),
        }
    }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { short_names: &["cm"], columns: columns::CONFIG_MAP, rules: || Rules { validate: validation::config_map, ..Rules::default() }, ..Row::namespaced("", "v1", "ConfigMap", "configmaps") },
    Row { short_names: &["ep"], columns: columns::ENDPOINTS, deprecation: Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"), rules: || Rules { create_on_update: true, ..Rules::default() }, ..Row::namespaced("", "v1", "Endpoints", "endpoints") },
    Row { short_names: &["ev"], field_labels: EVENT_LABELS, columns: columns::EVENT, rules: event, strategy: |rules| Arc::new(Events(rules)), ..Row::namespaced("", "v1", "Event", "events") },
    Row { short_names: &["limits"], columns: columns::CREATED, rules: || Rules { create_on_update: true, ..Rules::default() }, ..Row::namespaced("", "v1", "LimitRange", "limitranges") },
    Row { short_names: &["ns"], verbs: ALL_BUT_DELETE_COLLECTION, has_status: true, field_labels: &[("status.phase", "/status/phase")], columns: columns::STATUS, rules: namespace, strategy: |rules| Arc::new(Namespaces(rules)), ..Row::cluster("", "v1", "Namespace", "namespaces") },
    Row { short_names: &["no"], has_status: true, field_labels: &[("spec.unschedulable", "/spec/unschedulable")], columns: columns::NODE, rules: || Rules { new_status: NewStatus::Kept, ..Rules::default() }, ..Row::cluster("", "v1", "Node", "nodes") },
    Row { short_names: &["pvc"], has_status: true, columns: columns::VOLUME_CLAIM, rules: persistent_volume_claim, ..Row::namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims") },
    Row { short_names: &["pv"], has_status: true, columns: columns::VOLUME, rules: || Rules { default: defaults::persistent_volume, prepare_for_create: defaults::new_persistent_volume, deletion: DeletionStyle::Object, ..Rules::default() }, ..Row::cluster("", "v1", "PersistentVolume", "persistentvolumes") },
    Row { short_names: &["po"], in_all: true, has_status: true, field_labels: POD_LABELS, columns: columns::POD, rules: pod, strategy: |rules| Arc::new(Pods(rules)), ..Row::namespaced("", "v1", "Pod", "pods") },
    Row { short_names: &["rc"], in_all: true, has_status: true, has_scale: true, field_labels: &[("status.replicas", "/status/replicas")], columns: columns::REPLICA_SET, rules: || Rules { generation: Generation::Spec, propagation: Some(Propagation::Orphan), default: defaults::replication_controller, validate: validation::replication_controller, ..Rules::default() }, ..Row::namespaced("", "v1", "ReplicationController", "replicationcontrollers") },
    Row { short_names: &["quota"], has_status: true, columns: columns::QUOTA, rules: || Rules { deletion: DeletionStyle::Object, ..Rules::default() }, ..Row::namespaced("", "v1", "ResourceQuota", "resourcequotas") },
    Row { field_labels: &[("type", "/type")], columns: columns::SECRET, rules: secret, ..Row::namespaced("", "v1", "Secret", "secrets") },
    Row { short_names: &["sa"], rules: || Rules { deletion: DeletionStyle::Object, ..Rules::default() }, ..Row::namespaced("", "v1", "ServiceAccount", "serviceaccounts") },
    Row { short_names: &["svc"], in_all: true, has_status: true, field_labels: SERVICE_LABELS, columns: columns::SERVICE, rules: service, strategy: |rules| Arc::new(Services { rules, addresses: ServiceAddresses::default() }), ..Row::namespaced("", "v1", "Service", "services") },
    Row { columns: columns::REVISION, ..Row::namespaced("apps", "v1", "ControllerRevision", "controllerrevisions") },
    Row { short_names: &["ds"], in_all: true, has_status: true, columns: columns::DAEMON_SET, rules: || workload(defaults::daemon_set, StatusMetadata::Written), ..Row::namespaced("apps", "v1", "DaemonSet", "daemonsets") },
    Row { short_names: &["deploy"], in_all: true, has_status: true, has_scale: true, columns: columns::DEPLOYMENT, rules: || Rules { generation: Generation::SpecAndAnnotations, ..workload(defaults::deployment, StatusMetadata::LabelsKept) }, ..Row::namespaced("apps", "v1", "Deployment", "deployments") },
    Row { short_names: &["rs"], in_all: true, has_status: true, has_scale: true, columns: columns::REPLICA_SET, rules: || workload(defaults::replica_set, StatusMetadata::Written), ..Row::namespaced("apps", "v1", "ReplicaSet", "replicasets") },
    Row { short_names: &["sts"], in_all: true, has_status: true, has_scale: true, columns: columns::STATEFUL_SET, rules: || workload(defaults::stateful_set, StatusMetadata::Written), ..Row::namespaced("apps", "v1", "StatefulSet", "statefulsets") },
    Row { short_names: &["hpa"], in_all: true, has_status: true, columns: columns::AUTOSCALER, rules: || autoscaler(autoscaler::default_v2), ..Row::namespaced("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers") },
    Row { short_names: &["hpa"], in_all: true, has_status: true, columns: columns::AUTOSCALER_1, rules: || autoscaler(autoscaler::default_v1), other: Some(AUTOSCALERS), ..Row::namespaced("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers") },
    Row { in_all: true, has_status: true, field_labels: &[("status.successful", "/status/succeeded")], columns: columns::JOB, rules: job, ..Row::namespaced("batch", "v1", "Job", "jobs") },
    Row { short_names: &["cj"], in_all: true, has_status: true, columns: columns::CRON_JOB, rules: cron_job, ..Row::namespaced("batch", "v1", "CronJob", "cronjobs") },
    Row { short_names: &["ev"], field_labels: EVENT_LABELS_2, columns: columns::EVENT, rules: event, strategy: |rules| Arc::new(Events(rules)), other: Some(EVENTS), ..Row::namespaced("events.k8s.io", "v1", "Event", "events") },
    Row { columns: columns::LEASE, rules: || Rules { create_on_update: true, unconditional_update: false, any_finalizer: true, validate: validation::lease, ..Rules::default() }, ..Row::namespaced("coordination.k8s.io", "v1", "Lease", "leases") },
    Row { short_names: &["csr"], has_status: true, field_labels: &[("spec.signerName", "/spec/signerName")], columns: columns::SIGNING_REQUEST, rules: || Rules { name_rule: NameRule::PathSegment, ..Rules::default() }, strategy: |rules| Arc::new(SigningRequests(rules)), ..Row::cluster("certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests") },
    Row { short_names: &["ing"], has_status: true, columns: columns::INGRESS, rules: || spec_kind(|_| {}), ..Row::namespaced("networking.k8s.io", "v1", "Ingress", "ingresses") },
    Row { columns: columns::INGRESS_CLASS, rules: || spec_kind(|_| {}), ..Row::cluster("networking.k8s.io", "v1", "IngressClass", "ingressclasses") },
    Row { short_names: &["netpol"], columns: columns::NETWORK_POLICY, rules: || spec_kind(defaults::network_policy), ..Row::namespaced("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies") },
    Row { short_names: &["pdb"], has_status: true, columns: columns::DISRUPTION_BUDGET, rules: || Rules { unconditional_update: false, ..spec_kind(|_| {}) }, ..Row::namespaced("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets") },
    Row { short_names: &["pc"], columns: columns::PRIORITY_CLASS, rules: || spec_kind(defaults::priority_class), ..Row::cluster("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses") },
    Row { short_names: &["sc"], columns: columns::STORAGE_CLASS, rules: || Rules { deletion: DeletionStyle::Object, default: defaults::storage_class, ..Rules::default() }, ..Row::cluster("storage.k8s.io", "v1", "StorageClass", "storageclasses") },
    Row { columns: columns::BINDING, rules: || Rules { validate: validation::role_binding, ..rbac() }, ..Row::cluster("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings") },
    Row { columns: columns::CREATED, rules: || Rules { validate: validation::cluster_role, ..rbac() }, ..Row::cluster("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles") },
    Row { columns: columns::BINDING, rules: || Rules { validate: validation::role_binding, ..rbac() }, ..Row::namespaced("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings") },
    Row { columns: columns::CREATED, rules: || Rules { validate: validation::role, ..rbac() }, ..Row::namespaced("rbac.authorization.k8s.io", "v1", "Role", "roles") },
    Row { columns: columns::WEBHOOK_CONFIGURATION, rules: || webhook_configuration(defaults::mutating_webhook_configuration), ..Row::cluster("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations") },
    Row { columns: columns::WEBHOOK_CONFIGURATION, rules: || webhook_configuration(defaults::validating_webhook_configuration), ..Row::cluster("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations") },
    Row { short_names: &["crd", "crds"], has_status: true, columns: columns::DEFINITION, rules: custom_resource_definition, strategy: |rules| Arc::new(Definitions(rules)), ..Row::cluster("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions") },
];

/// Both groups of events show the same objects.
const EVENTS: Other = Other {
    group: "",
    version: "v1",
    converter: || Arc::new(RenamedFields { first: "v1", names: EVENT_FIELDS }),
};

const AUTOSCALERS: Other = Other {
    group: "autoscaling",
    version: "v2",
    converter: || {
        let (to_first, from_first) = (autoscaler::to_v1, autoscaler::from_v1);
        Arc::new(ByRule { first: "autoscaling/v1", to_first, from_first })
    },
};

fn autoscaler(default: fn(&mut Object)) -> Rules {
    Rules { generation: Generation::Spec, default, validate: autoscaler::validate, ..Rules::default() }
}

fn event() -> Rules {
    Rules { create_on_update: true, propagation: None, ..Rules::default() }
}

fn namespace() -> Rules {
    Rules {
        default: defaults::namespace,
        prepare_for_create: defaults::new_namespace,
        name_rule: NameRule::DnsLabel,
        deletion: DeletionStyle::Object,
        ..Rules::default()
    }
}

fn pod() -> Rules {
    Rules {
        generation: Generation::Spec,
        default: defaults::pod,
        prepare_for_create: defaults::new_pod,
        validate: containers::of_pod,
        deletion: DeletionStyle::Graceful,
        ..Rules::default()
    }
}

fn secret() -> Rules {
    Rules { default: defaults::secret, validate: validation::secret, ..Rules::default() }
}

fn service() -> Rules {
    Rules {
        default: service::default,
        prepare_for_create: service::prepare_for_create,
        prepare_for_update: service::prepare_for_update,
        validate: service::validate,
        name_rule: NameRule::DnsLabel,
        create_on_update: true,
        deletion: DeletionStyle::Object,
        ..Rules::default()
    }
}

fn persistent_volume_claim() -> Rules {
    Rules {
        default: defaults::persistent_volume_claim,
        prepare_for_create: defaults::new_persistent_volume_claim,
        deletion: DeletionStyle::Object,
        ..Rules::default()
    }
}

fn workload(default: fn(&mut Object), status_metadata: StatusMetadata) -> Rules {
    Rules {
        generation: Generation::Spec,
        status_metadata,
        default,
        validate: validation::workload,
        ..Rules::default()
    }
}

fn job() -> Rules {
    Rules {
        generation: Generation::Spec,
        default: defaults::job,
        propagation: Some(Propagation::Orphan),
        ..Rules::default()
    }
}

fn cron_job() -> Rules {
    Rules { generation: Generation::Spec, default: defaults::cron_job, ..Rules::default() }
}

/// A kind with a spec, and defaults.
fn spec_kind(default: fn(&mut Object)) -> Rules {
    Rules { generation: Generation::Spec, default, ..Rules::default() }
}

fn rbac() -> Rules {
    Rules { create_on_update: true, name_rule: NameRule::PathSegment, ..Rules::default() }
}

fn webhook_configuration(default: fn(&mut Object)) -> Rules {
    Rules {
        generation: Generation::Content,
        unconditional_update: false,
        any_finalizer: true,
        default,
        validate: webhook_validation::webhook_configuration,
        ..Rules::default()
    }
}

fn custom_resource_definition() -> Rules {
    Rules {
        generation: Generation::Spec,
        unconditional_update: false,
        any_finalizer: true,
        default: defaults::custom_resource_definition,
        validate: definition::check,
        ..Rules::default()
    }
}

const POD_LABELS: &[(&str, &str)] = &[
    ("spec.nodeName", "/spec/nodeName"),
    ("spec.host", "/spec/nodeName"),
    ("spec.restartPolicy", "/spec/restartPolicy"),
    ("spec.schedulerName", "/spec/schedulerName"),
    ("spec.serviceAccountName", "/spec/serviceAccountName"),
    ("spec.hostNetwork", "/spec/hostNetwork"),
    ("status.phase", "/status/phase"),
    ("status.podIP", "/status/podIP"),
    ("status.podIPs", "/status/podIP"),
    ("status.nominatedNodeName", "/status/nominatedNodeName"),
];

const SERVICE_LABELS: &[(&str, &str)] = &[("spec.clusterIP", "/spec/clusterIP"), ("spec.type", "/spec/type")];

const EVENT_LABELS: &[(&str, &str)] = &[
    ("involvedObject.kind", "/involvedObject/kind"),
    ("involvedObject.namespace", "/involvedObject/namespace"),
    ("involvedObject.name", "/involvedObject/name"),
    ("involvedObject.uid", "/involvedObject/uid"),
    ("involvedObject.apiVersion", "/involvedObject/apiVersion"),
    ("involvedObject.resourceVersion", "/involvedObject/resourceVersion"),
    ("involvedObject.fieldPath", "/involvedObject/fieldPath"),
    ("reason", "/reason"),
    ("reportingComponent", "/reportingComponent"),
    ("source", "/source/component"),
    ("type", "/type"),
];

const EVENT_LABELS_2: &[(&str, &str)] = &[
    ("regarding.kind", "/involvedObject/kind"),
    ("regarding.namespace", "/involvedObject/namespace"),
    ("regarding.name", "/involvedObject/name"),
    ("regarding.uid", "/involvedObject/uid"),
    ("regarding.apiVersion", "/involvedObject/apiVersion"),
    ("regarding.resourceVersion", "/involvedObject/resourceVersion"),
    ("regarding.fieldPath", "/involvedObject/fieldPath"),
    ("reason", "/reason"),
    ("reportingController", "/reportingComponent"),
    ("type", "/type"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::error::Named;

    #[test]
    fn no_resource_stands_in_the_table_twice() {
        let mut seen = HashSet::new();
        for kind in kinds() {
            let identity = (kind.group.clone(), kind.version.clone(), kind.plural.clone());
            assert!(seen.insert(identity), "{}", kind.qualified_resource());
            assert_eq!(kind.columns.iter().filter(|column| column.name == "Name").count(), 1);
        }
        assert_eq!(seen.len(), ROWS.len() + setup::ROWS.len());
    }

    #[test]
    fn every_group_has_its_place() {
        for kind in kinds() {
            assert!(GROUPS.contains(&kind.group.as_str()), "{}", kind.group);
        }
    }

    #[test]
    fn rows_that_share_their_objects_keep_them_alike() {
        let kinds = kinds();
        let mut shared = Vec::new();
        for (index, kind) in kinds.iter().enumerate() {
            for other in kinds[index + 1..].iter().filter(|other| kind.prefix == other.prefix) {
                assert_eq!(kind.kept_as, other.kept_as, "{}", other.qualified_resource());
                shared.push(other.kind.as_str());
            }
        }
        assert_eq!(shared, ["Event", "HorizontalPodAutoscaler"]);
    }
}
