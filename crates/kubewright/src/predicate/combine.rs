//! Predicates made of predicates.

use super::{Predicate, Verdict};
use crate::event::Event;

/// See [`Predicate::and`].
#[derive(Clone, Copy, Debug)]
pub struct And<A, B>(pub(super) A, pub(super) B);

impl<K, A: Predicate<K>, B: Predicate<K>> Predicate<K> for And<A, B> {
    fn judge(&self, event: &Event<K>) -> Verdict {
        match self.0.judge(event) {
            Verdict::Drop => Verdict::Drop,
            Verdict::Indifferent => self.1.judge(event),
            Verdict::Pass if self.1.judge(event) == Verdict::Drop => Verdict::Drop,
            Verdict::Pass => Verdict::Pass,
        }
    }
}

/// See [`Predicate::or`].
#[derive(Clone, Copy, Debug)]
pub struct Or<A, B>(pub(super) A, pub(super) B);

impl<K, A: Predicate<K>, B: Predicate<K>> Predicate<K> for Or<A, B> {
    fn judge(&self, event: &Event<K>) -> Verdict {
        match self.0.judge(event) {
            Verdict::Pass => Verdict::Pass,
            Verdict::Indifferent => self.1.judge(event),
            Verdict::Drop if self.1.judge(event) == Verdict::Pass => Verdict::Pass,
            Verdict::Drop => Verdict::Drop,
        }
    }
}

/// See [`Predicate::not`].
#[derive(Clone, Copy, Debug)]
pub struct Not<A>(pub(super) A);

impl<K, A: Predicate<K>> Predicate<K> for Not<A> {
    fn judge(&self, event: &Event<K>) -> Verdict {
        match self.0.judge(event) {
            Verdict::Pass => Verdict::Drop,
            Verdict::Drop => Verdict::Pass,
            Verdict::Indifferent => Verdict::Indifferent,
        }
    }
}
