//! What `kubectl get` prints of them.
//!
//! Source: kubernetes `pkg/printers/internalversion.AddHandlers`, kube-aggregator `registry/apiservice/etcd`.

use jiff::Timestamp;

use crate::{
    kind::{
        age::age,
        columns::{
            AGE, Columns, NONE, Named,
            Show::{At, Of},
            UNSET, condition, containers, items, joined, labels, number, or, selector, text, word,
        },
    },
    object::Object,
    value::Value,
};

pub(super) const COMPONENT: Columns = &[
    (
        "Status",
        "string",
        0,
        Of(|o| match component(o)["status"].as_str() {
            Some("True") => "Healthy".into(),
            Some(_) => "Unhealthy".into(),
            None => "Unknown".into(),
        }),
    ),
    ("Message", "string", 0, Of(|o| word(component(o), "message").into())),
    ("Error", "string", 0, Of(|o| word(component(o), "error").into())),
];

fn component(object: &Object) -> &Value {
    items(object, "/conditions").iter().find(|it| it["type"] == "Healthy").unwrap_or(&Value::Null)
}

pub(super) const POD_TEMPLATE: Columns = &[
    ("Containers", "string", 0, Of(|o| containers(o, "/template/spec/containers", "name"))),
    ("Images", "string", 0, Of(|o| containers(o, "/template/spec/containers", "image"))),
    ("Pod Labels", "string", 0, Of(|o| labels(o.at("/template/metadata/labels")))),
];

pub(super) const API_SERVICE: Columns = &[
    (
        "Service",
        "string",
        0,
        Of(|o| match o.at("/spec/service") {
            Some(Value::Object(_)) => {
                format!("{}/{}", o.str_at("/spec/service/namespace"), o.str_at("/spec/service/name")).into()
            }
            _ => "Local".into(),
        }),
    ),
    (
        "Available",
        "string",
        0,
        Of(|o| {
            let found = items(o, "/status/conditions").iter().find(|it| it["type"] == "Available");
            match found.map(|it| (word(it, "status"), word(it, "reason"))) {
                None => "Unknown".into(),
                Some(("True", _)) => "True".into(),
                Some((status, reason)) => format!("{status} ({reason})").into(),
            }
        }),
    ),
];

pub(super) const TRUST_BUNDLE: Columns =
    &[("SignerName", "string", 0, Of(|o| or(text(o, "/spec/signerName"), NONE)))];

pub(super) const POD_CERTIFICATE: Columns = &[
    ("PodName", "string", 0, Of(|o| text(o, "/spec/podName"))),
    ("ServiceAccountName", "string", 0, Of(|o| text(o, "/spec/serviceAccountName"))),
    ("NodeName", "string", 0, Of(|o| text(o, "/spec/nodeName"))),
    ("SignerName", "string", 0, Of(|o| text(o, "/spec/signerName"))),
    (
        "State",
        "string",
        0,
        Of(|o| {
            let state = ["Issued", "Denied", "Failed"].into_iter().find(|kind| condition(o, kind).is_some());
            state.unwrap_or("Pending").into()
        }),
    ),
    ("UnverifiedUserAnnotations", "string", 1, Of(|o| labels(o.at("/spec/unverifiedUserAnnotations")))),
];

pub(super) const IP_ADDRESS: Columns = &[(
    "ParentRef",
    "string",
    0,
    Of(|o| {
        let part = |field: &str| o.str_at(&format!("/spec/parentRef/{field}"));
        if part("name").is_empty() {
            return NONE.into();
        }
        let dot = if part("group").is_empty() { "" } else { "." };
        let resource = format!("{}{dot}{}", part("resource"), part("group")).to_lowercase();
        let slash = if part("namespace").is_empty() { "" } else { "/" };
        format!("{resource}{slash}{}/{}", part("namespace"), part("name")).into()
    }),
)];

pub(super) const SERVICE_RANGE: Columns =
    &[("CIDRs", "string", 0, Of(|o| joined(items(o, "/spec/cidrs").iter().filter_map(Value::as_str), ",")))];

