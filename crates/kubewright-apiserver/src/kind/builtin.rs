//! The table of built-in resources.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    column::{Cell, Column},
    conversion::{Conversion, EVENT_FIELDS},
    defaults,
    row::{ALL_BUT_DELETE_COLLECTION, ALL_VERBS, Kind, Scope, Subresource},
    service,
    strategy::{DeletionStyle, Generation, NameRule, NewStatus, Propagation, StatusMetadata, Strategy},
    validation, webhook_validation,
};
use crate::object::Object;

/// All built-in resources, in the order of discovery.
pub(super) fn kinds() -> Vec<Kind> {
    ROWS.iter().map(Row::build).collect()
}

/// A row of the table. What is usual is left to [`Row::namespaced`] and [`Row::cluster`].
struct Row {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short_names: &'static [&'static str],
    in_all: bool,
    scope: Scope,
    verbs: &'static [&'static str],
    has_status: bool,
    has_scale: bool,
    /// Field label and pointer.
    field_labels: &'static [(&'static str, &'static str)],
    columns: Columns,
    strategy: fn() -> Strategy,
}

impl Row {
    const fn namespaced(
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
            strategy: Strategy::default,
        }
    }

    const fn cluster(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self { scope: Scope::Cluster, ..Self::namespaced(group, version, kind, plural) }
    }

    fn build(&self) -> Kind {
        let mut subresources = Vec::new();
        if self.has_status {
            subresources.push(Subresource::Status);
        }
        if self.has_scale {
            subresources.push(Subresource::Scale {
                replicas: "/spec/replicas".into(),
                status_replicas: "/status/replicas".into(),
                selector: Some("/spec/selector".into()),
            });
        }
        if self.plural == "namespaces" {
            subresources.push(Subresource::Finalize);
        }
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        // Both groups of events show the same objects.
        let is_second_shape = self.group == "events.k8s.io";
        Kind {
            group: self.group.into(),
            version: self.version.into(),
            kind: self.kind.into(),
            list_kind: format!("{}List", self.kind),
            plural: self.plural.into(),
            singular: self.kind.to_lowercase(),
            short_names: owned(self.short_names),
            categories: owned(if self.in_all { &["all"] } else { &[] }),
            scope: self.scope,
            verbs: self.verbs,
            subresources,
            prefix: format!("{}/{}", if is_second_shape { "" } else { self.group }, self.plural).into(),
            kept_as: if is_second_shape || self.group.is_empty() {
                self.version.into()
            } else {
                format!("{}/{}", self.group, self.version)
            },
            conversion: if is_second_shape { Conversion::Fields(EVENT_FIELDS) } else { Conversion::Version },
            strategy: (self.strategy)(),
            field_labels: self.field_labels.iter().map(|(l, p)| ((*l).to_owned(), (*p).to_owned())).collect(),
            columns: build_columns(self.columns),
            schema: None,
            is_custom: false,
            definition_uid: String::new(),
            retired: CancellationToken::new(),
        }
    }
}

/// Column name, type, priority and cell. `Name` comes before them and, unless one is `Created At`, `Age` after them.
type Columns = &'static [(&'static str, &'static str, i64, fn(&Object) -> Value)];

fn build_columns(columns: Columns) -> Vec<Column> {
    let middle = columns.iter().map(|(name, kind, priority, cell)| Column {
        priority: *priority,
        ..Column::new(name, kind, Cell::Computed(*cell))
    });
    let (shown, wide): (Vec<_>, Vec<_>) = middle.partition(|column| column.priority == 0);
    let age =
        if shown.iter().any(|column| column.name == CREATED_AT) { None } else { Some(Column::of_age()) };
    std::iter::once(Column::of_name()).chain(shown).chain(age).chain(wide).collect()
}

