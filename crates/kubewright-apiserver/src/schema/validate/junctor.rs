//! Alternatives: schemas that a value has to match all, some, one or none of.

use super::{outcome::Outcome, value::Validator};
use crate::{
    schema::node::{NodeId, Rules},
    value::{Path, Value},
};

impl Validator<'_> {
    /// Source: kube-openapi `validate.schemaPropsValidator.Validate`. Nothing of the old object is known below.
    pub(super) fn junctors(&self, rules: &Rules, value: &Value, path: &Path<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        if !rules.any_of.is_empty() {
            self.any_of(&rules.any_of, value, path, &mut outcome);
        }
        if !rules.one_of.is_empty() {
            self.one_of(&rules.one_of, value, path, &mut outcome);
        }
        if !rules.all_of.is_empty() {
            self.all_of(&rules.all_of, value, path, &mut outcome);
        }
        if let Some(not) = rules.not
            && self.check(not, value, None, path).is_valid()
        {
            outcome.add(self.without_field(&format!("\"{path}\" must not validate the schema (not)")));
        }
        outcome.matches += 1;
        outcome
    }

    fn any_of(&self, schemas: &[NodeId], value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        for schema in schemas {
            let found = self.check(*schema, value, None, path);
            if found.is_valid() {
                return outcome.merge(found);
            }
            best = Some(better(best, found));
        }
        outcome.add(self.without_field(&format!("\"{path}\" must validate at least one schema (anyOf)")));
        outcome.merge(best.unwrap_or_default());
    }

    fn one_of(&self, schemas: &[NodeId], value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        let mut valid = Vec::new();
        for schema in schemas {
            let found = self.check(*schema, value, None, path);
            if found.is_valid() {
                valid.push(found);
            } else {
                best = Some(better(best, found));
            }
        }
        let detail = match valid.len() {
            1 => return outcome.merge(valid.remove(0)),
            0 => "Found none valid".to_owned(),
            several => format!("Found {several} valid alternatives"),
        };
        let text = format!("\"{path}\" must validate one and only one schema (oneOf). {detail}");
        outcome.add(self.without_field(&text));
        if valid.is_empty() {
            outcome.merge(best.unwrap_or_default());
        }
    }

    fn all_of(&self, schemas: &[NodeId], value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
        let mut valid = 0;
        for schema in schemas {
            let found = self.check(*schema, value, None, path);
            valid += usize::from(found.is_valid());
            outcome.merge(found);
        }
        if valid != schemas.len() {
            let detail = if valid == 0 { ". None validated" } else { "" };
            let text = format!("\"{path}\" must validate all the schemas (allOf){detail}");
            outcome.add(self.without_field(&text));
        }
    }
}

/// The alternative of which more was right; of two alike, the first.
fn better(best: Option<Outcome>, found: Outcome) -> Outcome {
    match best {
        Some(best) if found.matches <= best.matches => best,
        _ => found,
    }
}
