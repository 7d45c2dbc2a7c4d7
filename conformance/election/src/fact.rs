//! What a replica tells of itself: one line for each fact.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A fact, and when it was one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) what: What,
    /// By [`now`].
    pub(crate) at: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// It leads from now on.
    Leads,
    /// It did what only a leader may do.
    Works,
    /// It does so no more.
    Stopped,
}

/// The clock that all processes of a machine share, whatever its wall says. It goes on while a process is paused.
pub(crate) fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    // It counts up from zero, so neither part is ever negative.
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

impl Fact {
    /// The line of a fact; the Go program writes the same.
    pub(crate) fn line(self) -> String {
        let word = match self.what {
            What::Leads => "leads",
            What::Works => "works",
            What::Stopped => "stopped",
        };
        format!("{word} {}", self.at.as_nanos())
    }

    /// `None` if the line is no fact.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (word, at) = line.split_once(' ')?;
        let what = match word {
            "leads" => What::Leads,
            "works" => What::Works,
            "stopped" => What::Stopped,
            _ => return None,
        };
        Some(Self { what, at: Duration::from_nanos(at.parse().ok()?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_survives_its_line() {
        for what in [What::Leads, What::Works, What::Stopped] {
            let fact = Fact { what, at: now() };
            assert_eq!(Fact::parse(&fact.line()), Some(fact));
        }
        assert_eq!(Fact::parse("leads soon"), None);
        assert_eq!(Fact::parse("sleeps 1"), None);
    }
}
