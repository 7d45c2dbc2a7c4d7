//! The options that come in the query, or in the body of a deletion.

use std::time::Duration;

use serde_json::{Value, json};

use super::{field_error::FieldError, status::Status};
use crate::kind::Propagation;

/// The pairs of a query string, decoded.
pub(crate) fn parse_query(query: Option<&str>) -> Vec<(String, String)> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect()
}

/// Options of list, watch and deletecollection.
///
/// Source: apimachinery `metav1.ListOptions`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ListOptions {
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
    pub(crate) limit: Option<usize>,
    pub(crate) continue_token: String,
    /// `None`: not given. `Some(0)`: any.
    pub(crate) resource_version: Option<u64>,
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
    pub(crate) fn of_list(query: &[(String, String)]) -> Result<Self, Status> {
        let options = Self::read(query)?;
        let version = options.resource_version;
        let refuse = |field: &str, detail: &str| {
            Err(Status::invalid_options("ListOptions.meta.k8s.io", &[FieldError::forbidden(field, detail)]))
        };
        if !options.continue_token.is_empty() && version.is_some_and(|version| version > 0) {
            return Err(Status::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        if options.send_initial_events.is_some() {
            return refuse("sendInitialEvents", "sendInitialEvents is forbidden for list");
        }
        if options.version_match.is_some() {
            const FIELD: &str = "resourceVersionMatch";
            if !options.continue_token.is_empty() {
                return refuse(FIELD, "resourceVersionMatch is forbidden when continue is provided");
            }
            if version.is_none() {
                return refuse(FIELD, "resourceVersionMatch is forbidden unless resourceVersion is provided");
            }
            if options.version_match == Some(VersionMatch::Exact) && version == Some(0) {
                let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                return refuse(FIELD, detail);
            }
        }
        Ok(options)
    }

    /// Reads the options of a watch.
    pub(crate) fn of_watch(query: &[(String, String)]) -> Result<Self, Status> {
        let options = Self::read(query)?;
        let refuse = |detail: &str| {
            let error = FieldError::forbidden("resourceVersionMatch", detail);
            Err(Status::invalid_options("ListOptions.meta.k8s.io", &[error]))
        };
        match (options.send_initial_events, options.version_match) {
            (None, Some(_)) => {
                refuse("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
            }
            (Some(_), None | Some(VersionMatch::Exact)) => {
                refuse("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
            }
            _ => Ok(options),
        }
    }

    fn read(query: &[(String, String)]) -> Result<Self, Status> {
        let mut options = Self::default();
        for (key, value) in query {
            match key.as_str() {
                "labelSelector" => options.label_selector.clone_from(value),
                "fieldSelector" => options.field_selector.clone_from(value),
                "limit" => options.limit = number(key, value)?.filter(|limit| *limit > 0),
                "continue" => options.continue_token.clone_from(value),
                "resourceVersion" => options.resource_version = resource_version(value)?,
                "resourceVersionMatch" => options.version_match = version_match(value)?,
                "timeoutSeconds" => {
                    let seconds: Option<u64> = number(key, value)?;
                    options.timeout = seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs);
                }
                "allowWatchBookmarks" => options.allow_watch_bookmarks = flag(value),
                "sendInitialEvents" => options.send_initial_events = Some(flag(value)),
                _ => {}
            }
        }
        Ok(options)
    }
}

/// Options of create, update and patch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
}

impl WriteOptions {
    /// Reads them; `qualified_kind` names them in messages (`CreateOptions.meta.k8s.io`).
    pub(crate) fn read(query: &[(String, String)], qualified_kind: &str) -> Result<Self, Status> {
        let mut options = Self::default();
        for (key, value) in query {
            match key.as_str() {
                "dryRun" => options.dry_run = dry_run(std::iter::once(value.as_str()), qualified_kind)?,
                "force" => {
                    let detail = "may not be specified for non-apply patch";
                    let error = FieldError::forbidden("force", detail);
                    return Err(Status::invalid_options(qualified_kind, &[error]));
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

/// Options of a deletion.
///
/// Source: apimachinery `metav1.DeleteOptions`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: bool,
    pub(crate) grace_period_seconds: Option<i64>,
    pub(crate) propagation: Option<Propagation>,
    pub(crate) preconditions: Preconditions,
}

/// What must be so for the deletion to happen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Preconditions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

impl DeleteOptions {
    /// Reads the body, or the query when there is no body.
    pub(crate) fn read(body: Option<&Value>, query: &[(String, String)]) -> Result<Self, Status> {
        match body {
            Some(body) => Self::from_body(body),
            None => Self::from_query(query),
        }
    }

    fn from_body(body: &Value) -> Result<Self, Status> {
        let dry_runs = body["dryRun"].as_array().map(Vec::as_slice).unwrap_or_default();
        let precondition = |field: &str| body["preconditions"][field].as_str().map(str::to_owned);
        Ok(Self {
            dry_run: dry_run(dry_runs.iter().filter_map(Value::as_str), DELETE_OPTIONS)?,
            grace_period_seconds: body["gracePeriodSeconds"].as_i64(),
            propagation: propagation(body["propagationPolicy"].as_str(), body["orphanDependents"].as_bool())?,
            preconditions: Preconditions {
                uid: precondition("uid"),
                resource_version: precondition("resourceVersion"),
            },
        })
    }

    /// As webhooks see them.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"});
        if self.dry_run {
            value["dryRun"] = json!(["All"]);
        }
        if let Some(seconds) = self.grace_period_seconds {
            value["gracePeriodSeconds"] = seconds.into();
        }
        if let Some(propagation) = self.propagation {
            value["propagationPolicy"] = format!("{propagation:?}").into();
        }
        let Preconditions { uid, resource_version } = &self.preconditions;
        for (field, text) in [("uid", uid), ("resourceVersion", resource_version)] {
            if let Some(text) = text {
                value["preconditions"][field] = text.as_str().into();
            }
        }
        value
    }

    fn from_query(query: &[(String, String)]) -> Result<Self, Status> {
        let find = |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let grace = find("gracePeriodSeconds").map(|value| number::<i64>("gracePeriodSeconds", value));
        Ok(Self {
            dry_run: dry_run(find("dryRun").into_iter(), DELETE_OPTIONS)?,
            grace_period_seconds: grace.transpose()?.flatten(),
            propagation: propagation(find("propagationPolicy"), find("orphanDependents").map(flag))?,
            preconditions: Preconditions::default(),
        })
    }
}

const DELETE_OPTIONS: &str = "DeleteOptions.meta.k8s.io";

fn propagation(policy: Option<&str>, orphan: Option<bool>) -> Result<Option<Propagation>, Status> {
    let refuse = |error| Err(Status::invalid_options(DELETE_OPTIONS, &[error]));
    match (policy, orphan) {
        (Some(_), Some(_)) => {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            refuse(FieldError::invalid("propagationPolicy", policy.map(Value::from).as_ref(), detail))
        }
        (Some("Background"), None) | (None, Some(false)) => Ok(Some(Propagation::Background)),
        (Some("Foreground"), None) => Ok(Some(Propagation::Foreground)),
        (Some("Orphan"), None) | (None, Some(true)) => Ok(Some(Propagation::Orphan)),
        (Some(other), None) => {
            let supported = &["Foreground", "Background", "Orphan", "nil"];
            refuse(FieldError::not_supported("propagationPolicy", other, supported))
        }
        (None, None) => Ok(None),
    }
}

fn dry_run<'a>(values: impl Iterator<Item = &'a str>, qualified_kind: &str) -> Result<bool, Status> {
    let mut asked = false;
    for value in values {
        if value != "All" {
            let error = FieldError::not_supported("dryRun", value, &["All"]);
            return Err(Status::invalid_options(qualified_kind, &[error]));
        }
        asked = true;
    }
    Ok(asked)
}

fn resource_version(value: &str) -> Result<Option<u64>, Status> {
    if value.is_empty() {
        return Ok(None);
    }
    let invalid = |error| {
        Status::bad_request(format!(
            "invalid resource version: strconv.ParseUint: parsing {value:?}: {error}"
        ))
    };
    value.parse().map(Some).map_err(|_| invalid("invalid syntax"))
}

fn version_match(value: &str) -> Result<Option<VersionMatch>, Status> {
    match value {
        "" => Ok(None),
        "Exact" => Ok(Some(VersionMatch::Exact)),
        "NotOlderThan" => Ok(Some(VersionMatch::NotOlderThan)),
        other => {
            let error =
                FieldError::not_supported("resourceVersionMatch", other, &["Exact", "NotOlderThan", ""]);
            Err(Status::invalid_options("ListOptions.meta.k8s.io", &[error]))
        }
    }
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<Option<T>, Status> {
    if value.is_empty() {
        return Ok(None);
    }
    let invalid = || {
        Status::bad_request(format!(
            "invalid value for {key}: strconv.ParseInt: parsing {value:?}: invalid syntax"
        ))
    };
    value.parse().map(Some).map_err(|_| invalid())
}

/// Source: apimachinery `runtime.Convert_Slice_string_To_bool`: everything but `false` and `0` is true.
fn flag(value: &str) -> bool {
    !matches!(value, "false" | "0")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(result: Result<impl std::fmt::Debug, Status>, code: u16, message: &str) {
        let status = result.unwrap_err();
        assert_eq!(
            (status.code.as_u16(), status.message.contains(message)),
            (code, true),
            "{}",
            status.message
        );
    }

    #[test]
    fn list_options_that_contradict_each_other_are_refused() {
        let list = |query: &str| ListOptions::of_list(&parse_query(Some(query)));
        refused(list("resourceVersionMatch=Exact"), 422, "is forbidden unless resourceVersion is provided");
        refused(
            list("resourceVersionMatch=Exact&resourceVersion=0"),
            422,
            "\"exact\" is forbidden for resourceVersion",
        );
        refused(list("sendInitialEvents=true"), 422, "sendInitialEvents is forbidden for list");
        refused(list("resourceVersion=x"), 400, "invalid resource version");
        refused(list("continue=x&resourceVersion=5"), 400, "specifying resource version is not allowed");
        refused(list("limit=x"), 400, "invalid value for limit");
        assert_eq!(list("limit=5&resourceVersion=0").unwrap().limit, Some(5));
    }

    #[test]
    fn watch_with_initial_events_needs_a_match() {
        let watch = |query: &str| ListOptions::of_watch(&parse_query(Some(query)));
        refused(
            watch("sendInitialEvents=true"),
            422,
            "requires setting resourceVersionMatch to NotOlderThan",
        );
        refused(
            watch("resourceVersionMatch=NotOlderThan"),
            422,
            "is forbidden for watch unless sendInitialEvents",
        );
        let options =
            watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=7").unwrap();
        assert_eq!(
            (options.send_initial_events, options.timeout),
            (Some(true), Some(Duration::from_secs(7)))
        );
    }

    #[test]
    fn delete_options_come_from_the_body_or_the_query() {
        let body = json!({"propagationPolicy": "Orphan", "dryRun": ["All"], "preconditions": {"uid": "u"}});
        let options = DeleteOptions::read(Some(&body), &[]).unwrap();
        assert_eq!((options.propagation, options.dry_run), (Some(Propagation::Orphan), true));
        assert_eq!(options.preconditions.uid.as_deref(), Some("u"));
        let query = parse_query(Some("propagationPolicy=Foreground&gracePeriodSeconds=0"));
        let options = DeleteOptions::read(None, &query).unwrap();
        assert_eq!(
            (options.propagation, options.grace_period_seconds),
            (Some(Propagation::Foreground), Some(0))
        );
        refused(
            DeleteOptions::read(Some(&json!({"dryRun": ["x"]})), &[]),
            422,
            "dryRun: Unsupported value: \"x\"",
        );
        refused(DeleteOptions::read(Some(&json!({"propagationPolicy": "x"})), &[]), 422, "propagationPolicy");
    }
}