const CREATED_AT: &str = "Created At";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { short_names: &["cm"], columns: &[("Data", "string", 0, config_map_size)], strategy: || Strategy { validate: validation::immutable_when_asked, ..Strategy::default() }, ..Row::namespaced("", "v1", "ConfigMap", "configmaps") },
    Row { short_names: &["ep"], strategy: || Strategy { create_on_update: true, ..Strategy::default() }, ..Row::namespaced("", "v1", "Endpoints", "endpoints") },
    Row { short_names: &["ev"], field_labels: EVENT_LABELS, columns: EVENT_COLUMNS, strategy: event, ..Row::namespaced("", "v1", "Event", "events") },
    Row { short_names: &["ns"], verbs: ALL_BUT_DELETE_COLLECTION, has_status: true, field_labels: &[("status.phase", "/status/phase")], columns: &[("Status", "string", 0, |o| text(o, "/status/phase"))], strategy: namespace, ..Row::cluster("", "v1", "Namespace", "namespaces") },
    Row { short_names: &["no"], has_status: true, field_labels: &[("spec.unschedulable", "/spec/unschedulable")], strategy: || Strategy { new_status: NewStatus::Kept, ..Strategy::default() }, ..Row::cluster("", "v1", "Node", "nodes") },
    Row { short_names: &["pvc"], has_status: true, columns: &[("Status", "string", 0, |o| text(o, "/status/phase"))], strategy: persistent_volume_claim, ..Row::namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims") },
    Row { short_names: &["po"], in_all: true, has_status: true, field_labels: POD_LABELS, columns: POD_COLUMNS, strategy: pod, ..Row::namespaced("", "v1", "Pod", "pods") },
    Row { field_labels: &[("type", "/type")], columns: &[("Type", "string", 0, |o| text(o, "/type")), ("Data", "string", 0, secret_size)], strategy: secret, ..Row::namespaced("", "v1", "Secret", "secrets") },
    Row { short_names: &["sa"], strategy: || Strategy { deletion: DeletionStyle::Object, ..Strategy::default() }, ..Row::namespaced("", "v1", "ServiceAccount", "serviceaccounts") },
    Row { short_names: &["svc"], in_all: true, has_status: true, field_labels: SERVICE_LABELS, columns: SERVICE_COLUMNS, strategy: service_strategy, ..Row::namespaced("", "v1", "Service", "services") },
    Row { strategy: || Strategy { generation: Generation::None, ..Strategy::default() }, ..Row::namespaced("apps", "v1", "ControllerRevision", "controllerrevisions") },
    Row { short_names: &["ds"], in_all: true, has_status: true, columns: DAEMON_SET_COLUMNS, strategy: || workload(defaults::daemon_set, StatusMetadata::Written), ..Row::namespaced("apps", "v1", "DaemonSet", "daemonsets") },
    Row { short_names: &["deploy"], in_all: true, has_status: true, has_scale: true, columns: DEPLOYMENT_COLUMNS, strategy: || Strategy { generation: Generation::SpecAndAnnotations, ..workload(defaults::deployment, StatusMetadata::LabelsKept) }, ..Row::namespaced("apps", "v1", "Deployment", "deployments") },
    Row { short_names: &["rs"], in_all: true, has_status: true, has_scale: true, field_labels: &[("status.replicas", "/status/replicas")], columns: REPLICA_SET_COLUMNS, strategy: || workload(defaults::replica_set, StatusMetadata::Written), ..Row::namespaced("apps", "v1", "ReplicaSet", "replicasets") },
    Row { short_names: &["sts"], in_all: true, has_status: true, has_scale: true, columns: &[("Ready", "string", 0, ready_of_replicas)], strategy: || workload(defaults::stateful_set, StatusMetadata::Written), ..Row::namespaced("apps", "v1", "StatefulSet", "statefulsets") },
    Row { in_all: true, has_status: true, field_labels: &[("status.successful", "/status/succeeded")], columns: JOB_COLUMNS, strategy: job, ..Row::namespaced("batch", "v1", "Job", "jobs") },
    Row { short_names: &["cj"], in_all: true, has_status: true, columns: CRON_JOB_COLUMNS, strategy: cron_job, ..Row::namespaced("batch", "v1", "CronJob", "cronjobs") },
    Row { short_names: &["ev"], field_labels: EVENT_LABELS_2, columns: EVENT_COLUMNS, strategy: event, ..Row::namespaced("events.k8s.io", "v1", "Event", "events") },
    Row { columns: &[("Holder", "string", 0, |o| text(o, "/spec/holderIdentity"))], strategy: || Strategy { create_on_update: true, unconditional_update: false, ..Strategy::default() }, ..Row::namespaced("coordination.k8s.io", "v1", "Lease", "leases") },
    Row { columns: BINDING_COLUMNS, strategy: || Strategy { validate: validation::role_binding, ..rbac() }, ..Row::cluster("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings") },
    Row { columns: CREATED, strategy: rbac, ..Row::cluster("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles") },
    Row { columns: BINDING_COLUMNS, strategy: || Strategy { validate: validation::role_binding, ..rbac() }, ..Row::namespaced("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings") },
    Row { columns: CREATED, strategy: rbac, ..Row::namespaced("rbac.authorization.k8s.io", "v1", "Role", "roles") },
    Row { columns: WEBHOOK_CONFIGURATION_COLUMNS, strategy: || webhook_configuration(defaults::mutating_webhook_configuration), ..Row::cluster("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations") },
    Row { columns: WEBHOOK_CONFIGURATION_COLUMNS, strategy: || webhook_configuration(defaults::validating_webhook_configuration), ..Row::cluster("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations") },
    Row { short_names: &["crd", "crds"], has_status: true, columns: CREATED, strategy: custom_resource_definition, ..Row::cluster("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions") },
];

