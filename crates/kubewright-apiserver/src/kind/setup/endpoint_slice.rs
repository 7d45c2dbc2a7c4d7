//! `EndpointSlice`s: where the pods behind a Service are.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::check::{
    self,
    Check::{self, Immutable, OneOf, Required},
};
use crate::{
    error::FieldError,
    kind::defaults::{fill, list_at},
    object::Object,
    value::Value,
};

/// Source: discovery `v1.SetDefaults_EndpointPort`.
pub(super) fn default(object: &mut Object) {
    for port in list_at(&mut object.0, "ports") {
        fill(port, "name", "");
        fill(port, "protocol", "TCP");
    }
}

/// Source: discovery `validation.ValidateEndpointSlice`.
pub(super) fn validate(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    const CHECKS: &[Check] = &[
        Required("addressType", ""),
        OneOf("addressType", &["FQDN", "IPv4", "IPv6"]),
        Immutable("addressType"),
    ];
    let mut problems = check::all(CHECKS, new, old);
    let list =
        |field: &str| new.0.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    problems.extend(too_many("endpoints", list("endpoints"), MAX_ENDPOINTS));
    for (index, endpoint) in list("endpoints").iter().enumerate() {
        let addresses = endpoint["addresses"].as_array().map(Vec::as_slice).unwrap_or_default();
        let path = format!("endpoints[{index}].addresses");
        if addresses.is_empty() {
            problems.push(FieldError::required(&path, "must contain at least 1 address"));
        }
        problems.extend(too_many(&path, addresses, MAX_ADDRESSES));
        for (index, address) in addresses.iter().enumerate() {
            let text = address.as_str().unwrap_or_default();
            let detail = match new.str_at("/addressType") {
                "IPv4" if text.parse::<Ipv4Addr>().is_err() => "must be an IPv4 address",
                "IPv6" if text.parse::<Ipv6Addr>().is_err() => "must be an IPv6 address",
                _ => continue,
            };
            problems.push(FieldError::invalid(&format!("{path}[{index}]"), Some(address), detail));
        }
    }
    let ports = list("ports");
    problems.extend(too_many("ports", ports, MAX_PORTS));
    for (index, port) in ports.iter().enumerate() {
        let path = format!("ports[{index}]");
        if ports[..index].iter().any(|other| other["name"] == port["name"]) {
            problems.push(FieldError::duplicate(&format!("{path}.name"), &port["name"]));
        }
        let protocol = port["protocol"].as_str().unwrap_or_default();
        if !PROTOCOLS.contains(&protocol) {
            problems.push(FieldError::not_supported(&format!("{path}.protocol"), protocol, PROTOCOLS));
        }
    }
    problems
}

fn too_many(path: &str, items: &[Value], max: usize) -> Option<FieldError> {
    let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    (items.len() > max).then(|| FieldError::too_many(path, count(items.len()), count(max)))
}

const MAX_ENDPOINTS: usize = 1000;
const MAX_ADDRESSES: usize = 100;
const MAX_PORTS: usize = 20_000;
const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];
