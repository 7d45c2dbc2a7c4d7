//! Which events are written, and when: a state machine that knows neither clocks nor sockets.
//!
//! Every `now` is the time since a start that only the journal knows. One event is written by one request at a time, so that a repetition never
//! overtakes the event that it repeats; what happens in the meantime is counted, and written with the next request.

mod similar;
mod spam_filter;
#[cfg(test)]
mod tests;

use std::{collections::VecDeque, num::NonZeroUsize, sync::Arc, time::Duration};

use lru::LruCache;

use self::{similar::Similar, spam_filter::SpamFilter};
use super::{
    event::{NOTE_BYTES, cut},
    occurrence::{EventsApi, Occurrence},
    record::Record,
};

/// The events of late, and those that are to be written.
#[derive(Debug)]
pub(super) struct Journal {
    known: LruCache<Arc<str>, Entry>,
    ready: VecDeque<Arc<str>>,
    similar: Similar,
    spam: SpamFilter,
    last_name: i128,
}

#[derive(Debug)]
struct Entry {
    record: Record,
    /// The count that the API server should have.
    wanted: i32,
    /// The count that it has; zero if the event has not been created.
    stored: i32,
    state: State,
    /// When it happened last.
    seen: Duration,
    /// When it was written last, or refused.
    written: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Ready,
    Writing,
    /// The API server does not want it.
    Refused,
}

/// Something to send.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) key: Arc<str>,
    pub(super) record: Record,
    /// Whether the event is there already, as far as is known.
    pub(super) is_repetition: bool,
}

/// How a write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The event is stored with this count.
    Written(i32),
    /// What should have been repeated is not there any more.
    Gone,
    /// The API server will not have it, now or later.
    Refused,
    /// It was tried often enough.
    GivenUp,
}

impl Journal {
    pub(super) fn new() -> Self {
        Self {
            known: LruCache::new(MAX_KNOWN),
            ready: VecDeque::new(),
            similar: Similar::new(),
            spam: SpamFilter::new(),
            last_name: 0,
        }
    }

    /// Whether more should be taken in: whoever cannot write lets events pile up where they are counted when they are dropped.
    pub(super) fn has_room(&self) -> bool {
        self.ready.len() < MAX_READY
    }

    /// Something has happened.
    pub(super) fn observe(&mut self, mut occurrence: Occurrence, now: Duration) {
        let key: Arc<str> = self.combine(&mut occurrence, now).into();
        let is_allowed = match occurrence.api {
            EventsApi::Series => true,
            EventsApi::Core => self.spam.allows(occurrence.source_key(), now),
        };
        let entry = if let Some(entry) = self.known.get_mut(&key) {
            entry.repeat(occurrence, now);
            entry
        } else {
            // Two may have happened in one tick of the clock, and have two names.
            self.last_name = (self.last_name + 1).max(occurrence.at.as_nanosecond());
            let entry = Entry::new(Record::new(occurrence, self.last_name), now);
            self.known.get_or_insert_mut(key.clone(), || entry)
        };
        // Of a series the first two are told: that it is one. How long it gets is told when it ends.
        if is_allowed && (!entry.is_series() || entry.record.count <= 2) {
            entry.wanted = entry.record.count;
        }
        if entry.becomes_ready() {
            self.ready.push_back(key);
        }
    }

    /// What to send next.
    pub(super) fn next(&mut self) -> Option<Write> {
        loop {
            let key = self.ready.pop_front()?;
            // One that has been forgotten in the meantime is as if it had been dropped.
            if let Some(entry) = self.known.peek_mut(&key) {
                entry.state = State::Writing;
                return Some(Write { key, record: entry.record.clone(), is_repetition: entry.stored > 0 });
            }
        }
    }

    /// What was sent has come to its end.
    pub(super) fn done(&mut self, key: Arc<str>, outcome: Outcome, now: Duration) {
        let Some(entry) = self.known.peek_mut(&key) else { return };
        entry.written = now;
        entry.state = State::Idle;
        match outcome {
            Outcome::Written(count) => entry.stored = count,
            Outcome::Gone => entry.stored = 0,
            Outcome::Refused => entry.state = State::Refused,
            // What happens next is an event of its own.
            Outcome::GivenUp => {
                self.known.pop(&key);
                return;
            }
        }
        if entry.becomes_ready() {
            self.ready.push_back(key);
        }
    }