fn event() -> Strategy {
    Strategy { create_on_update: true, propagation: None, ..Strategy::default() }
}

fn namespace() -> Strategy {
    Strategy {
        default: defaults::namespace,
        prepare_for_create: defaults::new_namespace,
        name_rule: NameRule::DnsLabel,
        deletion: DeletionStyle::Object,
        ..Strategy::default()
    }
}

fn pod() -> Strategy {
    Strategy {
        generation: Generation::Spec,
        default: defaults::pod,
        prepare_for_create: defaults::new_pod,
        deletion: DeletionStyle::Graceful,
        ..Strategy::default()
    }
}

fn secret() -> Strategy {
    Strategy { default: defaults::secret, validate: validation::secret, ..Strategy::default() }
}

fn service_strategy() -> Strategy {
    Strategy {
        default: service::default,
        prepare_for_create: service::prepare_for_create,
        prepare_for_update: service::prepare_for_update,
        validate: service::validate,
        name_rule: NameRule::DnsLabel,
        create_on_update: true,
        deletion: DeletionStyle::Object,
        ..Strategy::default()
    }
}

fn persistent_volume_claim() -> Strategy {
    Strategy {
        default: defaults::persistent_volume_claim,
        prepare_for_create: defaults::new_persistent_volume_claim,
        deletion: DeletionStyle::Object,
        ..Strategy::default()
    }
}

fn workload(default: fn(&mut Object), status_metadata: StatusMetadata) -> Strategy {
    Strategy {
        generation: Generation::Spec,
        status_metadata,
        default,
        validate: validation::workload,
        ..Strategy::default()
    }
}

fn job() -> Strategy {
    Strategy {
        generation: Generation::Spec,
        default: defaults::job,
        propagation: Some(Propagation::Orphan),
        ..Strategy::default()
    }
}

fn cron_job() -> Strategy {
    Strategy { generation: Generation::Spec, default: defaults::cron_job, ..Strategy::default() }
}

fn rbac() -> Strategy {
    Strategy { create_on_update: true, name_rule: NameRule::PathSegment, ..Strategy::default() }
}

fn webhook_configuration(default: fn(&mut Object)) -> Strategy {
    Strategy {
        generation: Generation::Content,
        unconditional_update: false,
        default,
        validate: webhook_validation::webhook_configuration,
        ..Strategy::default()
    }
}

fn custom_resource_definition() -> Strategy {
    Strategy {
        generation: Generation::Spec,
        unconditional_update: false,
        default: defaults::custom_resource_definition,
        validate: validation::custom_resource_definition,
        ..Strategy::default()
    }
}

