//! Options of create, update and patch.

use crate::{
    context::Query,
    error::{FieldError, Status, strconv},
    value::{Value, json},
};

/// Options of create, update and patch.
///
/// Source: apimachinery `metav1.CreateOptions`, `UpdateOptions`, `PatchOptions`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    /// `CreateOptions` and the like.
    kind: &'static str,
    field_manager: String,
    field_validation: String,
}

impl WriteOptions {
    pub(crate) fn of_create(query: &Query) -> Result<Self, Status> {
        Self::read(query, "CreateOptions", Vec::new())
    }

    pub(crate) fn of_update(query: &Query) -> Result<Self, Status> {
        Self::read(query, "UpdateOptions", Vec::new())
    }

    /// Reads the options of a patch that is no apply patch.
    pub(crate) fn of_patch(query: &Query) -> Result<Self, Status> {
        let detail = "may not be specified for non-apply patch";
        let force = query.first("force").map(|_| FieldError::forbidden("force", detail));
        Self::read(query, "PatchOptions", force.into_iter().collect())
    }

    /// Source: apimachinery `validation.ValidateCreateOptions`, `ValidateUpdateOptions`, `ValidatePatchOptions`.
    fn read(query: &Query, kind: &'static str, mut errors: Vec<FieldError>) -> Result<Self, Status> {
        let field_manager = query.text("fieldManager");
        check_field_manager(&field_manager, &mut errors);
        let stages: Vec<String> = query.all("dryRun").map(str::to_owned).collect();
        let dry_run = super::dry_run(&stages, &mut errors);
        let field_validation = query.text("fieldValidation");
        if !FIELD_VALIDATIONS.contains(&field_validation.as_str()) {
            errors.push(FieldError::not_supported(
                "fieldValidation",
                field_validation.as_str(),
                FIELD_VALIDATIONS,
            ));
        }
        Status::refuse_options(&format!("{kind}.meta.k8s.io"), &errors)?;
        Ok(Self { dry_run, kind, field_manager, field_validation })
    }

    /// What becomes of fields that the kind does not know, or that are there twice.
    pub(crate) fn field_validation(&self) -> FieldValidation {
        match self.field_validation.as_str() {
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            _ => FieldValidation::Warn,
        }
    }

    /// As webhooks see them.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({"kind": self.kind, "apiVersion": "meta.k8s.io/v1"});
        let texts = [("fieldManager", &self.field_manager), ("fieldValidation", &self.field_validation)];
        for (field, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            value[field] = text.as_str().into();
        }
        if self.dry_run {
            value["dryRun"] = json!(["All"]);
        }
        value
    }

    /// As webhooks see those of a write that makes an object, whatever verb it is.
    pub(crate) fn for_create(&self) -> Value {
        Self { kind: "CreateOptions", ..self.clone() }.to_value()
    }
}

/// What becomes of a write with fields that the kind does not know, or that it has twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// They are dropped.
    Ignore,
    /// They are dropped, and the client is warned. The default.
    Warn,
    /// The write is refused.
    Strict,
}

/// Source: apimachinery `validation.ValidateFieldManager`.
fn check_field_manager(name: &str, errors: &mut Vec<FieldError>) {
    const FIELD: &str = "fieldManager";
    if name.len() > MAX_FIELD_MANAGER_BYTES {
        errors.push(FieldError::too_long(FIELD, MAX_FIELD_MANAGER_BYTES));
    }
    for (at, character) in name.char_indices().filter(|(_, character)| !strconv::is_print(*character)) {
        let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(character));
        errors.push(FieldError::invalid(FIELD, Some(&name.into()), &detail));
    }
}

const MAX_FIELD_MANAGER_BYTES: usize = 128;
const FIELD_VALIDATIONS: &[&str] = &["", "Ignore", "Strict", "Warn"];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(query: &str, problems: &str) {
        type Read = fn(&Query) -> Result<WriteOptions, Status>;
        let verbs: [(Read, &str); 3] = [
            (WriteOptions::of_create, "Create"),
            (WriteOptions::of_update, "Update"),
            (WriteOptions::of_patch, "Patch"),
        ];
        for (read, verb) in verbs {
            let status = read(&Query::parse(Some(query))).unwrap_err();
            let message = format!("{verb}Options.meta.k8s.io \"\" is invalid: {problems}");
            assert_eq!((status.code.as_u16(), status.message), (422, message), "{query}");
        }
    }

    /// As the original answers.
    #[test]
    fn options_of_a_write_are_judged_as_upstream_judges_them() {
        refused("dryRun=", r#"dryRun: Unsupported value: [""]: supported values: "All""#);
        refused("dryRun=All&dryRun=x", r#"dryRun: Unsupported value: ["All","x"]: supported values: "All""#);
        refused(
            &format!("fieldManager={}", "%C3%A9".repeat(65)),
            "fieldManager: Too long: may not be more than 128 bytes",
        );
        refused(
            "fieldManager=a%C2%A0b%7Fc",
            r#"[fieldManager: Invalid value: "a\u00a0b\x7fc": invalid character U+00A0 (at position 1), fieldManager: Invalid value: "a\u00a0b\x7fc": invalid character U+007F (at position 4)]"#,
        );
        refused(
            "dryRun=x&fieldValidation=ignore&fieldManager=a%0Ab",
            r#"[fieldManager: Invalid value: "a\nb": invalid character U+000A (at position 1), dryRun: Unsupported value: ["x"]: supported values: "All", fieldValidation: Unsupported value: "ignore": supported values: "", "Ignore", "Strict", "Warn"]"#,
        );
    }

    #[test]
    fn options_of_a_write_are_read() {
        let query = Query::parse(Some(
            "dryRun=All&dryRun=All&fieldManager=a%F0%9F%98%80&fieldValidation=Strict&pretty=x",
        ));
        for read in [WriteOptions::of_create, WriteOptions::of_update, WriteOptions::of_patch] {
            let (given, absent) = (read(&query).unwrap(), read(&Query::default()).unwrap());
            assert!(given.dry_run && !absent.dry_run);
            let validations = (given.field_validation(), absent.field_validation());
            assert_eq!(validations, (FieldValidation::Strict, FieldValidation::Warn));
            let shown = given.to_value();
            assert_eq!(
                (&shown["fieldManager"], &shown["fieldValidation"]),
                (&json!("a😀"), &json!("Strict"))
            );
            assert_eq!(absent.for_create(), json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}));
        }
    }

    #[test]
    fn only_an_apply_patch_may_be_forced() {
        for query in ["force=true", "force=false", "force="] {
            let query = Query::parse(Some(query));
            let message = "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch";
            assert_eq!(WriteOptions::of_patch(&query).unwrap_err().message, message);
            assert!(WriteOptions::of_create(&query).is_ok() && WriteOptions::of_update(&query).is_ok());
        }
    }
}
