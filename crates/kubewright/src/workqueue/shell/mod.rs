//! What all handles of a queue share: the inbox, the desk behind it, and the protocol between those who add and those who wait.
//!
//! Everything happens under short locks; wakers run after they are released. The invariants, whenever the lock of the desk is free:
//!
//! - for each key that could be handed out, a getter has been called and is on its way, unless no getter waits;
//! - while a getter waits, whoever leaves a key in the inbox learns of it under the inbox's lock, and sees to it;
//! - if keys wait for their time and a getter waits, then either one of the getters, the *timekeeper*, sleeps until the
//!   earliest of these times, or a getter that has been called is on its way and will see to it.
//!
//! A getter that leaves, with a key or because its future was dropped, restores them by calling the next. The lock of the inbox
//! may be taken under that of the desk, never the other way round.

mod inbox;

use std::future::poll_fn;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::time::Instant;

use self::inbox::{Inbox, Next};
use super::AddOptions;
use super::core::{Arrival, Core, CoreOptions, KeyHasher};
use super::line::{Ticket, WaitLine};
use super::metrics::QueueStats;
use super::runtime::{Lock, Runtime};

/// A queue in a world `R`.
pub(super) struct Shell<K: Send, R: Runtime> {
    inbox: Inbox<K, R>,
    desk: R::Lock<Desk<K>>,
    /// Whether the rate limiter was ever asked. Until then there is nothing to forget, and no lock is taken for it.
    ///
    /// Who forgets a key has taken it out under the lock of the desk after it failed, so no stronger order is needed.
    limited: AtomicBool,
    hasher: KeyHasher,
    runtime: R,
}

/// The core, and those who stand in line at it.
#[derive(Debug)]
struct Desk<K> {
    core: Core<K>,
    /// The list that takes the place of the inbox's.
    emptied: Vec<Arrival<K>>,
    /// What the inbox was told.
    urgent: bool,
    getters: WaitLine,
    timekeeper: Option<Timekeeper>,
    drainers: WaitLine,
}

/// The getter that sleeps until the next key becomes ready.
#[derive(Clone, Copy, Debug)]
struct Timekeeper {
    ticket: Ticket,
    until: Instant,
}

impl<K: Clone + Eq + Hash + Send, R: Runtime> Shell<K, R> {
    pub(super) fn new(runtime: R, options: CoreOptions<K>) -> Self {
        let core = Core::new(options);
        let desk = Desk {
            core,
            emptied: Vec::new(),
            urgent: false,
            getters: WaitLine::default(),
            timekeeper: None,
            drainers: WaitLine::default(),
        };
        Self {
            inbox: Inbox::new(),
            desk: R::Lock::new(desk),
            limited: AtomicBool::new(false),
            hasher: KeyHasher::default(),
            runtime,
        }
    }

    #[inline]
    pub(super) fn add(&self, key: K, options: AddOptions) {
        let (hash, now) = (self.hasher.hash(&key), self.runtime.now());
        if !options.is_immediate() {
            self.note_limited(options);
            return self.change(|core| core.add(key, hash, options, now));
        }
        let arrival = Arrival { key, hash, priority: options.priority, now };
        match self.inbox.push(arrival) {
            Next::Nothing => {}
            Next::Merge => self.merge_if_free(),
            Next::Deliver => self.change(|_| ()),
        }
    }

    /// Adds keys in batches: one lock for many keys, but not for so many that others wait long. The iterator, which is the
    /// caller's code, runs outside of the lock.
    pub(super) fn add_all(&self, keys: impl IntoIterator<Item = K>, options: AddOptions) {
        let mut keys = keys.into_iter();
        self.note_limited(options);
        loop {
            let now = self.runtime.now();
            let arrival =
                |key| Arrival { hash: self.hasher.hash(&key), key, priority: options.priority, now };
            let mut batch: Vec<_> = keys.by_ref().take(BATCH).map(arrival).collect();
            if batch.is_empty() {
                return;
            }
            self.change(|core| {
                if options.is_immediate() {
                    return core.add_arrivals(&mut batch);
                }
                for Arrival { key, hash, .. } in batch {
                    core.add(key, hash, options, now);
                }
            });
        }
    }

    pub(super) async fn get(&self) -> Option<(K, i32)> {
        let mut getter = Getter { shell: self, ticket: None, alarm: Alarm { sleep: None } };
        poll_fn(|context| getter.poll(context)).await
    }

