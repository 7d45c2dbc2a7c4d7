//! Options of a deletion.

use crate::{
    context::Query,
    error::{FieldError, Status},
    kind::Propagation,
    object::Struct,
    value::{Map, Value, json},
};

/// Options of a deletion.
///
/// Source: apimachinery `metav1.DeleteOptions`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: bool,
    pub(crate) grace_period_seconds: Option<i64>,
    pub(crate) propagation: Option<Propagation>,
    pub(crate) preconditions: Preconditions,
    /// Whether a deletion that has to wait is answered as one that is accepted, which `orphanDependents=false` asks for.
    pub(crate) is_accepted: bool,
    /// The object is deleted without a look at it, and only if nobody can read it.
    pub(crate) ignore_read_error: bool,
}

/// What must be so for the deletion to happen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Preconditions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

impl DeleteOptions {
    /// Reads the options of a deletecollection, as those of a deletion.
    pub(crate) fn of_collection(body: Option<&Map>, query: &Query) -> Result<Self, Status> {
        let options = Self::read(body, query)?;
        if options.ignore_read_error {
            let detail = "is not allowed with DELETECOLLECTION, try again after removing the option";
            let error = FieldError::invalid(IGNORE, Some(&true.into()), detail);
            return Err(Status::invalid_options(DELETE_OPTIONS, &[error]));
        }
        Ok(options)
    }

    /// Reads the body, or the query when there is no body.
    pub(crate) fn read(body: Option<&Map>, query: &Query) -> Result<Self, Status> {
        let sent = match body {
            None => Sent::from_query(query)?,
            Some(fields) => Sent::from_fields(fields).map_err(Status::bad_request)?,
        };
        sent.judge()
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
}

/// The options as they were sent, of the right types.
#[derive(Debug, Default)]
struct Sent {
    dry_run: Vec<String>,
    grace_period_seconds: Option<i64>,
    propagation_policy: Option<String>,
    orphan_dependents: Option<bool>,
    preconditions: Option<Preconditions>,
    ignore_read_error: Option<bool>,
}

impl Sent {
    fn from_fields(fields: &Map) -> Result<Self, String> {
        let options = Struct::new("DeleteOptions.", fields);
        let preconditions = options.object("preconditions", "v1.Preconditions")?.map(|fields| {
            let preconditions = Struct::new("Preconditions.preconditions.", fields);
            Ok::<_, String>(Preconditions {
                uid: preconditions.string("uid", "types.UID")?,
                resource_version: preconditions.string("resourceVersion", "string")?,
            })
        });
        Ok(Self {
            dry_run: options.strings("dryRun")?,
            grace_period_seconds: options.integer("gracePeriodSeconds")?,
            propagation_policy: options.string("propagationPolicy", "v1.DeletionPropagation")?,
            orphan_dependents: options.flag("orphanDependents")?,
            preconditions: preconditions.transpose()?,
            ignore_read_error: options.flag(IGNORE)?,
        })
    }

    /// Source: apimachinery `metav1.Convert_url_Values_To_v1_DeleteOptions`.
    fn from_query(query: &Query) -> Result<Self, Status> {
        let given = |name| query.first(name).filter(|value| !value.is_empty()).map(str::to_owned);
        let preconditions = Preconditions { uid: given("uid"), resource_version: given("resourceVersion") };
        Ok(Self {
            dry_run: query.all("dryRun").map(str::to_owned).collect(),
            grace_period_seconds: query.integer("gracePeriodSeconds")?,
            propagation_policy: query.first("propagationPolicy").map(str::to_owned),
            orphan_dependents: query.flag("orphanDependents"),
            preconditions: (preconditions != Preconditions::default()).then_some(preconditions),
            ignore_read_error: query.flag(IGNORE),
        })
    }

    /// Source: apimachinery `validation.ValidateDeleteOptions`.
    fn judge(self) -> Result<DeleteOptions, Status> {
        let mut errors = Vec::new();
        let propagation = self.propagation(&mut errors);
        let dry_run = super::dry_run(&self.dry_run, &mut errors);
        let ignore_read_error = self.ignores_read_error(&mut errors);
        Status::refuse_options(DELETE_OPTIONS, &errors)?;
        Ok(DeleteOptions {
            dry_run,
            grace_period_seconds: self.grace_period_seconds,
            propagation,
            is_accepted: self.orphan_dependents == Some(false),
            preconditions: self.preconditions.unwrap_or_default(),
            ignore_read_error,
        })
    }

