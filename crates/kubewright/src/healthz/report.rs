//! What all checks of an endpoint say, in upstream's words.

use std::{
    collections::BTreeSet,
    fmt::{self, Display},
};

/// What one check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    /// The reason stays here: anybody may read the report.
    Failed,
    /// It was not asked.
    Excluded,
}

/// What all say.
#[derive(Debug)]
pub(super) struct Report {
    /// By name, sorted.
    pub(super) statuses: Vec<(String, Status)>,
    /// What should have been excluded and is no check.
    pub(super) unknown: BTreeSet<String>,
}

impl Report {
    pub(super) fn has_failed(&self) -> bool {
        self.statuses.iter().any(|(_, status)| *status == Status::Failed)
    }
}

/// The long form, a line for each check.
impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, status) in &self.statuses {
            match status {
                Status::Ok => writeln!(f, "[+]{name} ok")?,
                Status::Failed => writeln!(f, "[-]{name} failed: reason withheld")?,
                Status::Excluded => writeln!(f, "[+]{name} excluded: ok")?,
            }
        }
        if !self.unknown.is_empty() {
            let quoted: Vec<_> = self.unknown.iter().map(|name| format!("{name:?}")).collect();
            let quoted = quoted.join(",");
            writeln!(f, "warn: some health checks cannot be excluded: no matches for {quoted}")?;
        }
        writeln!(f, "healthz check {}", if self.has_failed() { "failed" } else { "passed" })
    }
}
