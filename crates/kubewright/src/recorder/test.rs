//! What the tests of this room share.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;

use super::{
    Event,
    occurrence::{EventsApi, Occurrence},
};

pub(super) fn about(name: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".into()),
        kind: Some("ConfigMap".into()),
        namespace: Some("shop".into()),
        name: Some(name.into()),
        uid: Some(format!("uid of {name}")),
        resource_version: Some("7".into()),
        field_path: None,
    }
}

pub(super) fn occurrence(api: EventsApi, reason: &str, note: &str) -> Occurrence {
    Occurrence {
        api,
        controller: "tests".into(),
        instance: "tests-host".into(),
        regarding: about("web"),
        event: Event::normal(reason, note),
        at: Timestamp::UNIX_EPOCH,
    }
}
