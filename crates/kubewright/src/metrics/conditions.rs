//! Conditions of objects as gauges.

use std::{collections::HashMap, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use parking_lot::Mutex;
use prometheus::{
    IntGaugeVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use super::Registry;
use crate::object::ObjectKey;

/// One series for each condition of each object, with its status: `{namespace, name, type, status} 1`. Clones are handles of one metric.
///
/// What is shown is what was last told: a condition that changed has no second series with its old status, one that is gone has none, and neither has an object
/// that is gone.
///
/// # Example: alerts on conditions
/// ```
/// use k8s_openapi::{apimachinery::pkg::apis::meta::v1::{Condition, Time}, jiff::Timestamp};
/// use kubewright::{metrics::{ConditionGauges, Registry}, object::ObjectKey};
///
/// let registry = Registry::new();
/// let gauges = ConditionGauges::new(&registry, "guestbook_status_condition", "Conditions of guestbooks")?;
/// let key = ObjectKey::new("default", "a");
/// let ready = Condition {
///     type_: "Ready".into(),
///     status: "False".into(),
///     reason: "Starting".into(),
///     message: String::new(),
///     last_transition_time: Time(Timestamp::now()),
///     observed_generation: None,
/// };
/// gauges.set(&key, [&ready]);
/// assert!(registry.text().contains(r#"{name="a",namespace="default",status="False",type="Ready"} 1"#));
///
/// // In the reconciler, once the object is not found.
/// gauges.remove(&key);
/// assert!(!registry.text().contains("Ready"));
/// # Ok::<(), prometheus::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConditionGauges {
    objects: Arc<Mutex<HashMap<ObjectKey, Vec<Shown>>>>,
    gauges: IntGaugeVec,
}

/// What is shown of a condition.
#[derive(Debug)]
struct Shown {
    kind: String,
    status: String,
}

impl ConditionGauges {
    /// A metric in `registry`.
    ///
    /// # Errors
    /// Fails if the registry has a metric of the same name, or the name is not well-formed.
    pub fn new(registry: &Registry, name: &str, help: &str) -> prometheus::Result<Self> {
        let labels = ["namespace", "name", "type", "status"];
        let gauges =
            Self { objects: Arc::default(), gauges: IntGaugeVec::new(Opts::new(name, help), &labels)? };
        registry.register(gauges.clone())?;
        Ok(gauges)
    }

    /// The conditions that an object has now.
    pub fn set<'a>(&self, key: &ObjectKey, conditions: impl IntoIterator<Item = &'a Condition>) {
        let shown = conditions
            .into_iter()
            .map(|condition| Shown { kind: condition.type_.clone(), status: condition.status.clone() });
        let shown = shown.collect();
        self.objects.lock().insert(key.clone(), shown);
    }

    /// The object is gone.
    pub fn remove(&self, key: &ObjectKey) {
        self.objects.lock().remove(key);
    }
}

impl Collector for ConditionGauges {
    fn desc(&self) -> Vec<&Desc> {
        self.gauges.desc()
    }

    /// Made anew each time, so that nothing stays that is not told any more.
    fn collect(&self) -> Vec<MetricFamily> {
        let objects = self.objects.lock();
        self.gauges.reset();
        for (key, conditions) in &*objects {
            let namespace = key.namespace().unwrap_or_default();
            for Shown { kind, status } in conditions {
                self.gauges.with_label_values(&[namespace, key.name(), kind, status]).set(1);
            }
        }
        self.gauges.collect()
    }
}
