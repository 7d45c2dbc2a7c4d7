//! Options of list, watch and deletecollection.

use std::time::Duration;

use crate::{
    context::Query,
    error::{FieldError, Status, strconv},
    selector::LabelSelector,
};

/// Options of list, watch and deletecollection.
///
/// Source: apimachinery `metav1.ListOptions`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ListOptions {
    pub(crate) label_selector: LabelSelector,
    /// Not parsed yet: which labels there are depends on the kind.
    pub(crate) field_selector: String,
    pub(crate) limit: Option<usize>,
    pub(crate) continue_token: String,
    /// Not parsed yet: what is no version is a different error for each verb.
    pub(crate) resource_version: String,
    pub(crate) version_match: Option<VersionMatch>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) allow_watch_bookmarks: bool,
    pub(crate) send_initial_events: Option<bool>,
}

/// How a list's resource version is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionMatch {
    Exact,
    NotOlderThan,
}

impl ListOptions {
    /// Reads the options of a list (and of a deletecollection).
    ///
    /// Source: apimachinery `validation.ValidateListOptions`.
    pub(crate) fn of_list(query: &Query) -> Result<Self, Status> {
        let options = Self::read(query)?;
        let mut errors = Vec::new();
        let mut forbid = |detail| errors.push(FieldError::forbidden(VERSION_MATCH, detail));
        let wanted = query.text(VERSION_MATCH);
        if !wanted.is_empty() {
            if options.resource_version.is_empty() {
                forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
            }
            if !options.continue_token.is_empty() {
                forbid("resourceVersionMatch is forbidden when continue is provided");
            }
            if options.version_match == Some(VersionMatch::Exact) && options.resource_version == "0" {
                forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
            }
            if options.version_match.is_none() {
                let supported = &["Exact", "NotOlderThan", ""];
                errors.push(FieldError::not_supported(VERSION_MATCH, wanted, supported));
            }
        }
        if options.send_initial_events.is_some() {
            let detail = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::forbidden("sendInitialEvents", detail));
        }
        Status::refuse_options(LIST_OPTIONS, &errors)?;
        Ok(options)
    }

    /// Reads the options of a watch.
    ///
    /// Source: apimachinery `validation.validateWatchOptions`.
    pub(crate) fn of_watch(query: &Query) -> Result<Self, Status> {
        let options = Self::read(query)?;
        let mut errors = Vec::new();
        let mut forbid = |detail| errors.push(FieldError::forbidden(VERSION_MATCH, detail));
        let wanted = query.text(VERSION_MATCH);
        let not_older = options.version_match == Some(VersionMatch::NotOlderThan);
        if options.send_initial_events.is_some() && !not_older {
            forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        if options.send_initial_events.is_none() && !wanted.is_empty() {
            forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        }
        if !options.continue_token.is_empty() {
            forbid("resourceVersionMatch is forbidden when continue is provided");
        }
        if !wanted.is_empty() && !not_older {
            errors.push(FieldError::not_supported(VERSION_MATCH, wanted, &["NotOlderThan"]));
        }
        Status::refuse_options(LIST_OPTIONS, &errors)?;
        Ok(options)
    }

    fn read(query: &Query) -> Result<Self, Status> {
        let timeout = query.integer("timeoutSeconds")?.filter(|seconds| *seconds != 0);
        let limit = query.integer("limit")?;
        Ok(Self {
            label_selector: query.text("labelSelector").parse().map_err(bad_selector)?,
            field_selector: query.text("fieldSelector"),
            // What is negative limits nothing.
            limit: limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0),
            continue_token: query.text("continue"),
            resource_version: query.text("resourceVersion"),
            version_match: match query.first(VERSION_MATCH) {
                Some("Exact") => Some(VersionMatch::Exact),
                Some("NotOlderThan") => Some(VersionMatch::NotOlderThan),
                _ => None,
            },
            // A negative time has passed.
            timeout: timeout.map(|seconds| LONGEST.min(Duration::from_secs(seconds.try_into().unwrap_or(0)))),
            allow_watch_bookmarks: query.flag("allowWatchBookmarks").unwrap_or_default(),
            send_initial_events: query.flag("sendInitialEvents"),
        })
    }
}

