//! Predicates made of predicates.

use std::marker::PhantomData;

use super::{Predicate, Verdict};
use crate::event::Event;

/// The objects that are judged. A predicate such as `generation_changed` judges any; the compiler learns which ones from where the
/// combination goes.
pub(super) type Judged<K> = PhantomData<fn(&K)>;

/// See [`Predicate::and`].
#[derive(Clone, Copy, Debug)]
pub struct And<K, A, B>(pub(super) A, pub(super) B, pub(super) Judged<K>);

impl<K: 'static, A: Predicate<K>, B: Predicate<K>> Predicate<K> for And<K, A, B> {
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
pub struct Or<K, A, B>(pub(super) A, pub(super) B, pub(super) Judged<K>);

impl<K: 'static, A: Predicate<K>, B: Predicate<K>> Predicate<K> for Or<K, A, B> {
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
pub struct Not<K, A>(pub(super) A, pub(super) Judged<K>);

impl<K: 'static, A: Predicate<K>> Predicate<K> for Not<K, A> {
    fn judge(&self, event: &Event<K>) -> Verdict {
        match self.0.judge(event) {
            Verdict::Pass => Verdict::Drop,
            Verdict::Drop => Verdict::Pass,
            Verdict::Indifferent => Verdict::Indifferent,
        }
    }
}