pub(super) const STORAGE_DRIVER: Columns = &[
    ("AttachRequired", "boolean", 0, Of(|o| flag(o, "/spec/attachRequired", true))),
    ("PodInfoOnMount", "boolean", 0, Of(|o| flag(o, "/spec/podInfoOnMount", false))),
    ("StorageCapacity", "boolean", 0, Of(|o| flag(o, "/spec/storageCapacity", false))),
    (
        "TokenRequests",
        "string",
        0,
        Of(|o| match o.at("/spec/tokenRequests") {
            None | Some(Value::Null) => UNSET.into(),
            Some(_) => joined(items(o, "/spec/tokenRequests").iter().map(|it| word(it, "audience")), ","),
        }),
    ),
    ("RequiresRepublish", "boolean", 0, Of(|o| flag(o, "/spec/requiresRepublish", false))),
    (
        "Modes",
        "string",
        0,
        Of(|o| {
            or(joined(items(o, "/spec/volumeLifecycleModes").iter().filter_map(Value::as_str), ","), NONE)
        }),
    ),
];

pub(super) const STORAGE_NODE: Columns =
    &[("Drivers", "integer", 0, Of(|o| items(o, "/spec/drivers").len().into()))];

pub(super) const STORAGE_CAPACITY: Columns = &[
    ("StorageClassName", "string", 0, Of(|o| text(o, "/storageClassName"))),
    ("Capacity", "string", 0, Of(|o| or(text(o, "/capacity"), UNSET))),
];

pub(super) const ATTACHMENT: Columns = &[
    ("Attacher", "string", 0, Of(|o| text(o, "/spec/attacher"))),
    ("PV", "string", 0, Of(|o| text(o, "/spec/source/persistentVolumeName"))),
    ("Node", "string", 0, Of(|o| text(o, "/spec/nodeName"))),
    ("Attached", "boolean", 0, Of(|o| flag(o, "/status/attached", false))),
];

pub(super) const ATTRIBUTES_CLASS: Columns = &[("DriverName", "string", 0, Of(|o| text(o, "/driverName")))];

pub(super) const VALIDATING_POLICY: Columns =
    &[("Validations", "integer", 0, Of(|o| items(o, "/spec/validations").len().into())), PARAM_KIND];

pub(super) const MUTATING_POLICY: Columns =
    &[("Mutations", "integer", 0, Of(|o| items(o, "/spec/mutations").len().into())), PARAM_KIND];

const PARAM_KIND: Named = (
    "ParamKind",
    "string",
    0,
    Of(|o| match o.str_at("/spec/paramKind/kind") {
        "" => UNSET.into(),
        kind => format!("{}/{kind}", o.str_at("/spec/paramKind/apiVersion")).into(),
    }),
);

pub(super) const POLICY_BINDING: Columns = &[
    ("PolicyName", "string", 0, Of(|o| text(o, "/spec/policyName"))),
    (
        "ParamRef",
        "string",
        0,
        Of(|o| match (o.str_at("/spec/paramRef/namespace"), o.str_at("/spec/paramRef/name")) {
            (_, "") if o.at("/spec/paramRef/selector").is_some() => selector(o.at("/spec/paramRef/selector")),
            (_, "") => UNSET.into(),
            ("", name) => format!("*/{name}").into(),
            (namespace, name) => format!("{namespace}/{name}").into(),
        }),
    ),
];

pub(super) const RUNTIME_CLASS: Columns = &[("Handler", "string", 0, Of(|o| text(o, "/handler")))];

pub(super) const ENDPOINT_SLICE: Columns = &[
    ("AddressType", "string", 0, Of(|o| text(o, "/addressType"))),
    (
        "Ports",
        "string",
        0,
        Of(|o| {
            let ports = items(o, "/ports").iter().map(|port| match (&port["port"], &port["name"]) {
                (Value::Number(number), _) => number.to_string(),
                (_, Value::String(name)) => name.to_string(),
                _ => "*".to_owned(),
            });
            some_of(ports.collect())
        }),
    ),
    (
        "Endpoints",
        "string",
        0,
        Of(|o| {
            let addresses =
                items(o, "/endpoints").iter().filter_map(|endpoint| endpoint["addresses"].as_array());
            some_of(addresses.flatten().filter_map(Value::as_str).map(str::to_owned).collect())
        }),
    ),
];

