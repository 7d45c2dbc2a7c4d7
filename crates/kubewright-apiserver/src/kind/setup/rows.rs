//! Their rows.

use std::sync::Arc;

use super::{check, checks, columns, defaults, endpoint_slice, local_service};
use crate::{
    error::FieldError,
    kind::{
        builtin::Row,
        rules::{DeletionStyle, Generation, Rules, StatusMetadata},
    },
    name::NameRule,
    object::Object,
};

#[rustfmt::skip]
pub(in crate::kind) const ROWS: &[Row] = &[
    Row { short_names: &["cs"], verbs: &["get", "list"], columns: columns::COMPONENT, shows_age: false, deprecation: Some("v1 ComponentStatus is deprecated in v1.19+"), ..Row::cluster("", "v1", "ComponentStatus", "componentstatuses") },
    Row { columns: columns::POD_TEMPLATE, shows_age: false, rules: || Rules { generation: Generation::Content, default: defaults::pod_template, validate: checks::pod_template, ..returned() }, ..Row::namespaced("", "v1", "PodTemplate", "podtemplates") },
    Row { has_status: true, columns: columns::API_SERVICE, rules: api_service, strategy: |rules| Arc::new(local_service::ApiServices(rules)), ..Row::cluster("apiregistration.k8s.io", "v1", "APIService", "apiservices") },
    Row { columns: columns::TRUST_BUNDLE, shows_age: false, field_labels: &[("spec.signerName", "/spec/signerName")], rules: || Rules { validate: |new, old| check::all(checks::TRUST_BUNDLE, new, old), name_rule: NameRule::PathSegment, ..conditional() }, ..Row::cluster("certificates.k8s.io", "v1", "ClusterTrustBundle", "clustertrustbundles") },
    Row { has_status: true, columns: columns::POD_CERTIFICATE, shows_age: false, field_labels: POD_CERTIFICATE_LABELS, rules: || Rules { validate: |new, old| check::all(checks::POD_CERTIFICATE, new, old), ..conditional() }, ..Row::namespaced("certificates.k8s.io", "v1", "PodCertificateRequest", "podcertificaterequests") },
    Row { short_names: &["ip"], columns: columns::IP_ADDRESS, field_labels: &[("spec.parentRef.group", "/spec/parentRef/group"), ("spec.parentRef.resource", "/spec/parentRef/resource"), ("spec.parentRef.namespace", "/spec/parentRef/namespace"), ("spec.parentRef.name", "/spec/parentRef/name")], rules: || Rules { validate: |new, old| check::all(checks::IP_ADDRESS, new, old), ..plain() }, ..Row::cluster("networking.k8s.io", "v1", "IPAddress", "ipaddresses") },
    Row { has_status: true, columns: columns::SERVICE_RANGE, rules: || Rules { validate: |new, old| check::all(checks::SERVICE_RANGE, new, old), ..plain() }, ..Row::cluster("networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs") },
    Row { columns: columns::STORAGE_DRIVER, rules: || Rules { generation: Generation::Spec, default: defaults::storage_driver, validate: |new, old| check::all(checks::STORAGE_DRIVER, new, old), unconditional_update: false, ..returned() }, ..Row::cluster("storage.k8s.io", "v1", "CSIDriver", "csidrivers") },
    Row { has_status: true, columns: columns::STORAGE_NODE, rules: || Rules { unconditional_update: false, ..returned() }, ..Row::cluster("storage.k8s.io", "v1", "CSINode", "csinodes") },
    Row { columns: columns::STORAGE_CAPACITY, shows_age: false, rules: || Rules { validate: |new, old| check::all(checks::STORAGE_CAPACITY, new, old), ..conditional() }, ..Row::namespaced("storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities") },
    Row { has_status: true, columns: columns::ATTACHMENT, rules: || Rules { validate: checks::attachment, unconditional_update: false, ..returned() }, ..Row::cluster("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments") },
    Row { short_names: &["vac"], columns: columns::ATTRIBUTES_CLASS, rules: || Rules { validate: checks::attributes_class, ..returned() }, ..Row::cluster("storage.k8s.io", "v1", "VolumeAttributesClass", "volumeattributesclasses") },
    Row { columns: columns::MUTATING_POLICY, rules: || policy(defaults::policy, |new, old| check::all(checks::MUTATING_POLICY, new, old)), ..Row::cluster("admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies") },
    Row { columns: columns::POLICY_BINDING, rules: || policy(defaults::policy_binding, |new, old| check::all(checks::MUTATING_BINDING, new, old)), ..Row::cluster("admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings") },
    Row { has_status: true, columns: columns::VALIDATING_POLICY, rules: || policy(defaults::policy, checks::validating_policy), ..Row::cluster("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies") },
    Row { columns: columns::POLICY_BINDING, rules: || policy(defaults::policy_binding, checks::validating_binding), ..Row::cluster("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings") },
    Row { columns: columns::RUNTIME_CLASS, rules: || Rules { create_on_update: true, validate: |new, old| check::all(checks::RUNTIME_CLASS, new, old), ..conditional() }, ..Row::cluster("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses") },
    Row { columns: columns::ENDPOINT_SLICE, rules: || Rules { generation: Generation::Content, default: endpoint_slice::default, validate: endpoint_slice::validate, ..Rules::default() }, ..Row::namespaced("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices") },
    Row { rules: || Rules { generation: Generation::Spec, ..returned() }, ..Row::cluster("resource.k8s.io", "v1", "DeviceClass", "deviceclasses") },
    Row { has_status: true, columns: columns::DEVICE_TAINT, rules: || Rules { generation: Generation::Spec, ..plain() }, ..Row::cluster("resource.k8s.io", "v1", "DeviceTaintRule", "devicetaintrules") },
    Row { has_status: true, columns: columns::CLAIM, rules: || Rules { default: defaults::claim, validate: |new, old| check::all(checks::CLAIM, new, old), ..returned() }, ..Row::namespaced("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims") },
    Row { rules: || Rules { default: defaults::claim_template, validate: |new, old| check::all(checks::CLAIM, new, old), ..returned() }, ..Row::namespaced("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates") },
    Row { columns: columns::SLICE, field_labels: SLICE_LABELS, rules: || Rules { generation: Generation::Spec, validate: |new, old| check::all(checks::SLICE, new, old), ..returned() }, ..Row::cluster("resource.k8s.io", "v1", "ResourceSlice", "resourceslices") },
    Row { has_status: true, columns: columns::FLOW_SCHEMA, rules: || Rules { generation: Generation::Spec, default: defaults::flow_schema, validate: checks::flow_schema, ..plain() }, ..Row::cluster("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas") },
    Row { has_status: true, columns: columns::PRIORITY_LEVEL, rules: || Rules { generation: Generation::Spec, default: defaults::priority_level, validate: checks::priority_level, ..plain() }, ..Row::cluster("flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations") },
    Row { has_status: true, columns: columns::MIGRATION, shows_age: false, rules: || Rules { validate: |new, old| check::all(checks::MIGRATION, new, old), ..conditional() }, ..Row::cluster("storagemigration.k8s.io", "v1", "StorageVersionMigration", "storageversionmigrations") },
];