const POD_LABELS: &[(&str, &str)] = &[
    ("spec.nodeName", "/spec/nodeName"),
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

const CREATED: Columns = &[(CREATED_AT, "date", 0, |o| text(o, "/metadata/creationTimestamp"))];

const BINDING_COLUMNS: Columns = &[("Role", "string", 0, |o| {
    format!("{}/{}", o.str_at("/roleRef/kind"), o.str_at("/roleRef/name")).into()
})];

const EVENT_COLUMNS: Columns = &[
    ("Type", "string", 0, |o| text(o, "/type")),
    ("Reason", "string", 0, |o| text(o, "/reason")),
    ("Object", "string", 0, |o| {
        format!("{}/{}", o.str_at("/involvedObject/kind").to_lowercase(), o.str_at("/involvedObject/name"))
            .into()
    }),
    ("Message", "string", 0, |o| o.str_at("/message").trim().into()),
];

const POD_COLUMNS: Columns = &[
    ("Ready", "string", 0, |o| {
        let statuses = items(o, "/status/containerStatuses");
        let ready = statuses.iter().filter(|status| status["ready"] == Value::Bool(true)).count();
        format!("{ready}/{}", items(o, "/spec/containers").len()).into()
    }),
    ("Status", "string", 0, |o| {
        let reason = o.str_at("/status/reason");
        if o.is_terminating() {
            "Terminating".into()
        } else if reason.is_empty() {
            text(o, "/status/phase")
        } else {
            reason.into()
        }
    }),
    ("Restarts", "string", 0, |o| {
        let statuses = items(o, "/status/containerStatuses");
        statuses.iter().filter_map(|status| status["restartCount"].as_i64()).sum::<i64>().to_string().into()
    }),
    ("IP", "string", 1, |o| or_none(o, "/status/podIP")),
    ("Node", "string", 1, |o| or_none(o, "/spec/nodeName")),
];

const SERVICE_COLUMNS: Columns = &[
    ("Type", "string", 0, |o| text(o, "/spec/type")),
    ("Cluster-IP", "string", 0, |o| or_none(o, "/spec/clusterIP")),
    ("External-IP", "string", 0, |o| or_none(o, "/spec/externalIPs/0")),
    ("Port(s)", "string", 0, |o| {
        let port =
            |port: &Value| format!("{}/{}", port["port"], port["protocol"].as_str().unwrap_or_default());
        let ports: Vec<_> = items(o, "/spec/ports").iter().map(port).collect();
        if ports.is_empty() { "<none>".into() } else { ports.join(",").into() }
    }),
];

const DEPLOYMENT_COLUMNS: Columns = &[
    ("Ready", "string", 0, ready_of_replicas),
    ("Up-to-date", "string", 0, |o| number(o, "/status/updatedReplicas").to_string().into()),
    ("Available", "string", 0, |o| number(o, "/status/availableReplicas").to_string().into()),
];

const REPLICA_SET_COLUMNS: Columns = &[
    ("Desired", "integer", 0, |o| number(o, "/spec/replicas").into()),
    ("Current", "integer", 0, |o| number(o, "/status/replicas").into()),
    ("Ready", "integer", 0, |o| number(o, "/status/readyReplicas").into()),
];

const DAEMON_SET_COLUMNS: Columns = &[
    ("Desired", "integer", 0, |o| number(o, "/status/desiredNumberScheduled").into()),
    ("Current", "integer", 0, |o| number(o, "/status/currentNumberScheduled").into()),
    ("Ready", "integer", 0, |o| number(o, "/status/numberReady").into()),
];

const JOB_COLUMNS: Columns = &[("Completions", "string", 0, |o| {
    format!("{}/{}", number(o, "/status/succeeded"), number(o, "/spec/completions")).into()
})];

const CRON_JOB_COLUMNS: Columns = &[
    ("Schedule", "string", 0, |o| text(o, "/spec/schedule")),
    ("Suspend", "boolean", 0, |o| o.at("/spec/suspend").cloned().unwrap_or_default()),
    ("Active", "integer", 0, |o| items(o, "/status/active").len().into()),
];

const WEBHOOK_CONFIGURATION_COLUMNS: Columns =
    &[("Webhooks", "integer", 0, |o| items(o, "/webhooks").len().into())];

fn text(object: &Object, pointer: &str) -> Value {
    object.str_at(pointer).into()
}

fn or_none(object: &Object, pointer: &str) -> Value {
    let text = object.str_at(pointer);
    if text.is_empty() { "<none>".into() } else { text.into() }
}

fn number(object: &Object, pointer: &str) -> i64 {
    object.at(pointer).and_then(Value::as_i64).unwrap_or_default()
}

fn items<'a>(object: &'a Object, pointer: &str) -> &'a [Value] {
    object.at(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn ready_of_replicas(object: &Object) -> Value {
    format!("{}/{}", number(object, "/status/readyReplicas"), number(object, "/spec/replicas")).into()
}

fn size(object: &Object, field: &str) -> usize {
    object.0.get(field).and_then(Value::as_object).map_or(0, serde_json::Map::len)
}

fn config_map_size(object: &Object) -> Value {
    (size(object, "data") + size(object, "binaryData")).to_string().into()
}

fn secret_size(object: &Object) -> Value {
    size(object, "data").to_string().into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_resource_stands_in_the_table_twice() {
        let mut seen = HashSet::new();
        for kind in kinds() {
            assert!(seen.insert((kind.group.clone(), kind.plural.clone())), "{}", kind.qualified_resource());
            assert_eq!(kind.columns[0].name, "Name");
        }
        assert_eq!(seen.len(), ROWS.len());
    }

    #[test]
    fn only_the_two_shapes_of_events_share_their_objects() {
        let kinds = kinds();
        for (index, kind) in kinds.iter().enumerate() {
            for other in &kinds[index + 1..] {
                assert!(
                    kind.prefix != other.prefix || kind.kind == "Event",
                    "{}",
                    other.qualified_resource()
                );
            }
        }
    }
}
