//! Texts, numbers, and values that are one of a few.

use std::cmp::Ordering;

use super::{outcome::Outcome, value::Validator};
use crate::{
    error::{FieldError, fmt},
    schema::{
        go,
        node::{Bound, Node, Rules, Type},
    },
    value::{Number, Path, Value},
};

impl Validator<'_> {
    /// The first thing that is wrong with a text.
    ///
    /// Source: kube-openapi `validate.stringValidator.Validate`.
    pub(super) fn text(&self, rules: &Rules, text: &str, path: &Path<'_>) -> Outcome {
        self.text_problem(rules, text, path).into()
    }

    fn text_problem(&self, rules: &Rules, text: &str, path: &Path<'_>) -> Option<FieldError> {
        let field = || self.field(path);
        let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = rules.max_length
            && length() > max
        {
            return Some(FieldError::too_long(&field(), usize::try_from(max).unwrap_or_default()));
        }
        if let Some(min) = rules.min_length
            && length() < min
        {
            let detail = format!("{path} in body should be at least {min} chars long");
            return Some(FieldError::invalid(&field(), Some(&text.into()), &detail));
        }
        let pattern = rules.pattern.as_ref()?;
        let expression = match pattern.matches(text) {
            Ok(true) => return None,
            Ok(false) => pattern.text.clone(),
            Err(problem) => format!("{}, but pattern is invalid: {problem}", pattern.text),
        };
        let detail = format!("{path} in body should match '{expression}'");
        Some(FieldError::invalid(&field(), Some(&text.into()), &detail))
    }

    /// Source: kube-openapi `validate.basicCommonValidator.Validate`.
    pub(super) fn listed(&self, rules: &Rules, value: &Value, path: &Path<'_>) -> Outcome {
        if rules.values.is_empty() || rules.values.iter().any(|listed| is_same(value, listed)) {
            return Outcome::default();
        }
        let shown = rules.values.iter().map(|listed| match listed {
            Value::String(text) => text.to_string(),
            other => other.to_string(),
        });
        let shown: Vec<String> = shown.collect();
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        Some(FieldError::not_supported(&self.field(path), value.clone(), &shown)).into()
    }

    /// Source: kube-openapi `validate.numberValidator.Validate`.
    pub(super) fn number(&self, node: &Node, rules: &Rules, number: &Number, path: &Path<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        let value = Num::of(number);
        let capacity = Capacity::of(node, rules);
        let beyond_type = |value: Num, name: &str| {
            let kind = capacity.problem(value)?;
            Some(self.without_field(&format!("{name} value must be of type {kind} in {path}")))
        };
        let bad = |detail: &str| {
            let detail = format!("{path} in body should be {detail}");
            FieldError::invalid(&self.field(path), Some(&number.clone().into()), &detail)
        };
        // A bound that the type does not hold is a problem of its own, and then numbers are compared as they are.
        let comparable = |problem: &Option<FieldError>| match problem {
            None => value,
            Some(_) => Num::Float(value.float()),
        };
        let mut found = vec![beyond_type(value, "Checked")];
        if let Some(factor) = rules.multiple_of {
            let problem = beyond_type(Num::Float(factor), "MultipleOf");
            let of = multiple_of(comparable(&problem), factor);
            found.push(problem);
            found.push(match of {
                Multiple::Is => None,
                Multiple::IsNot(factor) => Some(bad(&format!("a multiple of {factor}"))),
                Multiple::Impossible(factor) => {
                    let detail = format!("factor MultipleOf declared for {path} must be positive: {factor}");
                    Some(FieldError::invalid(&self.field(path), Some(&factor), &detail))
                }
            });
        }
        for (bound, side) in [(rules.minimum, Side::Minimum), (rules.maximum, Side::Maximum)] {
            let Some(bound) = bound else { continue };
            let problem = beyond_type(Num::Float(bound.value), side.name());
            let shown = comparable(&problem).beyond(bound, side);
            found.push(problem);
            found.push(shown.map(|shown| bad(&format!("{} {shown}", side.words(bound)))));
        }
        for problem in found.into_iter().flatten() {
            outcome.add(problem);
        }
        outcome.matches += 1;
        outcome
    }
}