/// A write of their status leaves the metadata alone.
fn plain() -> Rules {
    Rules { status_metadata: StatusMetadata::Kept, ..Rules::default() }
}

/// An update says which version it is of.
fn conditional() -> Rules {
    Rules { unconditional_update: false, ..plain() }
}

/// Who deletes one gets it back.
fn returned() -> Rules {
    Rules { deletion: DeletionStyle::Object, ..plain() }
}

fn policy(default: fn(&mut Object), validate: fn(&Object, Option<&Object>) -> Vec<FieldError>) -> Rules {
    Rules { generation: Generation::Spec, default, validate, ..conditional() }
}

fn api_service() -> Rules {
    Rules {
        default: local_service::default,
        validate: local_service::validate,
        name_rule: NameRule::PathSegment,
        ..conditional()
    }
}

const POD_CERTIFICATE_LABELS: &[(&str, &str)] = &[
    ("spec.signerName", "/spec/signerName"),
    ("spec.podName", "/spec/podName"),
    ("spec.nodeName", "/spec/nodeName"),
];

const SLICE_LABELS: &[(&str, &str)] = &[
    ("spec.nodeName", "/spec/nodeName"),
    ("spec.driver", "/spec/driver"),
    ("spec.pool.name", "/spec/pool/name"),
];
