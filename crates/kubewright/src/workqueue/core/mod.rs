//! The queue as a pure state machine: no tasks, no locks, and time comes in as an argument.
//!
//! A key has at most one entry. It is *pending* (waiting or ready), *being processed*, or both; when it is
//! neither, the entry is gone.
//!
//! ```text
//!            add_after                due                 take                 done
//!  (nothing) ─────────▶ waiting ─────────────▶ ready ──────────▶ processing ─────────▶ (nothing)
//!            add ───────────────────────────▶                      │    ▲
//!                                                               add│    │take, once done
//!                                                                  ▼    │
//!                                                         processing + ready or waiting
//! ```

mod departures;
mod entry;
mod list;
mod moment;
mod ready;
mod running;
mod slab;
mod table;
mod waiting;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

use self::departures::Departures;
use self::entry::{Entries, Pending};
use self::moment::{Clock, Moment};
use self::ready::Ready;
use self::running::Running;
use self::table::Table;
pub(super) use self::table::{KeyHash, KeyHasher};
use self::waiting::Waiting;
use super::metrics::{QueueStats, Recorder};
use super::{AddOptions, RateLimiter};

/// The state of one queue.
#[derive(Debug)]
pub(super) struct Core<K> {
    entries: Entries<K>,
    table: Table,
    departures: Departures,
    ready: Ready,
    waiting: Waiting,
    running: Running,
    limiter: Box<dyn RateLimiter<K>>,
    recorder: Option<Recorder>,
    clock: Clock,
    shutdown: Shutdown,
    /// Ready entries that could be handed out now: their key is not being processed.
    available: usize,
}

/// A key that is to be handed out at once.
#[derive(Debug)]
pub(super) struct Arrival<K> {
    pub(super) key: K,
    pub(super) hash: KeyHash,
    pub(super) priority: i32,
    pub(super) now: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shutdown {
    NotAsked,
    /// Nothing comes in; what is ready is still handed out.
    Draining,
    Done,
}

/// What a core is made with.
#[derive(Debug)]
pub(super) struct CoreOptions<K> {
    pub(super) limiter: Box<dyn RateLimiter<K>>,
    pub(super) overdue_after: Option<Duration>,
    pub(super) recorder: Option<Recorder>,
    pub(super) epoch: Instant,
}

impl<K: Clone + Eq + Hash> Core<K> {
    pub(super) fn new(options: CoreOptions<K>) -> Self {
        Self {
            entries: Entries::new(),
            table: Table::new(),
            departures: Departures::default(),
            ready: Ready::new(options.overdue_after),
            waiting: Waiting::new(),
            running: Running::default(),
            limiter: options.limiter,
            recorder: options.recorder,
            clock: Clock::new(options.epoch),
            shutdown: Shutdown::NotAsked,
            available: 0,
        }
    }

    /// Asks for one hand-out of `key`, now or later, and merges this with what is already asked for.
    #[inline]
    pub(super) fn add(&mut self, key: K, hash: KeyHash, options: AddOptions, now: Instant) {
        if self.shutdown != Shutdown::NotAsked {
            return;
        }
        let moment = self.catch_up(now);
        let address = self.table.address_or_insert(&mut self.entries, hash, key);
        let Some(delay) = self.delay(address, options, now) else {
            self.raise(address, options.priority);
            return;
        };
        if !delay.is_zero()
            && let Some(recorder) = &mut self.recorder
        {
            recorder.retried();
        }
        self.merge(address, options.priority, delay, moment);
    }

    /// Adds keys to be handed out at once, and leaves the list empty.
    ///
    /// Among a million keys a look-up waits some 100 ns for the memory. It is asked for in advance, while others are added.
    pub(super) fn add_arrivals(&mut self, arrivals: &mut Vec<Arrival<K>>) {
        if arrivals.is_empty() {
            return;
        }
        let mut arrivals = arrivals.drain(..);
        if self.shutdown != Shutdown::NotAsked {
            return;
        }
        for arrival in arrivals.as_slice().iter().take(AHEAD) {
            self.table.prefetch(arrival.hash);
        }
        while let Some(Arrival { key, hash, priority, now }) = arrivals.next() {
            if let Some(ahead) = arrivals.as_slice().get(AHEAD - 1) {
                self.table.prefetch(ahead.hash);
            }
            let at = self.catch_up(now);
            let address = self.table.address_or_insert(&mut self.entries, hash, key);
            self.merge(address, priority, Duration::ZERO, at);
        }
    }

