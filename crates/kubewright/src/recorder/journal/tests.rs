use jiff::Timestamp;

use super::*;
use crate::recorder::test::occurrence;

/// A journal, the API server behind it, and the time.
struct World {
    journal: Journal,
    api: EventsApi,
    now: Duration,
    next_tick: Duration,
    /// How the next writes end; written, after these.
    outcomes: Vec<Outcome>,
}

impl World {
    fn new(api: EventsApi) -> Self {
        let next_tick = Duration::from_secs(1000) + TICK;
        Self { journal: Journal::new(), api, now: Duration::from_secs(1000), next_tick, outcomes: Vec::new() }
    }

    fn happens(&mut self, note: &str) {
        let mut told = occurrence(self.api, "Reason", note);
        told.at = Timestamp::from_second(i64::try_from(self.now.as_secs()).unwrap()).unwrap();
        self.journal.observe(told, self.now);
    }

    /// Lets time pass, and says what is written at its end.
    fn passes(&mut self, seconds: u64) -> Vec<(bool, i32)> {
        let until = self.now + Duration::from_secs(seconds);
        let mut written = self.written();
        while self.next_tick <= until {
            self.now = self.next_tick;
            self.next_tick += TICK;
            self.journal.tick(self.now);
            written.extend(self.written());
        }
        self.now = until;
        written
    }

    /// What is written now: whether it is a repetition, and its count.
    fn written(&mut self) -> Vec<(bool, i32)> {
        self.sent().iter().map(|write| (write.is_repetition, write.record.count)).collect()
    }

    fn sent(&mut self) -> Vec<Write> {
        let mut sent = Vec::new();
        while let Some(write) = self.journal.next() {
            self.end(&write);
            sent.push(write);
        }
        sent
    }

    fn end(&mut self, write: &Write) {
        let outcome = self.outcomes.pop().unwrap_or(Outcome::Written(write.record.count));
        self.journal.done(write.key.clone(), outcome, self.now);
    }
}

const FIRST: (bool, i32) = (false, 1);

#[test]
fn the_second_makes_a_series_and_its_length_is_told_when_it_ends() {
    let mut world = World::new(EventsApi::Series);
    world.happens("a");
    assert_eq!(world.written(), [FIRST]);
    world.happens("b");
    assert_eq!(world.written(), [(true, 2)]);
    for _ in 0..98 {
        world.happens("c");
    }
    assert_eq!(world.passes(359), []);
    assert_eq!(world.passes(61), [(true, 100)]);
    // Over: the next one is a new event.
    assert_eq!(world.passes(60), []);
    world.happens("a");
    assert_eq!(world.written(), [FIRST]);
}

#[test]
fn a_series_that_goes_on_is_told_every_half_hour() {
    let mut world = World::new(EventsApi::Series);
    for _ in 0..2 {
        world.happens("a");
    }
    assert_eq!(world.written(), [(false, 2)]);
    let mut told = Vec::new();
    for minute in 1..=90 {
        world.happens("a");
        told.extend(world.passes(60).into_iter().map(|(_, count)| (minute, count)));
    }
    assert_eq!(told, [(30, 32), (60, 62), (90, 92)]);
}

#[test]
fn what_happened_once_is_forgotten_after_six_minutes() {
    let mut world = World::new(EventsApi::Series);
    world.happens("a");
    assert_eq!(world.passes(420), [FIRST]);
    world.happens("a");
    assert_eq!(world.written(), [FIRST]);
}

/// client-go sends both at once, and the repetition may be there before what it repeats.
#[test]
fn a_repetition_never_overtakes_what_it_repeats() {
    let mut world = World::new(EventsApi::Series);
    world.happens("a");
    let first = world.journal.next().unwrap();
    world.happens("a");
    world.happens("a");
    assert!(world.journal.next().is_none(), "the first is on its way");
    world.end(&first);
    assert_eq!(world.written(), [(true, 3)]);
}

#[test]
fn the_same_words_are_counted_with_each_repetition() {
    let mut world = World::new(EventsApi::Core);
    for count in 1..=5 {
        world.happens("a");
        assert_eq!(world.written(), [(count > 1, count)]);
    }
    world.happens("b");
    assert_eq!(world.written(), [FIRST]);
}

