//! Eviction: a pod is deleted unless a disruption budget keeps it.

use http::StatusCode;

use super::{delete::delete_object, resource::Resource, rewrite::rewrite};
use crate::{
    clock::rfc3339,
    error::Status,
    kind::{Kind, set_condition},
    object::{Object, object_at},
    options::DeleteOptions,
    selector::LabelSelector,
    storage::Key,
    value::{Value, json},
};

impl Resource<'_> {
    /// Deletes a pod, and takes that off the budget that counts it.
    ///
    /// # Errors
    /// 429 if the budget allows no further disruption, or has not been looked at since it was changed; 500 if several
    /// budgets count the pod.
    ///
    /// Source: core `pod/storage.EvictionREST.Create`.
    pub(crate) fn evict(&self, options: &DeleteOptions) -> Result<(), Status> {
        let (cluster, key, name) = (self.cluster, self.key(), &self.info.name);
        let pod = cluster.store.get(&self.kind.prefix, &key);
        let pod = Object::decode(&pod.ok_or_else(|| Status::not_found(self.kind, name))?)?;
        let mut options = options.clone();
        if !is_disrupted(&pod) {
            self.spend(&pod, &mut options)?;
        }
        if !options.dry_run {
            let now = cluster.clock.now();
            let document = rewrite(cluster, self.kind, &key, false, |pod| {
                super::delete::check_preconditions(self.kind, pod, &options.preconditions)?;
                let (reason, message) = ("EvictionByEvictionAPI", "Eviction API: evicting");
                set_condition(pod, now, "DisruptionTarget", "True", reason, message);
                Ok(())
            })?;
            // The version has moved with the condition.
            if options.preconditions.resource_version.is_some() {
                options.preconditions.resource_version = Some(document.revision().to_string());
            }
        }
        delete_object(cluster, self.kind, &key, name, &options)?;
        Ok(())
    }

    /// Takes one disruption off the budget of a pod.
    fn spend(&self, pod: &Object, options: &mut DeleteOptions) -> Result<(), Status> {
        let served = self.cluster.served();
        let Some(kind) = served.find("policy", "v1", "poddisruptionbudgets") else { return Ok(()) };
        let budgets = self.budgets(kind, pod)?;
        let budget = match budgets.as_slice() {
            [] => return Ok(()),
            [budget] => budget,
            _ => {
                let text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
                return Err(Status::new(StatusCode::INTERNAL_SERVER_ERROR, "", text));
            }
        };
        if !is_ready(pod) && spares_unready(budget) {
            // It must not have become ready since.
            options.preconditions.resource_version = Some(pod.meta("resourceVersion").to_owned());
            return Ok(());
        }
        let now = rfc3339(self.cluster.clock.now());
        let key = Key::new(budget.namespace(), budget.name());
        rewrite(self.cluster, kind, &key, options.dry_run, |budget| {
            check(budget)?;
            let left = count(budget, "disruptionsAllowed") - 1;
            let status = budget.section("status");
            status.insert("disruptionsAllowed".into(), left.into());
            object_at(status, "disruptedPods").insert(pod.name().into(), now.clone().into());
            Ok(())
        })?;
        Ok(())
    }

    /// The budgets that count a pod.
    fn budgets(&self, kind: &Kind, pod: &Object) -> Result<Vec<Object>, Status> {
        let snapshot = self.cluster.store.snapshot(&kind.prefix);
        let mut budgets = Vec::new();
        for (_, document) in snapshot.range(pod.namespace(), "") {
            let budget = Object::decode(document)?;
            // Without a selector it counts no pods, with an empty one all.
            let selector = budget.at("/spec/selector").filter(|selector| selector.is_object());
            let counts = |selector| LabelSelector::of_object(selector).selects(pod.metadata().get("labels"));
            if selector.is_some_and(counts) {
                budgets.push(budget);
            }
        }
        Ok(budgets)
    }
}

/// Whether a pod has stopped, has not begun, or is to go anyway.
fn is_disrupted(pod: &Object) -> bool {
    pod.is_terminating() || matches!(pod.str_at("/status/phase"), "Succeeded" | "Failed" | "Pending")
}

fn is_ready(pod: &Object) -> bool {
    let conditions = pod.at("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|it| it["type"] == "Ready" && it["status"] == "True")
}

/// Whether pods that are not ready may go without counting.
fn spares_unready(budget: &Object) -> bool {
    let wanted = count(budget, "desiredHealthy");
    budget.str_at("/spec/unhealthyPodEvictionPolicy") == "AlwaysAllow"
        || (wanted > 0 && count(budget, "currentHealthy") >= wanted)
}

/// Whether a budget allows one disruption more.
///
/// Source: core `pod/storage.EvictionREST.checkAndDecrement`.
fn check(budget: &Object) -> Result<(), Status> {
    let name = budget.name();
    let refused = |seconds: Option<u32>, cause: String| {
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        let status = seconds.map_or_else(
            || Status::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message),
            |seconds| Status::too_many_requests(message, seconds),
        );
        Err(status.with("causes", json!([{"reason": "DisruptionBudget", "message": cause}])))
    };
    if count(budget, "observedGeneration") < budget.generation() {
        let cause = format!("The disruption budget {name} is still being processed by the server.");
        return refused(Some(10), cause);
    }
    if count(budget, "disruptionsAllowed") > 0 {
        return Ok(());
    }
    let (wanted, found) = (count(budget, "desiredHealthy"), count(budget, "currentHealthy"));
    refused(
        None,
        if found <= wanted {
            format!("The disruption budget {name} needs {wanted} healthy pods and has {found} currently")
        } else {
            format!("The disruption budget {name} does not allow evicting pods currently")
        },
    )
}

fn count(budget: &Object, field: &str) -> i64 {
    budget.at(&format!("/status/{field}")).and_then(Value::as_i64).unwrap_or_default()
}