/// Which end of a range a bound is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Minimum,
    Maximum,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Minimum => "Minimum boundary",
            Self::Maximum => "Maximum boundary",
        }
    }

    fn words(self, bound: Bound) -> &'static str {
        match (self, bound.exclusive) {
            (Self::Minimum, true) => "greater than",
            (Self::Minimum, false) => "greater than or equal to",
            (Self::Maximum, true) => "less than",
            (Self::Maximum, false) => "less than or equal to",
        }
    }
}

/// A number as Go has read it.
#[derive(Clone, Copy)]
enum Num {
    Integer(i64),
    Float(f64),
}

impl Num {
    fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(integer) => Self::Integer(integer),
            None => Self::Float(number.as_f64().unwrap_or_default()),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "as in Go; large integers are compared without this")]
    fn float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }

    /// The bound that the number is beyond, as it is shown. Integers are held against the whole part of a bound.
    #[allow(clippy::cast_possible_truncation, reason = "as in Go: a bound is a floating-point number")]
    fn beyond(self, bound: Bound, side: Side) -> Option<String> {
        let is_beyond = |order: Option<Ordering>| match order {
            Some(Ordering::Less) => side == Side::Minimum,
            Some(Ordering::Greater) => side == Side::Maximum,
            Some(Ordering::Equal) => bound.exclusive,
            None => false,
        };
        match self {
            Self::Integer(integer) => {
                let limit = bound.value as i64;
                is_beyond(Some(integer.cmp(&limit))).then(|| limit.to_string())
            }
            Self::Float(float) => is_beyond(float.partial_cmp(&bound.value)).then(|| fmt::float(bound.value)),
        }
    }
}

enum Multiple {
    Is,
    /// With the factor as it is shown.
    IsNot(String),
    Impossible(Value),
}

#[allow(clippy::cast_possible_truncation, reason = "as in Go: a factor is a floating-point number")]
fn multiple_of(value: Num, factor: f64) -> Multiple {
    match value {
        Num::Integer(value) => {
            let factor = factor as i64;
            match value.checked_rem(factor) {
                _ if factor <= 0 => Multiple::Impossible(factor.into()),
                Some(0) => Multiple::Is,
                _ => Multiple::IsNot(factor.to_string()),
            }
        }
        Num::Float(_) if factor <= 0.0 => Multiple::Impossible(factor.into()),
        Num::Float(value) => {
            let times = if factor < 1.0 { 1.0 / factor * value } else { value / factor };
            if go::is_integral(times) { Multiple::Is } else { Multiple::IsNot(fmt::float(factor)) }
        }
    }
}

/// Which numbers a type holds.
enum Capacity {
    Anything,
    Int32,
    Int64 { format: Option<&'static str> },
    Float32,
}

impl Capacity {
    fn of(node: &Node, rules: &Rules) -> Self {
        let format = rules.format.as_ref().map(|format| format.name.as_str());
        match (node.types.as_slice(), format) {
            ([Type::Integer], Some("int32")) => Self::Int32,
            ([Type::Integer], format) => Self::Int64 { format: (format == Some("int64")).then_some("int64") },
            ([Type::Number], Some("float")) => Self::Float32,
            _ => Self::Anything,
        }
    }

    /// What a number should be that the type does not hold.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "what does not fit becomes infinite, which is the question"
    )]
    fn problem(&self, value: Num) -> Option<String> {
        let as_integer = match value {
            Num::Integer(integer) => Some(integer),
            Num::Float(float) if float.fract() == 0.0 && float.abs() < 9.3e18 => Some(float as i64),
            Num::Float(_) => None,
        };
        match self {
            Self::Int32 if as_integer.is_none_or(|value| i32::try_from(value).is_err()) => {
                Some("integer with format int32".to_owned())
            }
            Self::Int64 { format } if as_integer.is_none() => Some(match format {
                Some(format) => format!("integer with format {format}"),
                None => "integer (default format)".to_owned(),
            }),
            Self::Float32 if (value.float() as f32).is_infinite() => {
                Some("number with format float".to_owned())
            }
            _ => None,
        }
    }
}

/// Whether a value is one that a schema lists. A number of the other kind is converted first, as Go does it.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as in Go")]
fn is_same(value: &Value, listed: &Value) -> bool {
    match (value.as_i64(), listed.as_i64(), value.as_f64(), listed.as_f64()) {
        (Some(value), None, _, Some(listed)) => (value as f64).to_bits() == listed.to_bits(),
        (None, Some(listed), Some(value), _) => value as i64 == listed,
        _ => value == listed && !value.is_null(),
    }
}
