//! What has been found out about a value.

use crate::error::FieldError;

/// What is wrong with a value, and how much was right.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) problems: Vec<FieldError>,
    /// How many checks were made. Among alternatives that all fail, the one with the most is told about.
    ///
    /// Source: kube-openapi `validate.Result.MatchCount`.
    pub(super) matches: usize,
}

impl Outcome {
    pub(super) fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds a problem, unless it is known.
    pub(super) fn add(&mut self, problem: FieldError) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        for problem in other.problems {
            self.add(problem);
        }
    }

    /// Adds what one kind of check has found.
    pub(super) fn merge_check(&mut self, other: Self) {
        self.merge(other);
        self.matches += 1;
    }
}

impl From<Option<FieldError>> for Outcome {
    fn from(problem: Option<FieldError>) -> Self {
        Self { problems: problem.into_iter().collect(), matches: 0 }
    }
}
