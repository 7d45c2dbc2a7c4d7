//! An event as it is stored.

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        core::v1::{Event as CoreEvent, EventSource},
        events::v1::{Event as SeriesEvent, EventSeries},
    },
    apimachinery::pkg::apis::meta::v1::{MicroTime, Time},
};
use kube::api::ObjectMeta;
use serde_json::{Value, json};
use uuid::Uuid;

use super::occurrence::Occurrence;

/// An event as it is stored: what happened first, how often, and when last.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) name: String,
    /// The first of them; with the words of the last, where many are combined.
    pub(super) first: Occurrence,
    pub(super) count: i32,
    pub(super) last: Timestamp,
}

impl Record {
    /// The event of something that has happened once. No two records have the same `nanosecond`.
    pub(super) fn new(first: Occurrence, nanosecond: i128) -> Self {
        let name = name(first.regarding.name.as_deref().unwrap_or_default(), nanosecond);
        Self { name, last: first.at, first, count: 1 }
    }

    /// Where the object is, and in `default` for one without a namespace.
    pub(super) fn namespace(&self) -> &str {
        self.first
            .regarding
            .namespace
            .as_deref()
            .filter(|namespace| !namespace.is_empty())
            .unwrap_or("default")
    }

    pub(super) fn as_series(&self) -> SeriesEvent {
        let Occurrence { controller, instance, regarding, event, at, .. } = &self.first;
        SeriesEvent {
            metadata: self.metadata(),
            event_time: Some(MicroTime(*at)),
            series: (self.count > 1)
                .then_some(EventSeries { count: self.count, last_observed_time: MicroTime(self.last) }),
            reporting_controller: Some(controller.to_string()),
            reporting_instance: Some(instance.to_string()),
            action: Some(event.action_or_reason().to_owned()),
            reason: Some(event.reason.clone()),
            regarding: Some(regarding.clone()),
            related: event.related.clone(),
            note: Some(event.note.clone()),
            type_: Some(event.severity.as_str().to_owned()),
            ..SeriesEvent::default()
        }
    }

    pub(super) fn as_core(&self) -> CoreEvent {
        let Occurrence { controller, regarding, event, at, .. } = &self.first;
        CoreEvent {
            metadata: self.metadata(),
            count: Some(self.count),
            first_timestamp: Some(Time(*at)),
            last_timestamp: Some(Time(self.last)),
            source: Some(EventSource { component: Some(controller.to_string()), host: None }),
            reporting_component: Some(controller.to_string()),
            action: event.action.clone(),
            reason: Some(event.reason.clone()),
            involved_object: regarding.clone(),
            related: event.related.clone(),
            message: Some(event.note.clone()),
            type_: Some(event.severity.as_str().to_owned()),
            ..CoreEvent::default()
        }
    }

    /// What changes when it happens again.
    pub(super) fn series_patch(&self) -> Value {
        json!({ "series": { "count": self.count, "lastObservedTime": MicroTime(self.last) } })
    }

    /// What changes when it happens again.
    pub(super) fn core_patch(&self) -> Value {
        json!({ "count": self.count, "lastTimestamp": Time(self.last), "message": self.first.event.note })
    }

    fn metadata(&self) -> ObjectMeta {
        let annotations = &self.first.event.annotations;
        ObjectMeta {
            name: Some(self.name.clone()),
            namespace: Some(self.namespace().to_owned()),
            annotations: (!annotations.is_empty()).then(|| annotations.clone()),
            ..ObjectMeta::default()
        }
    }
}

/// The object's name and a time, or something random where that is no name for an event.
///
/// Source: client-go `tools/record/util.GenerateEventName`.
fn name(object: &str, nanosecond: i128) -> String {
    let name = format!("{object}.{nanosecond:x}");
    if is_dns_subdomain(&name) { name } else { Uuid::new_v4().to_string() }
}

/// Source: apimachinery `validation.IsDNS1123Subdomain`.
fn is_dns_subdomain(name: &str) -> bool {
    let is_outer = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(is_outer)
            && bytes.last().is_some_and(is_outer)
            && bytes.iter().all(|byte| is_outer(byte) || *byte == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{
        occurrence::EventsApi,
        test::{about, occurrence},
    };

    fn record(api: EventsApi) -> Record {
        let mut first = occurrence(api, "Created", "it is there");
        first.event = first.event.related(&about("other")).annotation("a", "b");
        Record::new(first, 0x1f)
    }

    fn again(mut record: Record) -> Record {
        record.count += 1;
        record.last = Timestamp::from_microsecond(1_500_000).unwrap();
        record
    }

    #[test]
    fn a_series_is_written_as_client_go_writes_it() {
        let reference = |name| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": name,
                "uid": format!("uid of {name}"), "resourceVersion": "7"})
        };
        let mut expected = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": "web.1f", "namespace": "shop", "annotations": {"a": "b"}},
            "eventTime": "1970-01-01T00:00:00.000000Z",
            "reportingController": "tests", "reportingInstance": "tests-host",
            "action": "Created", "reason": "Created", "note": "it is there", "type": "Normal",
            "regarding": reference("web"), "related": reference("other"),
        });
        let first = record(EventsApi::Series);
        assert_eq!(serde_json::to_value(first.as_series()).unwrap(), expected);

        let series = json!({"count": 2, "lastObservedTime": "1970-01-01T00:00:01.500000Z"});
        assert_eq!(again(first.clone()).series_patch(), json!({ "series": series }));
        expected["series"] = series;
        assert_eq!(serde_json::to_value(again(first).as_series()).unwrap(), expected);
    }

    #[test]
    fn a_count_is_written_as_client_go_writes_it() {
        let first = record(EventsApi::Core);
        let written = serde_json::to_value(first.as_core()).unwrap();
        for (field, expected) in [
            ("count", json!(1)),
            ("source", json!({"component": "tests"})),
            ("reportingComponent", json!("tests")),
            ("firstTimestamp", json!("1970-01-01T00:00:00Z")),
            ("message", json!("it is there")),
            ("eventTime", Value::Null),
        ] {
            assert_eq!(written[field], expected, "{field}");
        }
        let patch = json!({"count": 2, "lastTimestamp": "1970-01-01T00:00:01Z", "message": "it is there"});
        assert_eq!(again(first).core_patch(), patch);
    }

    #[test]
    fn an_event_is_where_its_object_is() {
        let mut record = record(EventsApi::Series);
        assert_eq!(record.namespace(), "shop");
        for none in [None, Some(String::new())] {
            record.first.regarding.namespace = none;
            assert_eq!(record.namespace(), "default");
        }
    }

    #[test]
    fn every_object_has_a_name_for_its_events() {
        assert_eq!(name("web", 0x1f), "web.1f");
        for object in ["system:node", "Upper", "", &"a".repeat(253), "a..b"] {
            assert!(Uuid::parse_str(&name(object, 1)).is_ok(), "{object}");
        }
    }
}