    fn propagation(&self, errors: &mut Vec<FieldError>) -> Option<Propagation> {
        const FIELD: &str = "propagationPolicy";
        let Some(policy) = self.propagation_policy.as_deref() else {
            let orphan = |orphan| if orphan { Propagation::Orphan } else { Propagation::Background };
            return self.orphan_dependents.map(orphan);
        };
        if self.orphan_dependents.is_some() {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid(FIELD, Some(&policy.into()), detail));
        }
        match policy {
            "Foreground" => Some(Propagation::Foreground),
            "Background" => Some(Propagation::Background),
            "Orphan" => Some(Propagation::Orphan),
            _ => {
                let supported = &["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported(FIELD, policy, supported));
                None
            }
        }
    }

    /// Source: apimachinery `validation.ValidateIgnoreStoreReadError`.
    fn ignores_read_error(&self, errors: &mut Vec<FieldError>) -> bool {
        if self.ignore_read_error != Some(true) {
            return false;
        }
        for (field, is_set) in [
            (".propagationPolicy", self.propagation_policy.is_some()),
            (".orphanDependents", self.orphan_dependents.is_some()),
            (".gracePeriodSeconds", self.grace_period_seconds.is_some()),
            (".preconditions", self.preconditions.is_some()),
        ] {
            if is_set {
                let detail = format!("cannot be set together with {field}");
                errors.push(FieldError::invalid(IGNORE, Some(&true.into()), &detail));
            }
        }
        true
    }
}

const DELETE_OPTIONS: &str = "DeleteOptions.meta.k8s.io";
const IGNORE: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

#[cfg(test)]
mod tests {
    use crate::value::json;
    use http::{HeaderMap, header};

    use super::*;
    use crate::wire::decode_delete_options;

