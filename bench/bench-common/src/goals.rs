//! The last line of a bench: how many goals are met, and the names of the others.

use std::fmt;

/// One goal, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    name: String,
    is_met: bool,
}

/// All goals of a bench; displayed as one line without its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Goals {
    goals: Vec<Goal>,
}

impl Goal {
    /// Met if `figure` does not exceed `limit`. A figure that was not measured (`None`, or not a number) is a goal that was not met.
    pub fn at_most(name: &str, figure: Option<f64>, limit: f64) -> Self {
        Self::judge(name, figure, '>', limit, |figure| figure <= limit)
    }

    /// Met if `figure` reaches `limit`; otherwise as [`at_most`](Self::at_most).
    pub fn at_least(name: &str, figure: Option<f64>, limit: f64) -> Self {
        Self::judge(name, figure, '<', limit, |figure| figure >= limit)
    }

    fn judge(name: &str, figure: Option<f64>, missed: char, limit: f64, met: impl Fn(f64) -> bool) -> Self {
        let name = match figure {
            Some(figure) => format!("{name} ({figure:.1} {missed} {limit})"),
            None => format!("{name} (not measured)"),
        };
        Self { name, is_met: figure.is_some_and(met) }
    }
}

impl FromIterator<Goal> for Goals {
    fn from_iter<I: IntoIterator<Item = Goal>>(goals: I) -> Self {
        Self { goals: goals.into_iter().collect() }
    }
}

impl fmt::Display for Goals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missed: Vec<_> =
            self.goals.iter().filter(|goal| !goal.is_met).map(|goal| goal.name.as_str()).collect();
        write!(f, "goals: {} met, {} missed", self.goals.len() - missed.len(), missed.len())?;
        if missed.is_empty() { Ok(()) } else { write!(f, ": {}", missed.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_met_up_to_their_limit() {
        let goals: Goals =
            [Goal::at_most("a", Some(1.0), 1.0), Goal::at_least("b", Some(1.0), 1.0)].into_iter().collect();
        assert_eq!(goals.to_string(), "goals: 2 met, 0 missed");
    }

    #[test]
    fn missed_goals_are_named_also_when_nothing_was_measured() {
        let goals: Goals = [
            Goal::at_most("a", Some(2.0), 1.0),
            Goal::at_least("b", Some(2.0), 3.0),
            Goal::at_least("c", None, 3.0),
            Goal::at_most("d", Some(f64::NAN), 3.0),
            Goal::at_most("e", Some(0.5), 1.0),
        ]
        .into_iter()
        .collect();
        assert_eq!(
            goals.to_string(),
            "goals: 1 met, 4 missed: a (2.0 > 1), b (2.0 < 3), c (not measured), d (NaN > 3)"
        );
    }
}
