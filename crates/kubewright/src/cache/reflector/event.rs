//! What one line of a watch says.

use super::failure::Failure;
use crate::cache::{
    json,
    store::{Header, HeaderError},
};

/// A watch event; the object is still text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    Added(&'a [u8]),
    Modified(&'a [u8]),
    Deleted(&'a [u8]),
    /// Everything up to this version has been sent; `initial_events_end` says that the streaming list is complete.
    Bookmark {
        resource_version: u64,
        initial_events_end: bool,
    },
}

impl<'a> Event<'a> {
    /// Reads `line`. An `ERROR` event is the failure that it carries.
    pub(crate) fn parse(line: &'a [u8]) -> Result<Self, Failure> {
        let (event_type, object) = split(line)?;
        match event_type {
            b"ADDED" => Ok(Self::Added(object)),
            b"MODIFIED" => Ok(Self::Modified(object)),
            b"DELETED" => Ok(Self::Deleted(object)),
            b"BOOKMARK" => bookmark(object),
            b"ERROR" => Err(Failure::from_status(None, object)),
            other => {
                Err(Failure::Malformed(format!("unknown event type {:?}", String::from_utf8_lossy(other))))
            }
        }
    }
}

/// The values of `type` and `object`.
fn split(line: &[u8]) -> Result<(&[u8], &[u8]), Failure> {
    // API servers write exactly this; the object then ends where the line ends, and nobody has to look for its end.
    if let Some(rest) = line.strip_prefix(b"{\"type\":\"")
        && let Some(end) = memchr::memchr(b'"', rest)
        && let Some(object) = rest[end..].strip_prefix(b"\",\"object\":")
        && let Some(object) = object.trim_ascii_end().strip_suffix(b"}")
    {
        return Ok((&rest[..end], object));
    }
    let (mut event_type, mut object) = (None, None);
    for member in json::members(line, 0).map_err(Failure::malformed)? {
        let member = member.map_err(Failure::malformed)?;
        match member.key {
            b"type" => event_type = Some(line[member.value].trim_ascii()),
            b"object" => object = Some(&line[member.value]),
            _ => {}
        }
    }
    let event_type = event_type.and_then(|text| text.strip_prefix(b"\"")?.strip_suffix(b"\""));
    event_type.zip(object).ok_or_else(|| Failure::malformed("an event has no type or no object"))
}

fn bookmark(object: &[u8]) -> Result<Event<'_>, Failure> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        resource_version: String,
        #[serde(default)]
        annotations: Option<std::collections::BTreeMap<String, String>>,
    }
    let range = Header::find_metadata(object).map_err(|error: HeaderError| Failure::malformed(error))?;
    let metadata: Metadata = serde_json::from_slice(&object[range]).map_err(Failure::malformed)?;
    Ok(Event::Bookmark {
        resource_version: metadata.resource_version.parse().map_err(Failure::malformed)?,
        initial_events_end: metadata.annotations.is_some_and(|annotations| {
            annotations.get(INITIAL_EVENTS_END).is_some_and(|value| value == "true")
        }),
    })
}

/// Source: apimachinery `metav1.InitialEventsAnnotationKey`.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_an_event_are_read() {
        let object = br#"{"a":"}"}"#.as_slice();
        assert_eq!(Event::parse(br#"{"type":"ADDED","object":{"a":"}"}}"#).unwrap(), Event::Added(object));
        assert_eq!(
            Event::parse(b"{ \"object\": {\"a\":\"}\"}, \"type\" : \"MODIFIED\" }").unwrap(),
            Event::Modified(object)
        );
        assert_eq!(
            Event::parse(b"{\"type\":\"DELETED\",\"object\":{\"a\":\"}\"}}\r").unwrap(),
            Event::Deleted(object)
        );
    }

    #[test]
    fn bookmarks_say_how_far_and_whether_the_list_is_complete() {
        let bookmark = |line: &str| Event::parse(line.as_bytes()).map(|event| format!("{event:?}")).unwrap();
        assert_eq!(
            bookmark(
                r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"7","creationTimestamp":null}}}"#
            ),
            "Bookmark { resource_version: 7, initial_events_end: false }"
        );
        assert_eq!(
            bookmark(
                r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}}"#
            ),
            "Bookmark { resource_version: 8, initial_events_end: true }"
        );
    }

    #[test]
    fn errors_and_nonsense_are_failures() {
        let failure = |line: &str| Event::parse(line.as_bytes()).unwrap_err();
        assert!(
            failure(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"gone"}}"#)
                .is_expired()
        );
        for line in [
            "",
            "<html>",
            "{}",
            r#"{"type":"ADDED"}"#,
            r#"{"type":"NEW","object":{}}"#,
            r#"{"type":"BOOKMARK","object":{}}"#,
        ] {
            assert!(matches!(failure(line), Failure::Malformed(_)), "{line}");
        }
    }
}
