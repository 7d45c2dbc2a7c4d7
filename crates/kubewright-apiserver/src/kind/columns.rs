//! What `kubectl get` prints of each built-in kind.
//!
//! Source: kubernetes `pkg/printers/internalversion.AddHandlers`.

use jiff::Timestamp;

use super::{
    age::{age, human_duration},
    column::{Cell, Column},
};
use crate::{
    object::Object,
    selector::selector_text,
    value::{Map, Value},
};

/// Column name, type, priority and cell. `Name` comes before them unless it is among them, and `Age` before those
/// that only `-o wide` shows, unless one of them says as much.
pub(super) type Columns = &'static [(&'static str, &'static str, i64, Show)];

/// Where a cell comes from.
#[derive(Clone, Copy)]
pub(super) enum Show {
    /// The object alone.
    Of(fn(&Object) -> Value),
    /// The object at this time.
    At(fn(&Object, Timestamp) -> Value),
}

use Show::{At, Of};

/// The whole table of a kind. `shows_age`: whether `Age` is among them although they do not say so.
pub(super) fn build(columns: Columns, shows_age: bool) -> Vec<Column> {
    let has = |name: &str| columns.iter().any(|(column, ..)| *column == name);
    let built = columns.iter().map(|(name, kind, priority, show)| {
        let cell = match show {
            Of(compute) => Cell::Computed(*compute),
            At(compute) => Cell::Timed(*compute),
        };
        let cell = if *name == AGE { Cell::Age } else { cell };
        Column { priority: *priority, ..Column::new(name, kind, cell) }
    });
    let mut built: Vec<Column> = built.collect();
    if shows_age && ![AGE, CREATED_AT, "Last Seen"].into_iter().any(has) {
        let wide = built.iter().position(|column| column.priority > 0).unwrap_or(built.len());
        built.insert(wide, Column::of_age());
    }
    if !has(NAME) {
        built.insert(0, Column::of_name());
    }
    built
}

const NAME: &str = "Name";
pub(super) const AGE: &str = "Age";
const CREATED_AT: &str = "Created At";

pub(super) const CREATED: Columns =
    &[(CREATED_AT, "date", 0, Of(|o| text(o, "/metadata/creationTimestamp")))];

pub(super) const STATUS: Columns = &[("Status", "string", 0, Of(|o| text(o, "/status/phase")))];

pub(super) const CONFIG_MAP: Columns =
    &[("Data", "string", 0, Of(|o| (size(o, "data") + size(o, "binaryData")).to_string().into()))];

pub(super) const SECRET: Columns = &[
    ("Type", "string", 0, Of(|o| text(o, "/type"))),
    ("Data", "string", 0, Of(|o| size(o, "data").to_string().into())),
];

pub(super) const LEASE: Columns = &[("Holder", "string", 0, Of(|o| text(o, "/spec/holderIdentity")))];

pub(super) const BINDING: Columns = &[
    (
        "Role",
        "string",
        0,
        Of(|o| format!("{}/{}", o.str_at("/roleRef/kind"), o.str_at("/roleRef/name")).into()),
    ),
    ("Users", "string", 1, Of(|o| subjects(o, "User"))),
    ("Groups", "string", 1, Of(|o| subjects(o, "Group"))),
    ("ServiceAccounts", "string", 1, Of(|o| subjects(o, "ServiceAccount"))),
];

pub(super) const WEBHOOK_CONFIGURATION: Columns =
    &[("Webhooks", "integer", 0, Of(|o| items(o, "/webhooks").len().into()))];