    fn of_body(body: &str) -> Result<DeleteOptions, Status> {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, "application/json".parse().unwrap())]);
        let fields = decode_delete_options(&headers, body.as_bytes())?;
        DeleteOptions::read(Some(&fields), &Query::parse(Some("dryRun=x&gracePeriodSeconds=x")))
    }

    fn of_query(query: &str) -> Result<DeleteOptions, Status> {
        DeleteOptions::read(None, &Query::parse(Some(query)))
    }

    #[track_caller]
    fn refused(result: Result<DeleteOptions, Status>, code: u16, message: &str) {
        let status = result.unwrap_err();
        let message = message.replace("OPTIONS: ", "DeleteOptions.meta.k8s.io \"\" is invalid: ");
        assert_eq!((status.code.as_u16(), status.message), (code, message));
    }

    /// As the original answers.
    #[test]
    fn fields_of_the_wrong_type_are_refused() {
        for (body, found, field, wanted) in [
            (
                json!({"dryRun": "All", "preconditions": {"uid": 5}}),
                "string",
                "DeleteOptions.dryRun",
                "[]string",
            ),
            (json!({"dryRun": {}}), "object", "DeleteOptions.dryRun", "[]string"),
            (json!({"dryRun": [5]}), "number", "DeleteOptions.dryRun", "string"),
            (json!({"preconditions": []}), "array", "DeleteOptions.preconditions", "v1.Preconditions"),
            (json!({"preconditions": {"uid": 5}}), "number", "Preconditions.preconditions.uid", "types.UID"),
            (
                json!({"preconditions": {"resourceVersion": 5}}),
                "number",
                "Preconditions.preconditions.resourceVersion",
                "string",
            ),
            (json!({"gracePeriodSeconds": "5"}), "string", "DeleteOptions.gracePeriodSeconds", "int64"),
            (json!({"gracePeriodSeconds": 5.0}), "number 5.0", "DeleteOptions.gracePeriodSeconds", "int64"),
            (
                json!({"gracePeriodSeconds": 9_223_372_036_854_775_808_u64}),
                "number 9223372036854775808",
                "DeleteOptions.gracePeriodSeconds",
                "int64",
            ),
            (json!({"orphanDependents": 1}), "number", "DeleteOptions.orphanDependents", "bool"),
            (
                json!({"propagationPolicy": 5}),
                "number",
                "DeleteOptions.propagationPolicy",
                "v1.DeletionPropagation",
            ),
        ] {
            let message =
                format!("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}");
            refused(of_body(&body.to_string()), 400, &message);
        }
    }

    /// As the original answers.
    #[test]
    fn bodies_that_are_no_options_are_refused() {
        for (body, message) in [
            (
                "[]",
                "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
            ),
            ("{", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
            (" ", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
            (
                "{} x",
                "couldn't get version/kind; json parse error: invalid character 'x' after top-level value",
            ),
            (
                r#"{"kind":5}"#,
                "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
            ),
            (
                r#"{"kind":"Foo"}"#,
                "no kind \"Foo\" is registered for version \"meta.k8s.io/v1\" in scheme \"pkg/runtime/scheme.go:111\"",
            ),
            (
                r#"{"kind":"ConfigMap","apiVersion":"v1"}"#,
                "no kind \"ConfigMap\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"",
            ),
            (r#"{"kind":"DeleteOptions","apiVersion":"a/b/c"}"#, "unexpected GroupVersion string: a/b/c"),
        ] {
            refused(of_body(body), 400, message);
        }
    }

    #[test]
    fn options_of_any_version_are_read_and_unknown_fields_passed_over() {
        for body in [
            r#"{"dryRun":["All"],"foo":1,"preconditions":null,"gracePeriodSeconds":null}"#,
            r#"{"dryRun":["All"],"kind":"DeleteOptions","apiVersion":"foo/v9"}"#,
            r#"{"dryRun":["x"],"dryRun":["All","All"],"apiVersion":"v1"}"#,
        ] {
            let expected = DeleteOptions { dry_run: true, ..DeleteOptions::default() };
            assert_eq!(of_body(body), Ok(expected), "{body}");
        }
        assert_eq!(of_body("null"), Ok(DeleteOptions::default()));
        assert_eq!(of_body(r#"{"DryRun":["All"]}"#), Ok(DeleteOptions::default()));
    }

    #[test]
    fn options_come_from_the_query_when_there_is_no_body() {
        let read = of_query("dryRun=All&gracePeriodSeconds=-1&orphanDependents=False&uid=u&resourceVersion=")
            .unwrap();
        let preconditions = Preconditions { uid: Some("u".into()), resource_version: None };
        let expected = DeleteOptions {
            dry_run: true,
            grace_period_seconds: Some(-1),
            propagation: Some(Propagation::Background),
            preconditions,
            is_accepted: true,
            ignore_read_error: false,
        };
        assert_eq!(read, expected);
        assert_eq!(of_query("orphanDependents=").unwrap().propagation, Some(Propagation::Orphan));
        refused(of_query("gracePeriodSeconds="), 400, "strconv.ParseInt: parsing \"\": invalid syntax");
    }

    /// As the original answers.
    #[test]
    fn options_that_contradict_each_other_are_refused() {
        let supported =
            r#"Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil""#;
        refused(
            of_query("propagationPolicy=Foo&orphanDependents=true&dryRun=x"),
            422,
            &format!(
                r#"OPTIONS: [propagationPolicy: Invalid value: "Foo": orphanDependents and deletionPropagation cannot be both set, propagationPolicy: {supported}, dryRun: Unsupported value: ["x"]: supported values: "All"]"#
            ),
        );
        refused(
            of_body(&json!({IGNORE: true, "preconditions": {}, "dryRun": ["All"]}).to_string()),
            422,
            &format!("OPTIONS: {IGNORE}: Invalid value: true: cannot be set together with .preconditions"),
        );
        refused(
            DeleteOptions::of_collection(None, &Query::parse(Some(&format!("{IGNORE}=1")))),
            422,
            &format!(
                "OPTIONS: {IGNORE}: Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option"
            ),
        );
    }
}
