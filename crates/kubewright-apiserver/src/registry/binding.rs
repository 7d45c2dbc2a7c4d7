//! Binding: a pod gets its node.

use http::StatusCode;
use jiff::Timestamp;

use super::{resource::Resource, rewrite::rewrite};
use crate::{
    error::{FieldError, Status},
    kind::set_condition,
    object::{Object, object_at},
    value::Value,
};

impl Resource<'_> {
    /// Gives a pod the node that a `Binding` names.
    ///
    /// # Errors
    /// 409 for a pod that has a node, is to go, or waits for somebody to let it be scheduled.
    ///
    /// Source: core `pod/storage.BindingREST.Create`, `assignPod`.
    pub(crate) fn bind(&self, binding: &Object, dry_run: bool) -> Result<(), Status> {
        check_target(binding)?;
        let now = self.cluster.clock.now();
        rewrite(self.cluster, self.kind, &self.key(), dry_run, |pod| {
            self.check_preconditions(pod, binding)?;
            check_unbound(pod).map_err(|cause| self.refused(&cause))?;
            assign(pod, binding, now);
            Ok(())
        })?;
        Ok(())
    }

    fn check_preconditions(&self, pod: &Object, binding: &Object) -> Result<(), Status> {
        for (field, word) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
            let (wanted, found) = (binding.meta(field), pod.meta(field));
            if !wanted.is_empty() && wanted != found {
                let cause = format!(
                    "Precondition failed: {word} in precondition: {wanted}, {word} in object meta: {found}"
                );
                return Err(Status::conflict(self.kind, pod.name(), &cause));
            }
        }
        Ok(())
    }

    fn refused(&self, cause: &str) -> Status {
        let name = &self.info.name;
        let mut status = Status::conflict(self.kind, name, cause).with("kind", "pods/binding");
        status.message = format!("Operation cannot be fulfilled on pods/binding \"{name}\": {cause}");
        status
    }
}

/// Source: core `validation.ValidatePodBinding`, whose errors upstream passes on as they are.
fn check_target(binding: &Object) -> Result<(), Status> {
    let kind = binding.str_at("/target/kind");
    let problem = if !matches!(kind, "" | "Node") {
        FieldError::not_supported("target.kind", kind, &["Node", "<empty>"])
    } else if binding.str_at("/target/name").is_empty() {
        FieldError::required("target.name", "")
    } else {
        return Ok(());
    };
    Err(Status::new(StatusCode::INTERNAL_SERVER_ERROR, "", problem.to_string()))
}

/// Why a pod cannot get a node.
fn check_unbound(pod: &Object) -> Result<(), String> {
    let (name, node) = (pod.name(), pod.str_at("/spec/nodeName"));
    if pod.is_terminating() {
        return Err(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    if !node.is_empty() {
        return Err(format!("pod {name} is already assigned to node {node:?}"));
    }
    let gates = pod.at("/spec/schedulingGates").and_then(Value::as_array);
    if gates.is_some_and(|gates| !gates.is_empty()) {
        return Err(format!("pod {name} has non-empty .spec.schedulingGates"));
    }
    Ok(())
}

fn assign(pod: &mut Object, binding: &Object, now: Timestamp) {
    pod.section("spec").insert("nodeName".into(), binding.str_at("/target/name").into());
    if let Some(Value::Object(annotations)) = binding.metadata().get("annotations") {
        object_at(pod.metadata_mut(), "annotations").extend(annotations.clone());
    }
    set_condition(pod, now, "PodScheduled", "True", "", "");
}

#[cfg(test)]
mod tests {
    use crate::value::json;

    use super::*;

    #[test]
    fn a_pod_gets_a_node_once() {
        let object = |value: Value| Object(value.as_object().cloned().unwrap());
        for (pod, cause) in [
            (json!({"metadata": {"name": "a"}}), None),
            (
                json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}}),
                Some("pod a is already assigned to node \"n\""),
            ),
            (
                json!({"metadata": {"name": "a", "deletionTimestamp": "t"}, "spec": {"nodeName": "n"}}),
                Some("pod a is being deleted, cannot be assigned to a host"),
            ),
            (
                json!({"metadata": {"name": "a"}, "spec": {"schedulingGates": [{"name": "g"}]}}),
                Some("pod a has non-empty .spec.schedulingGates"),
            ),
        ] {
            assert_eq!(check_unbound(&object(pod)).err().as_deref(), cause);
        }
    }

    #[test]
    fn a_target_is_a_node_with_a_name() {
        let problem = |target: Value| {
            let binding = Object(json!({"target": target}).as_object().cloned().unwrap());
            check_target(&binding).err().map(|status| status.message)
        };
        assert_eq!(problem(json!({"name": "n"})), None);
        assert_eq!(problem(json!({"kind": "Node"})).unwrap(), "target.name: Required value");
        let other = r#"target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>""#;
        assert_eq!(problem(json!({"kind": "Pod", "name": "n"})).unwrap(), other);
    }
}