pub(super) const DEFINITION: Columns = &[
    ("Scope", "string", 0, Of(|o| text(o, "/spec/scope"))),
    (
        "Versions",
        "string",
        0,
        Of(|o| joined(items(o, "/spec/versions").iter().map(|version| word(version, "name")), ",")),
    ),
    (CREATED_AT, "date", 0, Of(|o| text(o, "/metadata/creationTimestamp"))),
    ("Group", "string", 1, Of(|o| text(o, "/spec/group"))),
    ("Kind", "string", 1, Of(|o| text(o, "/spec/names/kind"))),
    (
        "ShortNames",
        "string",
        1,
        Of(|o| joined(items(o, "/spec/names/shortNames").iter().filter_map(Value::as_str), ",")),
    ),
    ("Established", "boolean", 1, Of(|o| (condition(o, "Established") == Some("True")).into())),
];

/// Of both shapes of Events.
pub(super) const EVENT: Columns = &[
    ("Last Seen", "string", 0, At(|o, now| since(now, first_of(o, LAST_SEEN)))),
    ("Type", "string", 0, Of(|o| text(o, "/type"))),
    ("Reason", "string", 0, Of(|o| text(o, "/reason"))),
    (
        "Object",
        "string",
        0,
        Of(|o| {
            format!(
                "{}/{}",
                first_of(o, &["/involvedObject/kind", "/regarding/kind"]).to_lowercase(),
                first_of(o, &["/involvedObject/name", "/regarding/name"])
            )
            .into()
        }),
    ),
    (
        "Subobject",
        "string",
        1,
        Of(|o| first_of(o, &["/involvedObject/fieldPath", "/regarding/fieldPath"]).into()),
    ),
    (
        "Source",
        "string",
        1,
        Of(|o| {
            joined(
                ["component", "host"]
                    .map(|part| {
                        first_of(o, &[&format!("/source/{part}"), &format!("/deprecatedSource/{part}")])
                    })
                    .into_iter()
                    .filter(|part| !part.is_empty()),
                ", ",
            )
        }),
    ),
    ("Message", "string", 0, Of(|o| first_of(o, &["/message", "/note"]).trim().into())),
    ("First Seen", "string", 1, At(|o, now| since(now, first_of(o, FIRST_SEEN)))),
    (
        "Count",
        "string",
        1,
        Of(|o| {
            ["/series/count", "/count", "/deprecatedCount"]
                .map(|count| number(o, count))
                .into_iter()
                .fold(1, Ord::max)
                .to_string()
                .into()
        }),
    ),
    (NAME, "string", 1, Of(|o| o.name().into())),
];

const LAST_SEEN: &[&str] =
    &["/series/lastObservedTime", "/lastTimestamp", "/deprecatedLastTimestamp", "/eventTime"];
const FIRST_SEEN: &[&str] = &["/firstTimestamp", "/deprecatedFirstTimestamp", "/eventTime"];

pub(super) const NODE: Columns = &[
    (
        "Status",
        "string",
        0,
        Of(|o| {
            let ready = match condition(o, "Ready") {
                Some("True") => "Ready",
                Some(_) => "NotReady",
                None => "Unknown",
            };
            let held = if o.at("/spec/unschedulable") == Some(&Value::Bool(true)) {
                ",SchedulingDisabled"
            } else {
                ""
            };
            format!("{ready}{held}").into()
        }),
    ),
    (
        "Roles",
        "string",
        0,
        Of(|o| {
            let labels = o.metadata().get("labels").and_then(Value::as_object).into_iter().flatten();
            let mut roles: Vec<&str> = labels
                .filter_map(|(label, value)| match label.strip_prefix("node-role.kubernetes.io/") {
                    None if label == "kubernetes.io/role" => value.as_str(),
                    role => role,
                })
                .filter(|role| !role.is_empty())
                .collect();
            roles.sort_unstable();
            or(joined(roles.into_iter(), ","), NONE)
        }),
    ),
    (AGE, "string", 0, Of(|_| Value::Null)),
    ("Version", "string", 0, Of(|o| text(o, "/status/nodeInfo/kubeletVersion"))),
    ("Internal-IP", "string", 1, Of(|o| node_address(o, "InternalIP"))),
    ("External-IP", "string", 1, Of(|o| node_address(o, "ExternalIP"))),
    ("OS-Image", "string", 1, Of(|o| or(text(o, "/status/nodeInfo/osImage"), UNKNOWN))),
    ("Kernel-Version", "string", 1, Of(|o| or(text(o, "/status/nodeInfo/kernelVersion"), UNKNOWN))),
    (
        "Container-Runtime",
        "string",
        1,
        Of(|o| or(text(o, "/status/nodeInfo/containerRuntimeVersion"), UNKNOWN)),
    ),
];

