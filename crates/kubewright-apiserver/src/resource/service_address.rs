//! The addresses of Services.

use std::{collections::HashSet, net::Ipv4Addr};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    kind::Kind,
    object::Object,
    wire::{FieldError, Status},
};

/// Hands out addresses from 10.0.0.0/24, the range of Go's envtest.
///
/// The first one belongs to the `kubernetes` Service of every cluster and is not handed out.
#[derive(Debug, Default)]
pub(crate) struct ServiceAddresses(Mutex<HashSet<Ipv4Addr>>);

impl ServiceAddresses {
    /// Gives a Service an address, unless it is headless or an alias. An address that it asks for must be free.
    pub(super) fn assign(&self, kind: &Kind, service: &mut Object) -> Result<(), Status> {
        let asked = service.str_at("/spec/clusterIP").to_owned();
        if service.str_at("/spec/type") == "ExternalName" {
            return Ok(());
        }
        let text = match asked.as_str() {
            "None" => asked,
            "" => match self.next() {
                Some(address) => address.to_string(),
                None => return Err(Status::internal_error("failed to allocate a serviceIP: range is full")),
            },
            _ => self.reserve(kind, service.name(), asked)?,
        };
        let spec = service.section("spec");
        spec.insert("clusterIPs".into(), json!([text]));
        spec.insert("clusterIP".into(), text.into());
        Ok(())
    }

    /// Takes the address of a Service that is gone back.
    pub(super) fn release(&self, service: &Object) {
        if let Ok(address) = service.str_at("/spec/clusterIP").parse() {
            self.0.lock().remove(&address);
        }
    }

    fn next(&self) -> Option<Ipv4Addr> {
        let mut used = self.0.lock();
        let free =
            (2..255).map(|last| Ipv4Addr::new(10, 0, 0, last)).find(|address| !used.contains(address))?;
        used.insert(free);
        Some(free)
    }

    fn reserve(&self, kind: &Kind, name: &str, asked: String) -> Result<String, Status> {
        let refuse = |detail: String| {
            let value = Value::from(vec![asked.clone()]);
            let error = FieldError::invalid("spec.clusterIPs", Some(&value), &detail);
            Err(Status::invalid(kind, name, &[error]))
        };
        let Ok(address) = asked.parse::<Ipv4Addr>() else {
            return refuse("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".into());
        };
        if address.octets()[..3] != [10, 0, 0] {
            return refuse(format!(
                "failed to allocate IP {address}: the provided IP ({address}) is not in the valid range. The range of valid IPs is 10.0.0.0/24"
            ));
        }
        if !self.0.lock().insert(address) {
            return refuse(format!("failed to allocate IP {address}: provided IP is already allocated"));
        }
        Ok(asked)
    }
}
