//! What an author says has happened.

use std::{borrow::Cow, collections::BTreeMap};

use k8s_openapi::api::core::v1::ObjectReference;

use super::Regarding;

/// What has happened to an object, for the people who look at it with `kubectl describe`.
///
/// Texts that are longer than the API server accepts are cut, at characters: the note to 1024 bytes, reason and action to 128.
///
/// # Example: what happened, how, and to what else
/// ```
/// use kubewright::{k8s_openapi::api::core::v1::ConfigMap, recorder::Event};
///
/// let settings = ConfigMap::default();
/// let replicas = 3;
/// let event = Event::normal("Scaled", format!("scaled to {replicas} replicas")).action("Scale").related(&settings);
/// let warning = Event::warning("ImageMissing", "no such image");
/// # drop((event, warning));
/// ```
///
/// Source: client-go `tools/events.EventRecorder.Eventf`.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an event is heard of when a recorder records it"]
pub struct Event {
    pub(super) severity: EventType,
    pub(super) reason: String,
    pub(super) note: String,
    pub(super) action: Option<String>,
    pub(super) related: Option<ObjectReference>,
    pub(super) annotations: BTreeMap<String, String>,
}

/// How grave an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// Good to know.
    Normal,
    /// Somebody should look.
    Warning,
}

impl EventType {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

impl Event {
    /// Something that is good to know. The reason is for programs, one word in `UpperCamelCase`; the note is for people.
    pub fn normal<'a>(reason: impl Into<Cow<'a, str>>, note: impl Into<Cow<'a, str>>) -> Self {
        Self::new(EventType::Normal, reason.into(), note.into())
    }

    /// Something that somebody should look at.
    pub fn warning<'a>(reason: impl Into<Cow<'a, str>>, note: impl Into<Cow<'a, str>>) -> Self {
        Self::new(EventType::Warning, reason.into(), note.into())
    }

    /// What the operator did when it happened, one word in `UpperCamelCase`. Default: the reason, since the API server wants one.
    pub fn action<'a>(mut self, action: impl Into<Cow<'a, str>>) -> Self {
        self.action = Some(cut(action.into(), WORD_BYTES));
        self
    }

    /// Another object that has to do with it. Default: none.
    pub fn related<S>(mut self, object: &impl Regarding<S>) -> Self {
        self.related = Some(object.reference());
        self
    }

    /// An annotation of the event. Default: none.
    pub fn annotation(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.annotations.insert(name.into(), value.into());
        self
    }

    /// What was done, or else why.
    pub(super) fn action_or_reason(&self) -> &str {
        self.action.as_deref().unwrap_or(&self.reason)
    }

    fn new(severity: EventType, reason: Cow<'_, str>, note: Cow<'_, str>) -> Self {
        Self {
            severity,
            reason: cut(reason, WORD_BYTES),
            note: cut(note, NOTE_BYTES),
            action: None,
            related: None,
            annotations: BTreeMap::new(),
        }
    }
}

/// The longest beginning of whole characters that has at most this many bytes.
///
/// Source: kubernetes `validation.legacyValidateEvent`, which speaks of characters and counts bytes.
pub(super) fn cut(text: Cow<'_, str>, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.into_owned();
    }
    let end = (0..=max_bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text[..end].to_owned()
}

/// Source: kubernetes `validation.NoteLengthLimit`.
pub(super) const NOTE_BYTES: usize = 1024;
/// Source: kubernetes `validation.ReasonLengthLimit`, `ActionLengthLimit` and `ReportingInstanceLengthLimit`.
pub(super) const WORD_BYTES: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, max_bytes: usize, expected: &str) {
        assert_eq!(cut(text.into(), max_bytes), expected);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        check("", 3, "");
        check("abc", 3, "abc");
        check("abcd", 3, "abc");
        check("ab€", 5, "ab€");
        check("ab€", 4, "ab");
        check("ab€", 3, "ab");
        check("🦀", 3, "");
    }

    #[test]
    fn what_the_api_server_would_refuse_is_cut() {
        let long = "ß".repeat(2000);
        let event = Event::warning(long.as_str(), long.as_str()).action(long.as_str());
        assert_eq!((event.reason.len(), event.note.len()), (128, 1024));
        assert_eq!(event.action_or_reason().len(), 128);
    }

    #[test]
    fn what_was_done_is_the_reason_unless_it_is_said() {
        assert_eq!(Event::normal("Created", "it is there").action_or_reason(), "Created");
        assert_eq!(Event::normal("Created", "it is there").action("Create").action_or_reason(), "Create");
    }
}
