//! Services: what is filled in, what a change takes over from before, and what is wrong with one.

use super::{
    defaults::{fill, list_at},
    reservation::Reservation,
    row::Kind,
    rules::Rules,
    service_address::ServiceAddresses,
    strategy::{Consequence, Strategy},
};
use crate::{
    error::{FieldError, Status},
    object::Object,
    value::{Map, Value, json},
};

/// Services, with what is handed out to them.
#[derive(Debug)]
pub(super) struct Services {
    pub(super) rules: Rules,
    pub(super) addresses: ServiceAddresses,
}

impl Strategy for Services {
    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn reserve(&self, kind: &Kind, old: Option<&Object>, new: &mut Object) -> Result<Reservation, Status> {
        self.addresses.reserve(kind, old, new)
    }

    fn release(&self, service: &Object) {
        self.addresses.release(service);
    }

    fn consequence(&self) -> Consequence {
        Consequence::Restore
    }
}

/// Source: core `v1.SetDefaults_Service`, `SetDefaults_ServiceSpec`.
pub(super) fn default(object: &mut Object) {
    let spec = object.section("spec");
    fill(spec, "type", "ClusterIP");
    fill(spec, "sessionAffinity", "None");
    if spec.get("sessionAffinity").is_some_and(|affinity| affinity == "ClientIP") {
        fill(spec, "sessionAffinityConfig", json!({"clientIP": {"timeoutSeconds": 10800}}));
    }
    let kind = spec.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if kind != "ExternalName" {
        fill(spec, "internalTrafficPolicy", "Cluster");
        fill(spec, "ipFamilies", json!(["IPv4"]));
        fill(spec, "ipFamilyPolicy", "SingleStack");
    }
    if has_node_ports(&kind) {
        fill(spec, "externalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        fill(spec, "allocateLoadBalancerNodePorts", true);
    }
    for port in list_at(spec, "ports") {
        fill(port, "protocol", "TCP");
        let number = port.get("port").cloned().unwrap_or_default();
        fill(port, "targetPort", number);
    }
}

pub(super) fn prepare_for_create(object: &mut Object) {
    object.put("status", Some(json!({"loadBalancer": {}})));
    let address = object.str_at("/spec/clusterIP").to_owned();
    if !address.is_empty() {
        fill(object.section("spec"), "clusterIPs", json!([address]));
    }
}

/// A client that leaves out what the server has given does not mean to give it back, and a Service of another type
/// has no use for it.
///
/// Source: core `service.patchAllocatedValues`, `normalizeClusterIPs`, `dropTypeDependentFields`.
pub(super) fn prepare_for_update(new: &mut Object, old: &Object) {
    let (was, is) = (type_of(old).to_owned(), type_of(new).to_owned());
    if is == "ExternalName" {
        if was != "ExternalName" {
            drop_unchanged(
                new,
                old,
                &["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"],
            );
        }
    } else {
        keep_address(new, old);
    }
    match (has_node_ports(&was), has_node_ports(&is)) {
        (true, true) => keep_node_ports(new, old),
        (true, false) => {
            drop_unchanged(new, old, &["externalTrafficPolicy"]);
            drop_node_ports(new, old);
        }
        _ => {}
    }
    if was == "LoadBalancer" && is != "LoadBalancer" {
        drop_unchanged(new, old, &["allocateLoadBalancerNodePorts"]);
    }
}

fn keep_address(new: &mut Object, old: &Object) {
    let (before, all_before) = (old.at("/spec/clusterIP").cloned(), old.at("/spec/clusterIPs").cloned());
    let asked = new.str_at("/spec/clusterIP").to_owned();
    let spec = new.section("spec");
    let only_one_is_new = spec.get("clusterIPs") == all_before.as_ref();
    if asked.is_empty() {
        if let (Some(before), Some(all_before)) = (before, all_before) {
            spec.insert("clusterIP".into(), before);
            fill(spec, "clusterIPs", all_before);
        }
    } else if before.is_some_and(|before| before != asked) && only_one_is_new {
        // The client knows the older of the two fields.
        spec.insert("clusterIPs".into(), json!([asked]));
    } else {
        fill(spec, "clusterIPs", json!([asked]));
    }
}

fn keep_node_ports(new: &mut Object, old: &Object) {
    let known: Vec<Value> = ports(old).to_vec();
    for port in list_at(new.section("spec"), "ports") {
        let same =
            |known: &&Value| ["protocol", "port"].iter().all(|field| known.get(field) == port.get(field));
        if let Some(number) = known.iter().find(same).and_then(|known| known.get("nodePort")) {
            fill(port, "nodePort", number.clone());
        }
    }
}

/// Those that the client repeats; others are for the validation to refuse.
fn drop_node_ports(new: &mut Object, old: &Object) {
    let known: Vec<Option<Value>> = ports(old).iter().map(|port| port.get("nodePort").cloned()).collect();
    for port in list_at(new.section("spec"), "ports") {
        if known.contains(&port.get("nodePort").cloned()) {
            port.remove("nodePort");
        }
    }
}

fn drop_unchanged(new: &mut Object, old: &Object, fields: &[&str]) {
    let before = old.at("/spec").and_then(Value::as_object);
    let spec: &mut Map = new.section("spec");
    for field in fields {
        if spec.get(field) == before.and_then(|before| before.get(field)) {
            spec.remove(field);
        }
    }
}

/// Source: core `validation.ValidateService`, `ValidateServiceUpdate`.
pub(super) fn validate(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let kind = type_of(new);
    if !TYPES.contains(&kind) {
        problems.push(FieldError::not_supported("spec.type", kind, TYPES));
    }
    let is_headless = new.str_at("/spec/clusterIP") == "None";
    if ports(new).is_empty() && !is_headless && kind != "ExternalName" {
        problems.push(FieldError::required("spec.ports", ""));
    }
    if kind == "ExternalName" && new.str_at("/spec/externalName").is_empty() {
        problems.push(FieldError::required("spec.externalName", ""));
    }
    if is_headless && has_node_ports(kind) {
        let detail = format!("may not be set to 'None' for {kind} services");
        problems.push(FieldError::invalid("spec.clusterIPs[0]", Some(&"None".into()), &detail));
    }
    problems.extend(port_problems(new, kind));
    problems.extend(address_problems(new, old));
    problems
}

fn port_problems(new: &Object, kind: &str) -> Vec<FieldError> {
    let ports = ports(new);
    let mut problems = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        if ports.len() > 1 && port["name"].as_str().unwrap_or_default().is_empty() {
            problems.push(FieldError::required(&format!("spec.ports[{index}].name"), ""));
        }
        if kind == "ClusterIP" && port["nodePort"].as_i64().unwrap_or_default() != 0 {
            let detail = "may not be used when `type` is 'ClusterIP'";
            problems.push(FieldError::forbidden(&format!("spec.ports[{index}].nodePort"), detail));
        }
    }
    problems
}

fn address_problems(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let addresses = new.at("/spec/clusterIPs");
    let Some(first) = new.at("/spec/clusterIPs/0") else { return Vec::new() };
    if new.at("/spec/clusterIP") != Some(first) {
        return vec![FieldError::invalid("spec.clusterIPs", addresses, "first value must match `clusterIP`")];
    }
    let both_have_one = old.filter(|old| type_of(old) != "ExternalName" && type_of(new) != "ExternalName");
    if both_have_one.is_some_and(|old| old.at("/spec/clusterIPs/0") != Some(first)) {
        return vec![FieldError::invalid("spec.clusterIPs[0]", addresses, "may not change once set")];
    }
    Vec::new()
}

fn type_of(object: &Object) -> &str {
    object.str_at("/spec/type")
}

fn has_node_ports(kind: &str) -> bool {
    matches!(kind, "NodePort" | "LoadBalancer")
}

fn ports(object: &Object) -> &[Value] {
    object.at("/spec/ports").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

const TYPES: &[&str] = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