#[test]
fn the_tenth_of_similar_events_combines_those_that_follow() {
    let mut world = World::new(EventsApi::Core);
    for note in 0..9 {
        world.happens(&note.to_string());
    }
    assert_eq!(world.written(), [FIRST; 9]);
    world.happens("9");
    world.happens("10");
    let [combined] = &world.sent()[..] else { panic!("one event for both") };
    assert_eq!((combined.is_repetition, combined.record.count), (false, 2));
    assert_eq!(combined.record.first.event.note, "(combined from similar events): 10");
    world.happens("11");
    let [combined] = &world.sent()[..] else { panic!("the same event") };
    assert_eq!(combined.record.first.event.note, "(combined from similar events): 11");
    assert_eq!(combined.record.core_patch()["count"], 3);
}

#[test]
fn what_is_too_much_is_counted_and_not_written() {
    let mut world = World::new(EventsApi::Core);
    let mut written = Vec::new();
    for _ in 0..40 {
        world.happens("a");
        written.extend(world.written());
    }
    assert_eq!((written.len(), written.last()), (25, Some(&(true, 25))));
    assert_eq!(world.passes(300), []);
    world.happens("a");
    assert_eq!(world.written(), [(true, 41)]);
}

#[test]
fn what_is_refused_is_not_sent_again_for_six_minutes() {
    for api in [EventsApi::Series, EventsApi::Core] {
        let mut world = World::new(api);
        world.outcomes = vec![Outcome::Refused];
        world.happens("a");
        assert_eq!(world.written(), [FIRST]);
        for _ in 0..5 {
            world.happens("a");
            assert_eq!(world.passes(60), []);
        }
        assert_eq!(world.journal.unwritten(), 0);
        world.passes(60);
        world.happens("a");
        assert_eq!(world.written(), [FIRST], "as if it had never been heard of");
    }
}

#[test]
fn what_was_given_up_is_forgotten() {
    let mut world = World::new(EventsApi::Series);
    world.outcomes = vec![Outcome::GivenUp];
    world.happens("a");
    assert_eq!(world.written(), [FIRST]);
    assert_eq!(world.passes(3600), []);
    world.happens("a");
    assert_eq!(world.written(), [FIRST]);
}

#[test]
fn what_is_gone_is_written_anew_as_a_whole() {
    for api in [EventsApi::Series, EventsApi::Core] {
        let mut world = World::new(api);
        world.happens("a");
        assert_eq!(world.written(), [FIRST]);
        world.outcomes = vec![Outcome::Gone];
        world.happens("a");
        assert_eq!(world.written(), [(true, 2), (false, 2)]);
    }
}

/// The answer to the first was lost, and it has been counted since.
#[test]
fn what_turns_out_to_be_there_is_brought_up_to_date() {
    let mut world = World::new(EventsApi::Series);
    world.happens("a");
    world.happens("a");
    world.outcomes = vec![Outcome::Written(1)];
    assert_eq!(world.written(), [(false, 2), (true, 2)]);
}

#[test]
fn at_the_end_all_series_are_told_how_long_they_are() {
    let mut world = World::new(EventsApi::Series);
    for _ in 0..3 {
        world.happens("a");
        world.written();
    }
    world.journal.flush();
    assert_eq!(world.written(), [(true, 3)]);
    world.journal.flush();
    assert_eq!(world.written(), []);
}

#[test]
fn many_events_take_a_bounded_place() {
    let mut world = World::new(EventsApi::Series);
    for event in 0..10_000 {
        let mut told = occurrence(EventsApi::Series, &event.to_string(), "");
        told.at = Timestamp::UNIX_EPOCH;
        world.journal.observe(told, world.now);
        assert_eq!(world.journal.has_room(), event < 999);
    }
    assert_eq!(world.journal.known.len(), MAX_KNOWN.get());
    assert_eq!(world.journal.unwritten(), MAX_KNOWN.get());
    let sent = world.sent();
    assert_eq!(sent.len(), MAX_KNOWN.get());
    let names: std::collections::HashSet<_> = sent.iter().map(|write| &write.record.name).collect();
    assert_eq!(names.len(), sent.len(), "no two have one name");
}