pub(super) const POD: Columns = &[
    (
        "Ready",
        "string",
        0,
        Of(|o| {
            let statuses = items(o, "/status/containerStatuses");
            let ready = statuses.iter().filter(|status| status["ready"] == Value::Bool(true)).count();
            format!("{ready}/{}", items(o, "/spec/containers").len()).into()
        }),
    ),
    (
        "Status",
        "string",
        0,
        Of(|o| {
            let reason = o.str_at("/status/reason");
            if o.is_terminating() {
                "Terminating".into()
            } else if reason.is_empty() {
                text(o, "/status/phase")
            } else {
                reason.into()
            }
        }),
    ),
    (
        "Restarts",
        "string",
        0,
        Of(|o| {
            let statuses = items(o, "/status/containerStatuses");
            statuses
                .iter()
                .filter_map(|status| status["restartCount"].as_i64())
                .sum::<i64>()
                .to_string()
                .into()
        }),
    ),
    ("IP", "string", 1, Of(|o| or(text(o, "/status/podIP"), NONE))),
    ("Node", "string", 1, Of(|o| or(text(o, "/spec/nodeName"), NONE))),
    ("Nominated Node", "string", 1, Of(|o| or(text(o, "/status/nominatedNodeName"), NONE))),
    (
        "Readiness Gates",
        "string",
        1,
        Of(|o| {
            let gates = items(o, "/spec/readinessGates");
            let open = gates.iter().filter(|gate| condition(o, word(gate, "conditionType")) == Some("True"));
            if gates.is_empty() { NONE.into() } else { format!("{}/{}", open.count(), gates.len()).into() }
        }),
    ),
];

pub(super) const SERVICE: Columns = &[
    ("Type", "string", 0, Of(|o| text(o, "/spec/type"))),
    ("Cluster-IP", "string", 0, Of(|o| or(text(o, "/spec/clusterIP"), NONE))),
    (
        "External-IP",
        "string",
        0,
        Of(|o| {
            let external = items(o, "/spec/externalIPs").iter().filter_map(Value::as_str);
            let balancers = items(o, "/status/loadBalancer/ingress").iter();
            let balancers = balancers.map(|one| one["ip"].as_str().unwrap_or_else(|| word(one, "hostname")));
            match o.str_at("/spec/type") {
                "ExternalName" => text(o, "/spec/externalName"),
                "LoadBalancer" => or(joined(balancers.chain(external), ","), "<pending>"),
                _ => or(joined(external, ","), NONE),
            }
        }),
    ),
    (
        "Port(s)",
        "string",
        0,
        Of(|o| {
            let ports = items(o, "/spec/ports").iter().map(|port| match port["nodePort"].as_i64() {
                None | Some(0) => format!("{}/{}", port["port"], word(port, "protocol")),
                Some(node_port) => format!("{}:{node_port}/{}", port["port"], word(port, "protocol")),
            });
            or(ports.collect::<Vec<_>>().join(",").into(), NONE)
        }),
    ),
    ("Selector", "string", 1, Of(|o| labels(o.at("/spec/selector")))),
];

pub(super) const ENDPOINTS: Columns = &[(
    "Endpoints",
    "string",
    0,
    Of(|o| {
        let mut all = Vec::new();
        for subset in items(o, "/subsets") {
            for address in list(subset, "addresses") {
                let ip = word(address, "ip");
                let ports = list(subset, "ports");
                all.extend(ports.iter().map(|port| format!("{ip}:{}", port["port"])));
                if ports.is_empty() {
                    all.push(ip.to_owned());
                }
            }
        }
        let more = all.len().saturating_sub(3);
        all.truncate(3);
        let shown = all.join(",");
        if more > 0 { format!("{shown} + {more} more...").into() } else { or(shown.into(), NONE) }
    }),
)];

