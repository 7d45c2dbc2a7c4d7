//! What the server gives to Services: addresses, and ports on the nodes.

use std::{collections::HashSet, net::Ipv4Addr, ops::RangeInclusive, sync::Arc};

use parking_lot::Mutex;

use super::{
    reservation::{Held, Reservation},
    row::Kind,
};
use crate::{
    error::{FieldError, Status},
    object::Object,
    value::{Value, json},
};

/// Hands out addresses from 10.0.0.0/24, the range of Go's envtest, and node ports from 30000 to 32767.
///
/// The first address belongs to the `kubernetes` Service of every cluster, which asks for it.
#[derive(Debug, Clone, Default)]
pub(super) struct ServiceAddresses(Arc<Mutex<HashSet<Taken>>>);

/// What one Service has, and no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Taken {
    Address(Ipv4Addr),
    NodePort(u16),
}

/// What one write of a Service has taken, and what it gives back. Dropped, it undoes the first and forgets the second.
#[derive(Debug)]
struct Claim {
    addresses: ServiceAddresses,
    taken: Vec<Taken>,
    freed: Vec<Taken>,
}

impl ServiceAddresses {
    /// Gives a Service what it needs and does not have yet. What it asks for must be free.
    pub(super) fn reserve(
        &self,
        kind: &Kind,
        old: Option<&Object>,
        service: &mut Object,
    ) -> Result<Reservation, Status> {
        let held = old.map(taken_by).unwrap_or_default();
        let mut claim = Claim { addresses: self.clone(), taken: Vec::new(), freed: Vec::new() };
        let refuse = |error| Status::invalid(kind, service.name(), &[error]);
        let mut changed = service.clone();
        claim.reserve_address(&mut changed, &held).map_err(refuse)?;
        claim.reserve_node_ports(&mut changed, &held).map_err(refuse)?;
        *service = changed;
        let keeps = taken_by(service);
        claim.freed = held.difference(&keeps).copied().collect();
        Ok(Reservation::of(claim))
    }

    /// Takes back what a Service has that is gone.
    pub(super) fn release(&self, service: &Object) {
        let mut all = self.0.lock();
        for taken in taken_by(service) {
            all.remove(&taken);
        }
    }
}

impl Held for Claim {
    fn keep(mut self: Box<Self>) {
        let mut all = self.addresses.0.lock();
        for freed in &self.freed {
            all.remove(freed);
        }
        drop(all);
        self.taken.clear();
    }
}

impl Claim {
    fn reserve_address(&mut self, service: &mut Object, held: &HashSet<Taken>) -> Result<(), FieldError> {
        let asked = service.str_at("/spec/clusterIP").to_owned();
        if service.str_at("/spec/type") == "ExternalName" || asked == "None" {
            return Ok(());
        }
        let invalid =
            |path: &str, value: Value, detail: &str| Err(FieldError::invalid(path, Some(&value), detail));
        let text = if asked.is_empty() {
            let all = (2..255).map(|last| Taken::Address(Ipv4Addr::new(10, 0, 0, last)));
            match self.first_free(all) {
                Some(Taken::Address(address)) => address.to_string(),
                _ => {
                    return invalid(
                        "spec.clusterIPs",
                        json!([]),
                        "failed to allocate a serviceIP: range is full",
                    );
                }
            }
        } else {
            let Ok(address) = asked.parse::<Ipv4Addr>() else {
                let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
                return invalid("spec.clusterIPs[0]", json!(asked), detail);
            };
            if address.octets()[..3] != [10, 0, 0] {
                let detail = format!(
                    "failed to allocate IP {address}: the provided network does not match the current range"
                );
                return invalid("spec.clusterIPs", json!([asked]), &detail);
            }
            if !held.contains(&Taken::Address(address)) && !self.take(Taken::Address(address)) {
                let detail = format!("failed to allocate IP {address}: provided IP is already allocated");
                return invalid("spec.clusterIPs", json!([asked]), &detail);
            }
            asked
        };
        let spec = service.section("spec");
        spec.insert("clusterIPs".into(), json!([text]));
        spec.insert("clusterIP".into(), text.into());
        Ok(())
    }

    fn reserve_node_ports(&mut self, service: &mut Object, held: &HashSet<Taken>) -> Result<(), FieldError> {
        let wanted = match service.str_at("/spec/type") {
            "NodePort" => true,
            "LoadBalancer" => service.at("/spec/allocateLoadBalancerNodePorts") != Some(&Value::Bool(false)),
            _ => return Ok(()),
        };
        let Some(Value::Array(ports)) = service.section("spec").get_mut("ports") else { return Ok(()) };
        // First what is asked for, so that nothing of it is handed out.
        for (index, port) in ports.iter().enumerate() {
            if let Some(asked) = port["nodePort"].as_i64().filter(|asked| *asked != 0) {
                self.reserve_node_port(asked, held).map_err(|detail| {
                    let path = format!("spec.ports[{index}].nodePort");
                    FieldError::invalid(&path, port.get("nodePort"), &detail)
                })?;
            }
        }
        for (index, port) in ports.iter_mut().enumerate() {
            if !wanted || port["nodePort"].as_i64().is_some_and(|asked| asked != 0) {
                continue;
            }
            let Some(Taken::NodePort(free)) = self.first_free(HANDED_OUT.map(Taken::NodePort)) else {
                let path = format!("spec.ports[{index}].nodePort");
                return Err(FieldError::invalid(&path, Some(&0.into()), "range is full"));
            };
            port["nodePort"] = free.into();
        }
        Ok(())
    }

    /// TCP and UDP of one Service may share a port.
    fn reserve_node_port(&mut self, asked: i64, held: &HashSet<Taken>) -> Result<(), String> {
        let Some(port) = u16::try_from(asked).ok().filter(|port| NODE_PORTS.contains(port)) else {
            return Err(format!(
                "provided port is not in the valid range. The range of valid ports is {}-{}",
                NODE_PORTS.start(),
                NODE_PORTS.end()
            ));
        };
        let port = Taken::NodePort(port);
        if held.contains(&port) || self.taken.contains(&port) || self.take(port) {
            Ok(())
        } else {
            Err("provided port is already allocated".to_owned())
        }
    }

    fn take(&mut self, wanted: Taken) -> bool {
        let free = self.addresses.0.lock().insert(wanted);
        if free {
            self.taken.push(wanted);
        }
        free
    }

    fn first_free(&mut self, mut candidates: impl Iterator<Item = Taken>) -> Option<Taken> {
        candidates.find(|candidate| self.take(*candidate))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut all = self.addresses.0.lock();
        for taken in &self.taken {
            all.remove(taken);
        }
    }
}

fn taken_by(service: &Object) -> HashSet<Taken> {
    let address = service.str_at("/spec/clusterIP").parse().ok().map(Taken::Address);
    let ports = service.at("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    let ports = ports.filter_map(|port| u16::try_from(port["nodePort"].as_i64()?).ok());
    address.into_iter().chain(ports.filter(|port| *port != 0).map(Taken::NodePort)).collect()
}

/// Source: kube-apiserver `--service-node-port-range`.
const NODE_PORTS: RangeInclusive<u16> = 30_000..=32_767;
/// The first ones are left to those who ask.
///
/// Source: apiserver `ipallocator` and `portallocator.calculateRangeOffset`.
const HANDED_OUT: RangeInclusive<u16> = 30_086..=32_767;