/// The first three, and how many more there are.
fn some_of(mut all: Vec<String>) -> Value {
    let more = all.len().saturating_sub(3);
    all.truncate(3);
    let shown = all.join(",");
    if more > 0 { format!("{shown} + {more} more...").into() } else { or(shown.into(), UNSET) }
}

pub(super) const DEVICE_TAINT: Columns = &[
    ("Key", "string", 0, Of(|o| text(o, "/spec/taint/key"))),
    ("Value", "string", 0, Of(|o| text(o, "/spec/taint/value"))),
    ("Effect", "string", 0, Of(|o| text(o, "/spec/taint/effect"))),
    ("TimeAdded", "string", 0, At(added)),
];

fn added(object: &Object, now: Timestamp) -> Value {
    match object.str_at("/spec/taint/timeAdded") {
        "" => "".into(),
        time => age(now, time).into(),
    }
}

pub(super) const CLAIM: Columns = &[(
    "State",
    "string",
    0,
    Of(|o| {
        let is_allocated = o.at("/status/allocation").is_some_and(Value::is_object);
        let mut states = Vec::new();
        if o.is_terminating() {
            states.push("deleted");
        }
        if is_allocated {
            states.push("allocated");
        } else if !o.is_terminating() {
            states.push("pending");
        }
        if is_allocated && !items(o, "/status/reservedFor").is_empty() {
            states.push("reserved");
        }
        joined(states.into_iter(), ",")
    }),
)];

pub(super) const SLICE: Columns = &[
    ("Node", "string", 0, Of(|o| text(o, "/spec/nodeName"))),
    ("Driver", "string", 0, Of(|o| text(o, "/spec/driver"))),
    ("Pool", "string", 0, Of(|o| text(o, "/spec/pool/name"))),
];

pub(super) const FLOW_SCHEMA: Columns = &[
    ("PriorityLevel", "string", 0, Of(|o| text(o, "/spec/priorityLevelConfiguration/name"))),
    ("MatchingPrecedence", "string", 0, Of(|o| number(o, "/spec/matchingPrecedence").into())),
    ("DistinguisherMethod", "string", 0, Of(|o| or(text(o, "/spec/distinguisherMethod/type"), NONE))),
    (AGE, "string", 0, Of(|_| Value::Null)),
    ("MissingPL", "string", 0, Of(|o| condition(o, "Dangling").unwrap_or("?").into())),
];

pub(super) const PRIORITY_LEVEL: Columns = &[
    ("Type", "string", 0, Of(|o| text(o, "/spec/type"))),
    ("NominalConcurrencyShares", "string", 0, Of(|o| limit(o, "nominalConcurrencyShares"))),
    ("Queues", "string", 0, Of(|o| limit(o, "limitResponse/queuing/queues"))),
    ("HandSize", "string", 0, Of(|o| limit(o, "limitResponse/queuing/handSize"))),
    ("QueueLengthLimit", "string", 0, Of(|o| limit(o, "limitResponse/queuing/queueLengthLimit"))),
];

fn limit(object: &Object, field: &str) -> Value {
    object.at(&format!("/spec/limited/{field}")).cloned().unwrap_or_else(|| NONE.into())
}

pub(super) const MIGRATION: Columns = &[
    (
        "Resource",
        "string",
        0,
        Of(|o| match o.str_at("/spec/resource/group") {
            "" => text(o, "/spec/resource/resource"),
            group => format!("{}.{group}", o.str_at("/spec/resource/resource")).into(),
        }),
    ),
    (
        "Status",
        "string",
        0,
        Of(|o| {
            let conditions = items(o, "/status/conditions").iter().filter(|it| it["status"] == "True");
            let kinds = conditions.map(|it| word(it, "type"));
            let known = kinds.filter(|kind| matches!(*kind, "Running" | "Failed" | "Succeeded"));
            known.max().unwrap_or("Unknown").into()
        }),
    ),
];

fn flag(object: &Object, pointer: &str, absent: bool) -> Value {
    object.at(pointer).and_then(Value::as_bool).unwrap_or(absent).into()
}
