//! Which informers there are, and for how long. Pure: time comes in as an argument.

use std::{collections::HashMap, mem::take, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::informer::{InUse, Informer};
use crate::object::Kind;

/// The informers by what they follow.
///
/// One that was asked for by name stays. Any other ends a while after its last use. A watch or a wait is a use, and [`UNUSED_FOR`] after its end (give
/// or take a look); a read is one for as long as the options say. Whoever comes later finds a new informer.
#[derive(Debug)]
pub(super) struct Roster {
    by_kind: HashMap<Kind, Member>,
    unread_for: Duration,
}

#[derive(Debug)]
struct Member {
    informer: Arc<Informer>,
    stays: Stays,
    /// What it has been wanted for since the last look.
    was_used: bool,
    was_read: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stays {
    Always,
    Until(Instant),
}

impl Roster {
    pub(super) fn new(unread_for: Duration) -> Self {
        Self { by_kind: HashMap::new(), unread_for: unread_for.max(UNUSED_FOR) }
    }

    /// The informer of `kind`, to be used; `None` if there is none.
    pub(super) fn find(&mut self, kind: &Kind, purpose: Purpose) -> Option<InUse> {
        let member = self.by_kind.get_mut(kind)?;
        member.note(purpose);
        Some(InUse::new(Arc::clone(&member.informer)))
    }

    pub(super) fn insert(&mut self, informer: Arc<Informer>, purpose: Purpose, now: Instant) {
        let kind = informer.kind().clone();
        let stays = Stays::Until(now + UNUSED_FOR);
        let mut member = Member { informer, stays, was_used: false, was_read: false };
        member.note(purpose);
        self.by_kind.insert(kind, member);
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Informer>> {
        self.by_kind.values().map(|member| &member.informer)
    }

    /// Takes out the informers that nobody has used for long enough. Whoever uses one of the others until the next look, of which there is one
    /// in each [`LOOK_EVERY`], is noticed by then.
    pub(super) fn take_unused(&mut self, now: Instant) -> Vec<Arc<Informer>> {
        let unread_for = self.unread_for;
        let is_over = |_: &Kind, member: &mut Member| !member.stays_at(now, unread_for);
        self.by_kind.extract_if(is_over).map(|(_, member)| member.informer).collect()
    }
}

impl Member {
    fn note(&mut self, purpose: Purpose) {
        match purpose {
            Purpose::Use => self.was_used = true,
            Purpose::Read => self.was_read = true,
            Purpose::Keep => self.stays = Stays::Always,
        }
    }

    fn stays_at(&mut self, now: Instant, unread_for: Duration) -> bool {
        if take(&mut self.was_used) || self.informer.is_in_use() {
            self.stay(now.checked_add(UNUSED_FOR));
        }
        if take(&mut self.was_read) {
            self.stay(now.checked_add(unread_for));
        }
        match self.stays {
            Stays::Always => true,
            Stays::Until(until) => now < until,
        }
    }

    /// Stays at least `until` then; `None` is the end of time.
    fn stay(&mut self, until: Option<Instant>) {
        self.stays = match (self.stays, until) {
            (Stays::Until(earlier), Some(until)) => Stays::Until(earlier.max(until)),
            (Stays::Always, _) | (_, None) => Stays::Always,
        };
    }
}

/// What an informer is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is used until the use is dropped.
    Use,
    /// It is read, and most likely will be again.
    Read,
    /// It stays, used or not.
    Keep,
}

/// How long an informer goes on after whoever watched through it has ended: a watch that is made anew finds it.
const UNUSED_FOR: Duration = Duration::from_secs(60);
/// How often somebody has to look.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::{
        cache::{reflector::Target, store::Store},
        metrics::Registry,
    };

    const UNREAD_FOR: Duration = Duration::from_secs(3600);

    fn kind() -> Kind {
        Kind::of::<ConfigMap>()
    }

    fn roster(now: Instant) -> Roster {
        let target = Target { kind: kind(), namespace: None, label_selector: None, field_selector: None };
        let informer = Informer::new(target, Store::new(0, false), &Registry::new());
        let mut roster = Roster::new(UNREAD_FOR);
        roster.insert(Arc::new(informer), Purpose::Use, now);
        roster
    }

    /// After how many seconds the informer is taken out, if anybody looks as often as needed; not within ten hours: `None`.
    fn ends_after(roster: &mut Roster, begin: Instant) -> Option<u64> {
        let looks = (1..=3600).map(|look| begin + LOOK_EVERY * look);
        let end = looks.into_iter().find(|now| !roster.take_unused(*now).is_empty())?;
        assert!(roster.find(&kind(), Purpose::Use).is_none());
        Some(end.duration_since(begin).as_secs())
    }

    #[track_caller]
    fn check(purposes: &[Purpose], expected: Option<u64>) {
        let now = Instant::now();
        let mut roster = roster(now);
        for purpose in purposes {
            roster.find(&kind(), *purpose).unwrap();
        }
        assert_eq!(ends_after(&mut roster, now), expected, "after {purposes:?}");
    }

    #[test]
    fn an_informer_ends_a_while_after_its_last_use() {
        check(&[Purpose::Use], Some(70));
        check(&[Purpose::Use, Purpose::Read], Some(3610));
        check(&[Purpose::Read, Purpose::Keep, Purpose::Use], None);
    }

    #[test]
    fn an_informer_stays_as_long_as_somebody_uses_it() {
        let now = Instant::now();
        let mut roster = roster(now);
        let first = roster.find(&kind(), Purpose::Use);
        let second = roster.find(&kind(), Purpose::Use);
        drop(first);
        assert_eq!(ends_after(&mut roster, now), None);
        drop(second);
        let later = now + LOOK_EVERY * 3600;
        assert_eq!(ends_after(&mut roster, later), Some(60));
    }

    #[test]
    fn a_read_informer_may_stay_for_ever() {
        let now = Instant::now();
        let mut roster = Roster { unread_for: Duration::MAX, ..roster(now) };
        roster.find(&kind(), Purpose::Read).unwrap();
        assert_eq!(ends_after(&mut roster, now), None);
    }
}