    #[inline]
    pub(super) fn done(&self, key: &K) {
        let waker = self.desk.with(|desk| {
            desk.core.done(key, || self.hasher.hash(key), || self.runtime.now());
            desk.call(&self.inbox)
        });
        self.wake(waker);
    }

    pub(super) fn forget(&self, key: &K) {
        if self.limited.load(Ordering::Relaxed) {
            self.desk.with(|desk| desk.core.forget(key));
        }
    }

    pub(super) fn num_requeues(&self, key: &K) -> u32 {
        self.desk.with(|desk| desk.core.num_requeues(key))
    }

    pub(super) fn comes_again_in(&self, key: &K) -> Option<Duration> {
        let now = self.runtime.now();
        self.change(|core| core.comes_again_in(key, || self.hasher.hash(key), now))
    }

    pub(super) fn len(&self) -> usize {
        let now = self.runtime.now();
        self.change(|core| core.len(now))
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.desk.with(|desk| desk.core.is_closed())
    }

    pub(super) fn stats(&self) -> Option<QueueStats> {
        let now = self.runtime.now();
        self.change(|core| core.stats(now))
    }

    pub(super) fn shut_down(&self) {
        self.change(Core::shut_down);
    }

    pub(super) async fn shut_down_with_drain(&self) {
        self.change(Core::start_draining);
        let mut drainer = Drainer { shell: self, ticket: None };
        poll_fn(|context| drainer.poll(context)).await;
    }

    fn note_limited(&self, options: AddOptions) {
        if options.rate_limited {
            self.limited.store(true, Ordering::Relaxed);
        }
    }

    /// Merges what lies in the inbox, changes the core, and calls whom that concerns.
    fn change<T>(&self, change: impl FnOnce(&mut Core<K>) -> T) -> T {
        let (result, waker) = self.desk.with(|desk| {
            desk.merge(&self.inbox);
            (change(&mut desk.core), desk.call(&self.inbox))
        });
        self.wake(waker);
        result
    }

    /// Merges what lies in the inbox, unless somebody has the desk: then the next one sees to it.
    fn merge_if_free(&self) {
        let merged = self.desk.try_with(|desk| {
            desk.merge(&self.inbox);
            desk.call(&self.inbox)
        });
        self.wake(merged.flatten());
    }

    /// Wakes a task, then all others that are to be called.
    #[inline]
    fn wake(&self, mut waker: Option<Waker>) {
        while let Some(called) = waker {
            called.wake();
            waker = self.desk.with(|desk| desk.call(&self.inbox));
        }
    }
}

impl<K: Clone + Eq + Hash + Send> Desk<K> {
    /// Merges what lies in the inbox.
    fn merge<R: Runtime>(&mut self, inbox: &Inbox<K, R>) {
        inbox.swap(&mut self.emptied);
        self.core.add_arrivals(&mut self.emptied);
    }

    /// Calls one task if the invariants ask for it.
    #[inline]
    fn call<R: Runtime>(&mut self, inbox: &Inbox<K, R>) -> Option<Waker> {
        let urgent = self.getters.is_waiting();
        if urgent != self.urgent {
            self.urgent = urgent;
            inbox.set_urgent(urgent, &mut self.emptied);
            self.core.add_arrivals(&mut self.emptied);
        }
        if !urgent && !self.drainers.is_waiting() {
            return None;
        }
        if self.core.is_drained()
            && let Some(waker) = self.drainers.call_first()
        {
            return Some(waker);
        }
        if self.getters.called() < self.core.available() || self.core.is_shut_down() {
            return self.getters.call_first();
        }
        self.call_for_time()
    }

    /// Calls the timekeeper if a key became ready sooner, or anybody if there is time to be kept and nobody does it.
    fn call_for_time(&mut self) -> Option<Waker> {
        let due = self.core.next_due()?;
        match self.timekeeper {
            Some(timekeeper) if due < timekeeper.until => self.getters.call(timekeeper.ticket),
            Some(_) => None,
            None if self.getters.called() > 0 => None,
            None => self.getters.call_first(),
        }
    }
}

/// One call of `get`.
struct Getter<'a, K: Clone + Eq + Hash + Send, R: Runtime> {
    shell: &'a Shell<K, R>,
    ticket: Option<Ticket>,
    alarm: Alarm<R>,
}

/// What a getter finds.
enum Found<K> {
    Key((K, i32)),
    ShutDown,
    /// Nothing yet; the timekeeper has to come back at this instant.
    Nothing(Option<Instant>),
}

