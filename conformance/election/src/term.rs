//! From when to when somebody led, and who worked when somebody else did.

use std::{fmt, time::Duration};

use crate::fact::{Fact, What};

/// Whose election it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    ClientGo,
    Kubewright,
}

impl Kind {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::ClientGo => Self::Kubewright,
            Self::Kubewright => Self::ClientGo,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClientGo => "client-go",
            Self::Kubewright => "kubewright",
        })
    }
}

/// One leadership of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) kind: Kind,
    pub(crate) begin: Duration,
    pub(crate) works: Vec<Duration>,
    /// When it said that it had stopped. `None`: it never did, as one that was killed.
    pub(crate) stopped: Option<Duration>,
    /// Whether its process stood still for a while.
    pub(crate) was_paused: bool,
}

impl Term {
    /// The term that a process tells of. `None` if it never led; a process leads at most once.
    pub(crate) fn of(kind: Kind, facts: &[Fact]) -> Option<Self> {
        let begin = facts.iter().find(|fact| fact.what == What::Leads)?.at;
        let at = |what| facts.iter().filter(move |fact| fact.what == what).map(|fact| fact.at);
        let (works, stopped) = (at(What::Works).collect(), at(What::Stopped).next());
        Some(Self { kind, begin, works, stopped, was_paused: false })
    }
}

/// How often there was work in the terms that `counted` wants, while somebody who came later led already.
pub(crate) fn late_works(terms: &[Term], counted: impl Fn(&Term) -> bool) -> usize {
    let late = |term: &Term| {
        let next = terms.iter().map(|other| other.begin).filter(|begin| *begin > term.begin).min();
        next.map_or(0, |next| term.works.iter().filter(|at| **at >= next).count())
    };
    terms.iter().filter(|term| counted(term)).map(late).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(kind: Kind, begin: u64, works: &[u64]) -> Term {
        let seconds = |at: &u64| Duration::from_secs(*at);
        let works = works.iter().map(seconds).collect();
        Term { kind, begin: seconds(&begin), works, stopped: None, was_paused: false }
    }

    #[test]
    fn a_term_is_what_the_facts_say() {
        let fact = |what, at| Fact { what, at: Duration::from_secs(at) };
        let facts =
            [fact(What::Leads, 1), fact(What::Works, 2), fact(What::Works, 3), fact(What::Stopped, 4)];
        let told = Term::of(Kind::ClientGo, &facts).unwrap();
        assert_eq!(told, Term { stopped: Some(Duration::from_secs(4)), ..term(Kind::ClientGo, 1, &[2, 3]) });
        assert_eq!(Term::of(Kind::ClientGo, &[]), None);
    }

    #[test]
    fn work_is_late_when_the_next_one_leads() {
        let (ours, theirs) = (Kind::Kubewright, Kind::ClientGo);
        let late = |terms: &[Term]| [ours, theirs].map(|kind| late_works(terms, |term| term.kind == kind));
        let good = [term(ours, 1, &[1, 2]), term(theirs, 3, &[3, 4]), term(ours, 5, &[6])];
        assert_eq!(late(&good), [0, 0]);
        let bad = [term(ours, 1, &[1, 2, 3]), term(theirs, 3, &[3, 4, 5, 9]), term(ours, 5, &[6])];
        assert_eq!(late(&bad), [1, 2]);
    }
}
