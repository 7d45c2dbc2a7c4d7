//! One thing that was told once, and what makes two of them the same.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;

use super::Event;

/// In which API events are kept. The API server shows each of them in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventsApi {
    /// `events.k8s.io/v1`: repetitions are a series.
    Series,
    /// `v1`: repetitions are a count.
    Core,
}

/// One thing that was told once.
#[derive(Clone, Debug)]
pub(super) struct Occurrence {
    pub(super) api: EventsApi,
    pub(super) controller: Arc<str>,
    pub(super) instance: Arc<str>,
    pub(super) regarding: ObjectReference,
    pub(super) event: Event,
    pub(super) at: Timestamp,
}

impl Occurrence {
    /// The same for what is one event: in a series whatever the note says, else with the same words only.
    ///
    /// Source: client-go `tools/events.getKey` and `tools/record.getEventKey`.
    ///
    /// # Differences from Go
    /// The version of the object is no part of it: an event about an object that changes all the time would never be a series.
    pub(super) fn key(&self) -> String {
        let event = &self.event;
        let mut parts = self.source();
        parts.extend([event.reason.as_str(), event.action_or_reason()]);
        match self.api {
            EventsApi::Series => parts.extend(event.related.iter().flat_map(names)),
            EventsApi::Core => parts.push(&event.note),
        }
        join("event", &parts)
    }

    /// The same for what differs by its words only.
    ///
    /// Source: client-go `tools/record.EventAggregatorByReasonFunc`.
    pub(super) fn similar_key(&self) -> String {
        let mut parts = self.source();
        parts.push(&self.event.reason);
        join("similar", &parts)
    }

    /// The same for all of one controller about one object.
    ///
    /// Source: client-go `tools/record.getSpamKey`.
    pub(super) fn source_key(&self) -> String {
        join("source", &self.source())
    }

    fn source(&self) -> Vec<&str> {
        let api = match self.api {
            EventsApi::Series => "events.k8s.io/v1",
            EventsApi::Core => "v1",
        };
        let mut parts = vec![api, &*self.controller, &*self.instance, self.event.severity.as_str()];
        parts.extend(names(&self.regarding));
        parts
    }
}

fn names(object: &ObjectReference) -> [&str; 6] {
    [&object.api_version, &object.kind, &object.namespace, &object.name, &object.uid, &object.field_path]
        .map(|part| part.as_deref().unwrap_or_default())
}

/// No name holds the separator; client-go has none, and takes `a` + `bc` for `ab` + `c`.
fn join(what: &str, parts: &[&str]) -> String {
    format!("{what}\0{}", parts.join("\0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::test::{about, occurrence};

    type Change = fn(&mut Occurrence);

    #[track_caller]
    fn check(api: EventsApi, key: fn(&Occurrence) -> String, same: &[Change], other: &[Change]) {
        let plain = occurrence(api, "Reason", "note");
        let changed = |change: &Change| {
            let mut changed = plain.clone();
            change(&mut changed);
            key(&changed)
        };
        for (row, change) in same.iter().enumerate() {
            assert_eq!(changed(change), key(&plain), "row {row}");
        }
        for (row, change) in other.iter().enumerate() {
            assert_ne!(changed(change), key(&plain), "row {row}");
        }
    }

    const NOTE: Change = |it| it.event.note = "other".into();
    const REASON: Change = |it| it.event.reason = "Other".into();
    const ACTION: Change = |it| it.event.action = Some("Other".into());
    const TYPE: Change = |it| it.event.severity = crate::recorder::EventType::Warning;
    const CONTROLLER: Change = |it| it.controller = "other".into();
    const INSTANCE: Change = |it| it.instance = "other".into();
    const UID: Change = |it| it.regarding.uid = Some("other".into());
    const VERSION: Change = |it| it.regarding.resource_version = Some("other".into());
    const RELATED: Change = |it| it.event.related = Some(about("related"));
    const TIME: Change = |it| it.at = Timestamp::MAX;

    #[test]
    fn a_series_goes_on_whatever_the_note_says() {
        let same = [NOTE, VERSION, TIME];
        let other = [REASON, ACTION, TYPE, CONTROLLER, INSTANCE, UID, RELATED];
        check(EventsApi::Series, Occurrence::key, &same, &other);
    }

    #[test]
    fn a_repetition_has_the_same_words() {
        let other = [NOTE, REASON, TYPE, CONTROLLER, INSTANCE, UID];
        check(EventsApi::Core, Occurrence::key, &[VERSION, TIME], &other);
    }

    #[test]
    fn similar_events_differ_by_their_words() {
        let other = [REASON, TYPE, CONTROLLER, INSTANCE, UID];
        check(EventsApi::Core, Occurrence::similar_key, &[NOTE, VERSION, TIME], &other);
    }

    #[test]
    fn spam_is_of_one_source_about_one_object() {
        let other = [TYPE, CONTROLLER, INSTANCE, UID];
        check(EventsApi::Core, Occurrence::source_key, &[NOTE, REASON, ACTION, VERSION], &other);
    }
}