pub(super) const VOLUME: Columns = &[
    ("Capacity", "string", 0, Of(|o| text(o, "/spec/capacity/storage"))),
    (
        "Access Modes",
        "string",
        0,
        Of(|o| joined(items(o, "/spec/accessModes").iter().filter_map(access_mode), ",")),
    ),
    ("Reclaim Policy", "string", 0, Of(|o| text(o, "/spec/persistentVolumeReclaimPolicy"))),
    (
        "Status",
        "string",
        0,
        Of(|o| if o.is_terminating() { "Terminating".into() } else { text(o, "/status/phase") }),
    ),
    (
        "Claim",
        "string",
        0,
        Of(|o| match (o.str_at("/spec/claimRef/namespace"), o.str_at("/spec/claimRef/name")) {
            (_, "") => "".into(),
            (namespace, name) => format!("{namespace}/{name}").into(),
        }),
    ),
    ("StorageClass", "string", 0, Of(|o| text(o, "/spec/storageClassName"))),
    ("VolumeAttributesClass", "string", 0, Of(|o| or(text(o, "/spec/volumeAttributesClassName"), UNSET))),
    ("Reason", "string", 0, Of(|o| text(o, "/status/reason"))),
    ("VolumeMode", "string", 1, Of(|o| or(text(o, "/spec/volumeMode"), UNSET))),
];

pub(super) const VOLUME_CLAIM: Columns = &[
    (
        "Status",
        "string",
        0,
        Of(|o| if o.is_terminating() { "Terminating".into() } else { text(o, "/status/phase") }),
    ),
    ("Volume", "string", 0, Of(|o| text(o, "/spec/volumeName"))),
    ("Capacity", "string", 0, Of(|o| text(o, "/status/capacity/storage"))),
    (
        "Access Modes",
        "string",
        0,
        Of(|o| joined(items(o, "/status/accessModes").iter().filter_map(access_mode), ",")),
    ),
    ("StorageClass", "string", 0, Of(|o| text(o, "/spec/storageClassName"))),
    ("VolumeAttributesClass", "string", 0, Of(|o| or(text(o, "/spec/volumeAttributesClassName"), UNSET))),
    ("VolumeMode", "string", 1, Of(|o| or(text(o, "/spec/volumeMode"), UNSET))),
];