    /// Ends series that are over, and says how long the others are by now. To be called every [`TICK`].
    pub(super) fn tick(&mut self, now: Duration) {
        let mut over = Vec::new();
        for (key, entry) in &mut self.known {
            match entry.turn(now) {
                Turn::Over => over.push(key.clone()),
                Turn::Tell => entry.wanted = entry.record.count,
                Turn::Stay => {}
            }
            if entry.becomes_ready() {
                self.ready.push_back(key.clone());
            }
        }
        for key in over {
            self.known.pop(&key);
        }
    }

    /// Nothing more will happen: all series are told how long they are.
    pub(super) fn flush(&mut self) {
        for (key, entry) in &mut self.known {
            if entry.is_series() {
                entry.wanted = entry.record.count;
            }
            if entry.becomes_ready() {
                self.ready.push_back(key.clone());
            }
        }
    }

    /// How many events have not been written as they should be.
    pub(super) fn unwritten(&self) -> usize {
        self.known.iter().filter(|(_, entry)| entry.is_unwritten()).count()
    }

    /// The key of an event, which is that of its whole group if the group says too much.
    fn combine(&mut self, occurrence: &mut Occurrence, now: Duration) -> String {
        let (key, group) = (occurrence.key(), occurrence.similar_key());
        let event = &mut occurrence.event;
        if occurrence.api == EventsApi::Core && self.similar.is_combined(group.clone(), &event.note, now) {
            event.note = cut(format!("(combined from similar events): {}", event.note).into(), NOTE_BYTES);
            event.annotations.clear();
            return group;
        }
        key
    }
}

enum Turn {
    Over,
    Tell,
    Stay,
}

impl Entry {
    fn new(record: Record, now: Duration) -> Self {
        Self { record, wanted: 0, stored: 0, state: State::Idle, seen: now, written: now }
    }

    fn repeat(&mut self, occurrence: Occurrence, now: Duration) {
        self.record.count = self.record.count.saturating_add(1);
        self.record.last = occurrence.at;
        if !self.is_series() {
            self.record.first.event.note = occurrence.event.note;
        }
        self.seen = now;
    }

    /// Source: client-go `tools/events.finishSeries` and `refreshExistingEventSeries`.
    fn turn(&self, now: Duration) -> Turn {
        let (quiet, old) = (now.saturating_sub(self.seen), now.saturating_sub(self.written));
        match self.state {
            // As if it had never been heard of: it may be accepted now.
            State::Refused if old >= FINISH => Turn::Over,
            State::Idle if self.is_series() && self.record.count > self.stored => {
                if quiet >= FINISH || old >= REFRESH { Turn::Tell } else { Turn::Stay }
            }
            State::Idle if self.is_series() && quiet >= FINISH => Turn::Over,
            _ => Turn::Stay,
        }
    }

    fn is_series(&self) -> bool {
        self.record.first.api == EventsApi::Series
    }

    fn is_unwritten(&self) -> bool {
        self.wanted > self.stored && self.state != State::Refused
    }

    fn becomes_ready(&mut self) -> bool {
        let becomes = self.state == State::Idle && self.is_unwritten();
        if becomes {
            self.state = State::Ready;
        }
        becomes
    }
}

/// How many events are known, at most: 4096, some kB each.
///
/// Source: client-go `tools/record.maxLruCacheEntries`; its series have no limit.
pub(super) const MAX_KNOWN: NonZeroUsize = NonZeroUsize::new(4096).expect("4096 is not zero");
/// How many events wait to be written, at most.
const MAX_READY: usize = 1000;
/// How precise the times of series are. client-go looks once in six, and once in thirty minutes.
pub(super) const TICK: Duration = Duration::from_secs(60);
/// Source: client-go `tools/events.finishTime`.
const FINISH: Duration = Duration::from_secs(6 * 60);
/// Source: client-go `tools/events.refreshTime`.
const REFRESH: Duration = Duration::from_secs(30 * 60);