    /// Hands out the next key with its priority. The key is being processed from here until `done`.
    ///
    /// `now` is asked for only if the time matters: reading a clock takes a quarter of a whole hand-out.
    #[inline]
    pub(super) fn take(&mut self, now: impl FnOnce() -> Instant) -> Option<(K, i32)> {
        if self.shutdown == Shutdown::Done {
            return None;
        }
        let time_matters = self.recorder.is_some() || self.ready.time_matters() || !self.waiting.is_empty();
        let now = if time_matters { self.catch_up(now()) } else { self.clock.now() };
        if self.available == 0 {
            return None;
        }
        let address = self.ready.pop(&mut self.entries, now)?;
        self.available -= 1;
        self.running.start(&mut self.entries, address, now);
        let entry = &mut self.entries[address];
        entry.rate_limited = false;
        if let Some(recorder) = &mut self.recorder {
            recorder.handed_out(now.nanoseconds_since(entry.at));
        }
        Some((entry.key.clone(), entry.priority))
    }

    /// Ends the processing of a key. Without effect on a key that is not being processed.
    ///
    /// `hash` is asked for only among many such keys, `now` only if it is measured.
    #[inline]
    pub(super) fn done(&mut self, key: &K, hash: impl FnOnce() -> KeyHash, now: impl FnOnce() -> Instant) {
        let Some((address, since)) = self.running.finish(&mut self.entries, key, hash) else { return };
        match self.entries[address].pending {
            Pending::No => self.depart(address),
            Pending::Waiting => {}
            Pending::Ready => self.available += 1,
            Pending::Parked => {
                self.ready.unpark(&mut self.entries, address);
                self.available += 1;
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.processed(self.clock.advance(now()).nanoseconds_since(since));
        }
    }

    /// Drops what the rate limiter remembers about a key.
    pub(super) fn forget(&mut self, key: &K) {
        self.limiter.forget(key);
    }

    /// How many failures the rate limiter remembers for a key.
    pub(super) fn num_requeues(&self, key: &K) -> u32 {
        self.limiter.num_requeues(key)
    }

    /// How long after `now` a key that is being processed comes again: zero as soon as it is done, `None` if nobody has asked for it.
    pub(super) fn comes_again_in(
        &mut self,
        key: &K,
        hash: impl FnOnce() -> KeyHash,
        now: Instant,
    ) -> Option<Duration> {
        let now = self.catch_up(now);
        let entry = &self.entries[self.running.address(&self.entries, key, hash)?];
        match entry.pending {
            Pending::No => None,
            Pending::Waiting => Some(entry.at.saturating_since(now)),
            Pending::Ready | Pending::Parked => Some(Duration::ZERO),
        }
    }

    /// How many keys are ready, with those that are still being processed from before. Keys that wait do not count.
    pub(super) fn len(&mut self, now: Instant) -> usize {
        self.catch_up(now);
        self.ready.len()
    }

    /// How many keys `take` would hand out without another event, apart from arrivals.
    pub(super) fn available(&self) -> usize {
        if self.is_shut_down() { 0 } else { self.available }
    }

    /// When the next waiting key becomes ready. `None` if none waits or no instant lies that far ahead.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.clock.instant(self.waiting.next_due()?)
    }

    /// Refuses what comes from now on, and drops what waits and what is ready.
    pub(super) fn shut_down(&mut self) {
        self.shutdown = Shutdown::Done;
        self.available = 0;
        let waiting = self.waiting.clear();
        self.drop_pending(waiting);
        let ready = self.ready.clear(&self.entries);
        self.drop_pending(ready);
        let stepped_aside = self.running.addresses().collect();
        self.drop_pending(stepped_aside);
    }

    /// Refuses what comes from now on, and drops what waits. What is ready is still handed out.
    pub(super) fn start_draining(&mut self) {
        if self.shutdown == Shutdown::NotAsked {
            self.shutdown = Shutdown::Draining;
            let waiting = self.waiting.clear();
            self.drop_pending(waiting);
        }
    }

    /// Whether keys are refused.
    pub(super) fn is_closed(&self) -> bool {
        self.shutdown != Shutdown::NotAsked
    }

    /// Whether nothing will be handed out any more.
    pub(super) fn is_shut_down(&self) -> bool {
        self.shutdown == Shutdown::Done || (self.shutdown == Shutdown::Draining && self.ready.len() == 0)
    }