pub(super) const DEPLOYMENT: Columns = &[
    ("Ready", "string", 0, Of(ready_of_replicas)),
    ("Up-to-date", "string", 0, Of(|o| number(o, "/status/updatedReplicas").to_string().into())),
    ("Available", "string", 0, Of(|o| number(o, "/status/availableReplicas").to_string().into())),
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const REPLICA_SET: Columns = &[
    ("Desired", "integer", 0, Of(|o| number(o, "/spec/replicas").into())),
    ("Current", "integer", 0, Of(|o| number(o, "/status/replicas").into())),
    ("Ready", "integer", 0, Of(|o| number(o, "/status/readyReplicas").into())),
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const STATEFUL_SET: Columns = &[("Ready", "string", 0, Of(ready_of_replicas)), CONTAINERS, IMAGES];

pub(super) const DAEMON_SET: Columns = &[
    ("Desired", "integer", 0, Of(|o| number(o, "/status/desiredNumberScheduled").into())),
    ("Current", "integer", 0, Of(|o| number(o, "/status/currentNumberScheduled").into())),
    ("Ready", "integer", 0, Of(|o| number(o, "/status/numberReady").into())),
    ("Up-to-date", "integer", 0, Of(|o| number(o, "/status/updatedNumberScheduled").into())),
    ("Available", "integer", 0, Of(|o| number(o, "/status/numberAvailable").into())),
    ("Node Selector", "string", 0, Of(|o| labels(o.at("/spec/template/spec/nodeSelector")))),
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const REVISION: Columns = &[
    (
        "Controller",
        "string",
        0,
        Of(|o| {
            let owners = o.metadata().get("ownerReferences").and_then(Value::as_array);
            let owner = owners.into_iter().flatten().find(|owner| owner["controller"] == Value::Bool(true));
            let Some(owner) = owner else { return NONE.into() };
            let group = word(owner, "apiVersion").rsplit_once('/').map(|(group, _)| format!(".{group}"));
            format!(
                "{}{}/{}",
                word(owner, "kind").to_lowercase(),
                group.unwrap_or_default(),
                word(owner, "name")
            )
            .into()
        }),
    ),
    ("Revision", "string", 0, Of(|o| number(o, "/revision").to_string().into())),
];

pub(super) const JOB: Columns = &[
    (
        "Status",
        "string",
        0,
        Of(|o| {
            let is = |kind: &str| condition(o, kind) == Some("True");
            let found = ["Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"]
                .into_iter()
                .find(|kind| is(kind));
            if o.is_terminating() && !matches!(found, Some("Complete" | "Failed")) {
                return "Terminating".into();
            }
            found.unwrap_or("Running").into()
        }),
    ),
    (
        "Completions",
        "string",
        0,
        Of(|o| {
            let done = number(o, "/status/succeeded");
            match (o.at("/spec/completions").and_then(Value::as_i64), number(o, "/spec/parallelism")) {
                (Some(wanted), _) => format!("{done}/{wanted}").into(),
                (None, workers) if workers > 1 => format!("{done}/1 of {workers}").into(),
                (None, _) => format!("{done}/1").into(),
            }
        }),
    ),
    (
        "Duration",
        "string",
        0,
        At(|o, now| {
            let time = |pointer: &str| o.str_at(pointer).parse::<Timestamp>().ok();
            let Some(start) = time("/status/startTime") else { return "".into() };
            let end = time("/status/completionTime").unwrap_or(now);
            human_duration(end.as_second() - start.as_second()).into()
        }),
    ),
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const CRON_JOB: Columns = &[
    ("Schedule", "string", 0, Of(|o| text(o, "/spec/schedule"))),
    ("Timezone", "string", 0, Of(|o| or(text(o, "/spec/timeZone"), NONE))),
    (
        "Suspend",
        "boolean",
        0,
        Of(|o| match o.at("/spec/suspend") {
            Some(Value::Bool(true)) => "True".into(),
            Some(Value::Bool(false)) => "False".into(),
            _ => UNSET.into(),
        }),
    ),
    ("Active", "integer", 0, Of(|o| items(o, "/status/active").len().into())),
    (
        "Last Schedule",
        "string",
        0,
        At(|o, now| match o.str_at("/status/lastScheduleTime") {
            "" => NONE.into(),
            time => since(now, time),
        }),
    ),
    (
        "Containers",
        "string",
        1,
        Of(|o| containers(o, "/spec/jobTemplate/spec/template/spec/containers", "name")),
    ),
    (
        "Images",
        "string",
        1,
        Of(|o| containers(o, "/spec/jobTemplate/spec/template/spec/containers", "image")),
    ),
    ("Selector", "string", 1, Of(|o| selector(o.at("/spec/jobTemplate/spec/selector")))),
];

pub(super) const QUOTA: Columns = &[
    ("Request", "string", 0, Of(|o| quota(o, |resource| !resource.starts_with("limits")))),
    ("Limit", "string", 0, Of(|o| quota(o, |resource| resource.starts_with("limits")))),
];

pub(super) const DISRUPTION_BUDGET: Columns = &[
    ("Min Available", "string", 0, Of(|o| any(o, "/spec/minAvailable", "N/A"))),
    ("Max Unavailable", "string", 0, Of(|o| any(o, "/spec/maxUnavailable", "N/A"))),
    ("Allowed Disruptions", "integer", 0, Of(|o| number(o, "/status/disruptionsAllowed").into())),
];

pub(super) const SIGNING_REQUEST: Columns = &[
    (AGE, "string", 0, Of(|_| Value::Null)),
    ("SignerName", "string", 0, Of(|o| or(text(o, "/spec/signerName"), NONE))),
    ("Requestor", "string", 0, Of(|o| text(o, "/spec/username"))),
    (
        "RequestedDuration",
        "string",
        0,
        Of(|o| match o.at("/spec/expirationSeconds").and_then(Value::as_i64) {
            Some(seconds) => human_duration(seconds).into(),
            None => NONE.into(),
        }),
    ),
    ("Condition", "string", 0, Of(signing_condition)),
];

/// Source: kubernetes `pkg/printers/internalversion.extractCSRStatus`.
fn signing_condition(object: &Object) -> Value {
    let has = |kind: &str| items(object, "/status/conditions").iter().any(|it| it["type"] == kind);
    let mut words = vec![if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    }];
    if has("Failed") {
        words.push("Failed");
    }
    if !object.str_at("/status/certificate").is_empty() {
        words.push("Issued");
    }
    words.join(",").into()
}

pub(super) const AUTOSCALER: Columns = &[
    ("Reference", "string", 0, Of(scale_target)),
    (
        "Targets",
        "string",
        0,
        Of(|o| metrics(items(o, "/spec/metrics"), items(o, "/status/currentMetrics")).into()),
    ),
    ("MinPods", "string", 0, Of(|o| any(o, "/spec/minReplicas", "<unset>"))),
    ("MaxPods", "string", 0, Of(|o| number(o, "/spec/maxReplicas").into())),
    ("Replicas", "string", 0, Of(|o| number(o, "/status/currentReplicas").into())),
];

/// The same, of the version that knows one metric.
pub(super) const AUTOSCALER_1: Columns = &[
    ("Reference", "string", 0, Of(scale_target)),
    (
        "Targets",
        "string",
        0,
        Of(|o| {
            let share = |pointer: &str, none: &str| {
                o.at(pointer).map_or_else(|| none.to_owned(), |percent| format!("{percent}%"))
            };
            let current = share("/status/currentCPUUtilizationPercentage", UNKNOWN);
            format!("cpu: {current}/{}", share("/spec/targetCPUUtilizationPercentage", "<auto>")).into()
        }),
    ),
    ("MinPods", "string", 0, Of(|o| any(o, "/spec/minReplicas", "<unset>"))),
    ("MaxPods", "string", 0, Of(|o| number(o, "/spec/maxReplicas").into())),
    ("Replicas", "string", 0, Of(|o| number(o, "/status/currentReplicas").into())),
];

fn scale_target(object: &Object) -> Value {
    format!("{}/{}", object.str_at("/spec/scaleTargetRef/kind"), object.str_at("/spec/scaleTargetRef/name"))
        .into()
}

/// Source: kubernetes `pkg/printers/internalversion.formatHPAMetrics`.
fn metrics(wanted: &[Value], current: &[Value]) -> String {
    if wanted.is_empty() {
        return NONE.to_owned();
    }
    let shown = wanted.iter().enumerate().take(2).map(|(index, metric)| {
        let word = metric["type"].as_str().unwrap_or_default();
        let source = match word {
            "ContainerResource" => "containerResource".to_owned(),
            other => other.to_lowercase(),
        };
        let (target, found) =
            (&metric[&*source]["target"], &current.get(index).unwrap_or(&Value::Null)[&*source]["current"]);
        let show = |from: &Value, none: &str| {
            let percent = from["averageUtilization"].as_i64().map(|percent| format!("{percent}%"));
            let text = |field: &str| from[field].as_str().map(str::to_owned);
            let amount = text("averageValue").or(percent).or_else(|| text("value"));
            amount.unwrap_or_else(|| none.to_owned())
        };
        let name = match word {
            "Resource" | "ContainerResource" => {
                format!("{}: ", metric[&*source]["name"].as_str().unwrap_or_default())
            }
            _ => String::new(),
        };
        let is_average = matches!(word, "Object" | "External") && target["averageValue"].is_string();
        let average = if is_average { " (avg)" } else { "" };
        format!("{name}{}/{}{average}", show(found, UNKNOWN), show(target, "<auto>"))
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match wanted.len() {
        0..=2 => shown,
        all => format!("{shown} + {} more...", all - 2),
    }
}

pub(super) const INGRESS: Columns = &[
    ("Class", "string", 0, Of(|o| or(text(o, "/spec/ingressClassName"), NONE))),
    (
        "Hosts",
        "string",
        0,
        Of(|o| {
            or(
                joined(
                    items(o, "/spec/rules")
                        .iter()
                        .map(|rule| word(rule, "host"))
                        .filter(|host| !host.is_empty()),
                    ",",
                ),
                "*",
            )
        }),
    ),
    (
        "Address",
        "string",
        0,
        Of(|o| {
            joined(
                items(o, "/status/loadBalancer/ingress")
                    .iter()
                    .map(|one| one["ip"].as_str().unwrap_or_else(|| word(one, "hostname"))),
                ",",
            )
        }),
    ),
    (
        "Ports",
        "string",
        0,
        Of(|o| if items(o, "/spec/tls").is_empty() { "80".into() } else { "80, 443".into() }),
    ),
];

pub(super) const INGRESS_CLASS: Columns = &[
    ("Controller", "string", 0, Of(|o| text(o, "/spec/controller"))),
    (
        "Parameters",
        "string",
        0,
        Of(|o| match o.str_at("/spec/parameters/name") {
            "" => NONE.into(),
            name => {
                let group = o.str_at("/spec/parameters/apiGroup");
                let dot = if group.is_empty() { "" } else { "." };
                format!("{}{dot}{group}/{name}", o.str_at("/spec/parameters/kind")).into()
            }
        }),
    ),
];

pub(super) const NETWORK_POLICY: Columns =
    &[("Pod-Selector", "string", 0, Of(|o| selector(o.at("/spec/podSelector"))))];

pub(super) const PRIORITY_CLASS: Columns = &[
    ("Value", "integer", 0, Of(|o| number(o, "/value").into())),
    ("Global-Default", "boolean", 0, Of(|o| (o.at("/globalDefault") == Some(&Value::Bool(true))).into())),
    (AGE, "string", 0, Of(|_| Value::Null)),
    ("PreemptionPolicy", "string", 0, Of(|o| text(o, "/preemptionPolicy"))),
];

pub(super) const STORAGE_CLASS: Columns = &[
    ("Provisioner", "string", 0, Of(|o| text(o, "/provisioner"))),
    ("ReclaimPolicy", "string", 0, Of(|o| text(o, "/reclaimPolicy"))),
    ("VolumeBindingMode", "string", 0, Of(|o| text(o, "/volumeBindingMode"))),
    (
        "AllowVolumeExpansion",
        "string",
        0,
        Of(|o| (o.at("/allowVolumeExpansion") == Some(&Value::Bool(true))).into()),
    ),
];

pub(super) type Named = (&'static str, &'static str, i64, Show);
const CONTAINERS: Named =
    ("Containers", "string", 1, Of(|o| containers(o, "/spec/template/spec/containers", "name")));
const IMAGES: Named =
    ("Images", "string", 1, Of(|o| containers(o, "/spec/template/spec/containers", "image")));
const SELECTOR: Named = ("Selector", "string", 1, Of(|o| selector(o.at("/spec/selector"))));

pub(super) const NONE: &str = "<none>";
const UNKNOWN: &str = "<unknown>";
pub(super) const UNSET: &str = "<unset>";

pub(super) fn text(object: &Object, pointer: &str) -> Value {
    object.str_at(pointer).into()
}

/// `instead` of an empty text.
pub(super) fn or(value: Value, instead: &str) -> Value {
    if value == "" { instead.into() } else { value }
}

/// A text or a number.
fn any(object: &Object, pointer: &str, absent: &str) -> Value {
    match object.at(pointer) {
        Some(Value::String(text)) => (**text).into(),
        Some(other) => other.to_string().into(),
        None => absent.into(),
    }
}

pub(super) fn number(object: &Object, pointer: &str) -> i64 {
    object.at(pointer).and_then(Value::as_i64).unwrap_or_default()
}

pub(super) fn items<'a>(object: &'a Object, pointer: &str) -> &'a [Value] {
    object.at(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

pub(super) fn joined<'a>(words: impl Iterator<Item = &'a str>, separator: &str) -> Value {
    words.collect::<Vec<_>>().join(separator).into()
}

fn size(object: &Object, field: &str) -> usize {
    object.0.get(field).and_then(Value::as_object).map_or(0, Map::len)
}

/// How long ago the time was; times that are not given are unknown.
fn since(now: Timestamp, time: &str) -> Value {
    age(now, time).into()
}

fn first_of<'a>(object: &'a Object, pointers: &[&str]) -> &'a str {
    pointers.iter().map(|pointer| object.str_at(pointer)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// The status of a condition.
pub(super) fn condition<'a>(object: &'a Object, kind: &str) -> Option<&'a str> {
    items(object, "/status/conditions").iter().find(|condition| condition["type"] == kind)?["status"].as_str()
}

fn ready_of_replicas(object: &Object) -> Value {
    format!("{}/{}", number(object, "/status/readyReplicas"), number(object, "/spec/replicas")).into()
}

pub(super) fn containers(object: &Object, pointer: &str, field: &str) -> Value {
    joined(items(object, pointer).iter().map(|container| word(container, field)), ",")
}

pub(super) fn labels(map: Option<&Value>) -> Value {
    let map = map.and_then(Value::as_object).into_iter().flatten();
    let pairs: Vec<_> =
        map.map(|(label, value)| format!("{label}={}", value.as_str().unwrap_or_default())).collect();
    or(pairs.join(",").into(), NONE)
}

pub(super) fn selector(selector: Option<&Value>) -> Value {
    or(selector.map(selector_text).unwrap_or_default().into(), NONE)
}

fn node_address(object: &Object, kind: &str) -> Value {
    let address = items(object, "/status/addresses").iter().find(|address| address["type"] == kind);
    or(address.map(|address| word(address, "address")).unwrap_or_default().into(), NONE)
}

fn access_mode(mode: &Value) -> Option<&'static str> {
    match mode.as_str()? {
        "ReadWriteOnce" => Some("RWO"),
        "ReadOnlyMany" => Some("ROX"),
        "ReadWriteMany" => Some("RWX"),
        "ReadWriteOncePod" => Some("RWOP"),
        _ => None,
    }
}

fn subjects(object: &Object, kind: &str) -> Value {
    let of_kind = items(object, "/subjects").iter().filter(|subject| subject["kind"] == kind);
    let names = of_kind.map(|subject| match word(subject, "namespace") {
        "" => word(subject, "name").to_owned(),
        namespace => format!("{namespace}/{}", word(subject, "name")),
    });
    names.collect::<Vec<_>>().join(", ").into()
}

fn quota(object: &Object, wanted: fn(&str) -> bool) -> Value {
    let hard = object.at("/status/hard").and_then(Value::as_object).into_iter().flatten();
    let shown = hard.filter(|(resource, _)| wanted(resource)).map(|(resource, hard)| {
        let used = object.at("/status/used").and_then(|used| used[resource.as_str()].as_str()).unwrap_or("0");
        format!("{resource}: {used}/{}", hard.as_str().unwrap_or_default())
    });
    shown.collect::<Vec<_>>().join(", ").into()
}
