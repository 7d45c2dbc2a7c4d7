//! A naive queue to hold the real one against: one flat list, searched from end to end for every question.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::workqueue::AddOptions;

/// The same rules as [`Core`](super::Core), written for being read. Time is counted from the start.
#[derive(Debug, Default)]
pub(super) struct Model {
    overdue_after: Option<Duration>,
    base_delay: Duration,
    max_delay: Duration,
    pending: BTreeMap<u64, Request>,
    running: BTreeMap<u64, Duration>,
    failures: BTreeMap<u64, u32>,
    /// Counts everything that takes a place in some order.
    tick: u64,
    overdue_had_its_turn: bool,
    draining: bool,
    shut_down: bool,
    pub(super) adds: u64,
    pub(super) retries: u64,
}

/// A hand-out that is asked for.
#[derive(Clone, Copy, Debug)]
struct Request {
    priority: i32,
    /// When it is due, or since when it is ready.
    at: Duration,
    ready: bool,
    /// Its place in the line of its priority, or among those that wait.
    place: u64,
    rate_limited: bool,
}

impl Model {
    pub(super) fn new(overdue_after: Option<Duration>, base_delay: Duration, max_delay: Duration) -> Self {
        Self { overdue_after, base_delay, max_delay, ..Self::default() }
    }

    pub(super) fn add(&mut self, key: u64, options: AddOptions, now: Duration) {
        if self.draining || self.shut_down {
            return;
        }
        self.catch_up(now);
        let known = self.pending.get(&key).copied();
        let counted = known.is_some_and(|request| request.rate_limited);
        let asks_for_nothing = options.rate_limited && counted && options.after.is_zero();
        let mut delay = options.after;
        if options.rate_limited && !counted {
            let backoff = self.fail(key);
            delay = if options.after.is_zero() { backoff } else { backoff.min(options.after) };
        }
        if !asks_for_nothing && !delay.is_zero() {
            self.retries += 1;
        }
        let due = now.saturating_add(delay);
        let place = self.next_tick();
        let request = self.pending.entry(key).or_insert(Request {
            priority: options.priority,
            at: due,
            ready: false,
            place,
            rate_limited: false,
        });
        request.rate_limited |= options.rate_limited;
        if options.priority > request.priority {
            request.priority = options.priority;
            if request.ready {
                request.place = place;
            }
        }
        if !request.ready && !asks_for_nothing {
            request.at = request.at.min(due);
            if delay.is_zero() {
                self.make_ready(key, now);
            }
        }
    }

    pub(super) fn take(&mut self, now: Duration) -> Option<(u64, i32)> {
        if self.shut_down {
            return None;
        }
        self.catch_up(now);
        let free = |(key, request): (&u64, &Request)| {
            (request.ready && !self.running.contains_key(key)).then_some((*key, *request))
        };
        let free: Vec<(u64, Request)> = self.pending.iter().filter_map(free).collect();
        if free.is_empty() {
            return None;
        }
        let levels: Vec<i32> =
            self.pending.values().filter(|request| request.ready).map(|request| request.priority).collect();
        let overdue = free
            .iter()
            .filter(|(_, request)| {
                self.overdue_after.is_some_and(|after| now.saturating_sub(request.at) >= after)
            })
            .filter(|(key, request)| {
                let is_before_it =
                    |other: &Request| other.priority == request.priority && other.place < request.place;
                !free.iter().any(|(other_key, other)| other_key != key && is_before_it(other))
            })
            .filter(|_| !self.overdue_had_its_turn && levels.iter().any(|&level| level != levels[0]))
            .min_by_key(|(_, request)| (request.at, -i64::from(request.priority)));
        self.overdue_had_its_turn = overdue.is_some();
        let (key, request) = *overdue.or_else(|| {
            free.iter().min_by_key(|(_, request)| (-i64::from(request.priority), request.place))
        })?;
        self.pending.remove(&key);
        self.running.insert(key, now);
        Some((key, request.priority))
    }

    pub(super) fn done(&mut self, key: u64) {
        self.running.remove(&key);
    }

    pub(super) fn forget(&mut self, key: u64) {
        self.failures.remove(&key);
    }

    pub(super) fn num_requeues(&self, key: u64) -> u32 {
        self.failures.get(&key).copied().unwrap_or(0)
    }

    pub(super) fn len(&mut self, now: Duration) -> usize {
        self.catch_up(now);
        self.pending.values().filter(|request| request.ready).count()
    }

    pub(super) fn depth_at(&self, priority: i32) -> usize {
        self.pending.values().filter(|request| request.ready && request.priority == priority).count()
    }

    pub(super) fn next_due(&self) -> Option<Duration> {
        self.pending.values().filter(|request| !request.ready).map(|request| request.at).min()
    }

    pub(super) fn running(&self) -> impl Iterator<Item = u64> {
        self.running.keys().copied()
    }

    pub(super) fn shut_down(&mut self) {
        self.shut_down = true;
        self.pending.clear();
    }

    pub(super) fn start_draining(&mut self) {
        if !self.shut_down && !self.draining {
            self.draining = true;
            self.pending.retain(|_, request| request.ready);
        }
    }

    pub(super) fn is_drained(&self) -> bool {
        self.shut_down || (self.draining && self.pending.is_empty() && self.running.is_empty())
    }

    fn catch_up(&mut self, now: Duration) {
        let mut due: Vec<(Duration, u64, u64)> = self
            .pending
            .iter()
            .filter(|(_, request)| !request.ready && request.at <= now)
            .map(|(&key, request)| (request.at, request.place, key))
            .collect();
        due.sort_unstable();
        for (at, _, key) in due {
            self.make_ready(key, at);
        }
    }

    fn make_ready(&mut self, key: u64, since: Duration) {
        let tick = self.next_tick();
        if let Some(request) = self.pending.get_mut(&key) {
            *request = Request { at: since, ready: true, place: tick, ..*request };
            self.adds += 1;
        }
    }

    fn fail(&mut self, key: u64) -> Duration {
        let failures = self.failures.entry(key).or_insert(0);
        let backoff = self.base_delay.saturating_mul(2_u32.saturating_pow(*failures)).min(self.max_delay);
        *failures += 1;
        backoff
    }

    fn next_tick(&mut self) -> u64 {
        self.tick += 1;
        self.tick
    }
}