    /// Whether a drain has nothing left to wait for. A shutdown ends it at once.
    pub(super) fn is_drained(&self) -> bool {
        self.shutdown == Shutdown::Done || (self.is_shut_down() && self.running.len() == 0)
    }

    /// What is measured; `None` without a recorder.
    pub(super) fn stats(&mut self, now: Instant) -> Option<QueueStats> {
        let now = self.catch_up(now);
        let recorder = self.recorder.as_ref()?;
        Some(recorder.stats(
            self.ready.len(),
            |priority| self.ready.len_at(priority),
            self.running.durations(now),
        ))
    }

    /// Makes ready what has become due.
    ///
    /// Everything that looks at the time comes through here first, so entries join the line in the order in which they become
    /// ready, whether by being added or by being due.
    #[inline]
    fn catch_up(&mut self, now: Instant) -> Moment {
        let now = self.clock.advance(now);
        while let Some((address, due)) = self.waiting.pop_due(&mut self.entries, now) {
            self.make_ready(address, due);
        }
        now
    }

    /// Lets an idle entry go: at once if the queue has nothing else to do, otherwise together with others.
    #[inline]
    fn depart(&mut self, address: u32) {
        self.table.prefetch(self.entries[address].hash);
        self.departures.join(&mut self.entries, address);
        if self.available == 0 || self.departures.is_full() {
            self.drop_departures();
        }
    }

    fn drop_departures(&mut self) {
        while let Some(address) = self.departures.pop(&mut self.entries) {
            let entry = &self.entries[address];
            if entry.is_idle() {
                self.table.remove(entry.hash, address);
                self.entries.remove(address);
            }
        }
    }

    /// How long the caller wants the key to wait; `None` if this failure has been counted already.
    fn delay(&mut self, address: u32, options: AddOptions, now: Instant) -> Option<Duration> {
        let after = options.after;
        if !options.rate_limited {
            return Some(after);
        }
        let entry = &mut self.entries[address];
        if entry.rate_limited {
            return (!after.is_zero()).then_some(after);
        }
        let backoff = self.limiter.when(&entry.key, now);
        entry.rate_limited = true;
        Some(if after.is_zero() { backoff } else { backoff.min(after) })
    }

    #[inline]
    fn merge(&mut self, address: u32, priority: i32, delay: Duration, now: Moment) {
        let pending = self.entries[address].pending;
        if pending == Pending::No {
            self.entries[address].priority = priority;
        } else {
            self.raise(address, priority);
        }
        let due = now.saturating_add(delay);
        match pending {
            Pending::No if delay.is_zero() => self.make_ready(address, now),
            Pending::No => self.waiting.push(&mut self.entries, address, due),
            Pending::Waiting if delay.is_zero() => {
                self.waiting.remove(&mut self.entries, address);
                self.make_ready(address, now);
            }
            Pending::Waiting if due < self.entries[address].at => {
                self.waiting.advance(&mut self.entries, address, due);
            }
            Pending::Waiting | Pending::Ready | Pending::Parked => {}
        }
    }

    /// Gives a pending entry a higher priority; a lower one changes nothing.
    #[inline]
    fn raise(&mut self, address: u32, priority: i32) {
        let entry = &mut self.entries[address];
        if priority <= entry.priority {
            return;
        }
        match entry.pending {
            Pending::No | Pending::Waiting => entry.priority = priority,
            Pending::Ready | Pending::Parked => {
                self.ready.raise(&mut self.entries, address, priority);
                if let Some(recorder) = &mut self.recorder {
                    recorder.seen(priority);
                }
            }
        }
    }

    #[inline]
    fn make_ready(&mut self, address: u32, since: Moment) {
        self.ready.push(&mut self.entries, address, since);
        let entry = &self.entries[address];
        if !entry.is_running {
            self.available += 1;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.became_ready(entry.priority);
        }
    }

    /// Forgets that hand-outs were asked for. Entries stay while their keys are being processed.
    fn drop_pending(&mut self, addresses: Vec<u32>) {
        for address in addresses {
            let entry = &mut self.entries[address];
            entry.pending = Pending::No;
            if entry.is_idle() {
                self.depart(address);
            }
        }
    }
}

/// How many arrivals are added while the memory for one more comes.
const AHEAD: usize = 8;