impl<K: Clone + Eq + Hash + Send, R: Runtime> Getter<'_, K, R> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<(K, i32)>> {
        loop {
            match self.look(context.waker()) {
                Found::Key(key) => return Poll::Ready(Some(key)),
                Found::ShutDown => return Poll::Ready(None),
                // The alarm may ring at once: the time may have come since we looked.
                Found::Nothing(due) => ready!(self.alarm.poll(&self.shell.runtime, due, context)),
            }
        }
    }

    /// Takes a key, or joins the line under the same lock, so that no key can slip in between.
    fn look(&mut self, waker: &Waker) -> Found<K> {
        let now = || self.shell.runtime.now();
        let (found, next) = self.shell.desk.with(|desk| {
            let place = self.leave(desk);
            desk.merge(&self.shell.inbox);
            let found = match desk.core.take(now) {
                Some(key) => Found::Key(key),
                None if desk.core.is_shut_down() => Found::ShutDown,
                None => Found::Nothing(self.join(desk, place, waker)),
            };
            (found, desk.call(&self.shell.inbox))
        });
        self.shell.wake(next);
        found
    }

    fn leave(&mut self, desk: &mut Desk<K>) -> Option<Ticket> {
        let ticket = self.ticket.take()?;
        desk.getters.leave(ticket);
        if desk.timekeeper.is_some_and(|timekeeper| timekeeper.ticket == ticket) {
            desk.timekeeper = None;
        }
        Some(ticket)
    }

    /// Joins the line, as the timekeeper if there is time to be kept and nobody does it.
    fn join(&mut self, desk: &mut Desk<K>, place: Option<Ticket>, waker: &Waker) -> Option<Instant> {
        let ticket = desk.getters.join(place, waker);
        self.ticket = Some(ticket);
        if desk.timekeeper.is_some() {
            return None;
        }
        let until = desk.core.next_due()?.min(self.shell.runtime.now() + LONGEST_SLEEP);
        desk.timekeeper = Some(Timekeeper { ticket, until });
        Some(until)
    }
}

impl<K: Clone + Eq + Hash + Send, R: Runtime> Drop for Getter<'_, K, R> {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            let next = self.shell.desk.with(|desk| {
                self.leave(desk);
                desk.call(&self.shell.inbox)
            });
            self.shell.wake(next);
        }
    }
}

/// The sleep of the timekeeper. The others have none.
struct Alarm<R: Runtime> {
    sleep: Option<(Instant, Pin<Box<R::Sleep>>)>,
}

impl<R: Runtime> Alarm<R> {
    /// Ready once `due` has come; without one, never.
    fn poll(&mut self, runtime: &R, due: Option<Instant>, context: &mut Context<'_>) -> Poll<()> {
        let Some(due) = due else {
            self.sleep = None;
            return Poll::Pending;
        };
        let (_, sleep) = match &mut self.sleep {
            Some(sleep) if sleep.0 == due => sleep,
            other => other.insert((due, Box::pin(runtime.sleep_until(due)))),
        };
        sleep.as_mut().poll(context)
    }
}

/// One call of `shut_down_with_drain`.
struct Drainer<'a, K: Clone + Eq + Hash + Send, R: Runtime> {
    shell: &'a Shell<K, R>,
    ticket: Option<Ticket>,
}

impl<K: Clone + Eq + Hash + Send, R: Runtime> Drainer<'_, K, R> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.shell.desk.with(|desk| {
            let place = self.leave(desk);
            if desk.core.is_drained() {
                return Poll::Ready(());
            }
            self.ticket = Some(desk.drainers.join(place, context.waker()));
            Poll::Pending
        })
    }

    fn leave(&mut self, desk: &mut Desk<K>) -> Option<Ticket> {
        let ticket = self.ticket.take()?;
        desk.drainers.leave(ticket);
        Some(ticket)
    }
}

impl<K: Clone + Eq + Hash + Send, R: Runtime> Drop for Drainer<'_, K, R> {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            self.shell.desk.with(|desk| self.leave(desk));
        }
    }
}

/// Keys that are added under one lock: some microseconds.
const BATCH: usize = 64;

/// A timekeeper looks again after this time at the latest, so that no timer has to cope with the end of time.
const LONGEST_SLEEP: Duration = Duration::from_secs(365 * 24 * 60 * 60);

#[cfg(test)]
mod tests;