fn bad_selector(problem: String) -> Status {
    Status::bad_request(problem)
}

/// Reads a resource version; `None` for none, `Some(0)` for any.
///
/// # Errors
/// What upstream says of text that is no version.
///
/// Source: apiserver `storage.APIObjectVersioner.ParseResourceVersion`.
pub(crate) fn resource_version(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let invalid = |error: String| FieldError::invalid("resourceVersion", Some(&text.into()), &error);
    strconv::parse_uint(text).map(Some).map_err(|error| invalid(error).to_string())
}

/// How long a watch may last at most, whatever the client says.
///
/// # Differences from Go
/// Upstream counts in nanoseconds, which overflow after 292 years, and the watch ends at once.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
const LIST_OPTIONS: &str = "ListOptions.meta.k8s.io";
const VERSION_MATCH: &str = "resourceVersionMatch";

#[cfg(test)]
mod tests {
    use super::*;

    type Read = fn(&Query) -> Result<ListOptions, Status>;

    #[track_caller]
    fn refused(read: Read, query: &str, code: u16, message: &str) {
        let status = read(&Query::parse(Some(query))).unwrap_err();
        let message = message.replace("LIST: ", "ListOptions.meta.k8s.io \"\" is invalid: ");
        assert_eq!((status.code.as_u16(), status.message), (code, message), "{query}");
    }

    /// As the original answers.
    #[test]
    fn options_of_a_list_that_contradict_each_other_are_refused() {
        for (query, message) in [
            (
                "resourceVersionMatch=Exact",
                "LIST: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
            ),
            (
                "resourceVersionMatch=Exact&resourceVersion=0",
                "LIST: resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ),
            (
                "resourceVersionMatch=Foo&resourceVersion=5&continue=x",
                "LIST: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided, resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"]",
            ),
            (
                "resourceVersionMatch=&sendInitialEvents=",
                "LIST: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
            ),
        ] {
            refused(ListOptions::of_list, query, 422, message);
        }
    }

    /// As the original answers.
    #[test]
    fn options_of_a_watch_that_contradict_each_other_are_refused() {
        for (query, message) in [
            (
                "sendInitialEvents=true",
                "LIST: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ),
            (
                "sendInitialEvents=true&resourceVersionMatch=Exact",
                "LIST: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]",
            ),
            (
                "resourceVersionMatch=Foo",
                "LIST: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"NotOlderThan\"]",
            ),
            (
                "continue=x",
                "LIST: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided",
            ),
        ] {
            refused(ListOptions::of_watch, query, 422, message);
        }
    }

    #[test]
    fn numbers_are_read_before_anything_is_judged() {
        let message = "strconv.ParseInt: parsing \"x\": invalid syntax";
        for query in ["limit=x&sendInitialEvents=true&labelSelector=(", "limit=5&timeoutSeconds=x"] {
            refused(ListOptions::of_list, query, 400, message);
            refused(ListOptions::of_watch, query, 400, message);
        }
    }

    #[test]
    fn what_is_negative_limits_nothing_and_has_passed() {
        let read = |query: &str| ListOptions::of_watch(&Query::parse(Some(query))).unwrap();
        assert_eq!(["limit=-1", "limit=0", "limit=7"].map(|query| read(query).limit), [None, None, Some(7)]);
        let timeouts =
            ["", "timeoutSeconds=0", "timeoutSeconds=-5", "timeoutSeconds=7"].map(|it| read(it).timeout);
        assert_eq!(timeouts, [None, None, Some(Duration::ZERO), Some(Duration::from_secs(7))]);
        assert_eq!(read("timeoutSeconds=9223372036854775807").timeout, Some(LONGEST));
    }

    #[test]
    fn versions_are_read_as_upstream_reads_them() {
        assert_eq!(
            ["", "0", "00", "7"].map(resource_version),
            [Ok(None), Ok(Some(0)), Ok(Some(0)), Ok(Some(7))]
        );
        let message =
            "resourceVersion: Invalid value: \"-1\": strconv.ParseUint: parsing \"-1\": invalid syntax";
        assert_eq!(resource_version("-1"), Err(message.to_owned()));
    }
}
