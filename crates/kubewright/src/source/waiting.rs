//! Events that could not be handled yet.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

use crate::{event::Event, object::ObjectKey, workqueue::default_backoff};

/// Events that wait for another try, in order for each object. Pure: time comes in as an argument.
#[derive(Debug)]
pub(super) struct Waiting<V> {
    by_object: HashMap<ObjectKey, Backlog<V>>,
    due: BTreeSet<(Instant, ObjectKey)>,
}

/// The events of one object. While its first one waits, the others wait behind it.
#[derive(Debug)]
struct Backlog<V> {
    events: VecDeque<Event<V>>,
    failures: u32,
}

impl<V> Waiting<V> {
    pub(super) fn new() -> Self {
        Self { by_object: HashMap::new(), due: BTreeSet::new() }
    }

    /// Puts `event` behind those of its object that wait, if any do; else gives it back.
    ///
    /// [`MAX_EVENTS`] bounds what an object that never succeeds takes: beyond it, the older ones of those that wait are merged.
    pub(super) fn line_up(&mut self, event: Event<V>) -> Option<Event<V>> {
        let Some(backlog) = self.by_object.get_mut(event.object().key()) else { return Some(event) };
        backlog.events.push_back(event);
        // The first one has been tried already, perhaps in part: it comes again as it was.
        if backlog.events.len() > MAX_EVENTS
            && let (Some(earlier), Some(later)) = (backlog.events.remove(1), backlog.events.remove(1))
        {
            backlog.events.insert(1, merged(earlier, later));
        }
        None
    }

    /// Takes an event back that has failed; the first of its object. Gives the time until it is tried again: that of a request that failed as often.
    pub(super) fn failed(&mut self, event: Event<V>, now: Instant) -> Duration {
        let key = event.object().key().clone();
        let new = || Backlog { events: VecDeque::new(), failures: 0 };
        let backlog = self.by_object.entry(key.clone()).or_insert_with(new);
        let wait = default_backoff(backlog.failures);
        backlog.failures += 1;
        backlog.events.push_front(event);
        self.due.insert((now + wait, key));
        wait
    }

    /// How many objects have events that wait.
    pub(super) fn objects(&self) -> usize {
        self.by_object.len()
    }

    /// When the next event is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
    }

    /// The event that is due, whose outcome has to be told: [`failed`](Self::failed) or [`succeeded`](Self::succeeded).
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Event<V>> {
        self.due.first().filter(|(due, _)| *due <= now)?;
        let (_, key) = self.due.pop_first()?;
        self.by_object.get_mut(&key)?.events.pop_front()
    }

    /// The event of this object that was due has been handled. The one behind it is due now.
    pub(super) fn succeeded(&mut self, key: &ObjectKey, now: Instant) {
        let Some(backlog) = self.by_object.get_mut(key) else { return };
        if backlog.events.is_empty() {
            self.by_object.remove(key);
        } else {
            backlog.failures = 0;
            self.due.insert((now, key.clone()));
        }
    }
}

/// One event instead of two of the same object: from the state before the first to the state after the second. The state between them is not heard of.
fn merged<V>(earlier: Event<V>, later: Event<V>) -> Event<V> {
    match (earlier, later) {
        (Event::Update { object_old, .. }, Event::Update { object_new, .. }) => {
            Event::Update { object_old, object_new }
        }
        (Event::Create { is_in_initial_list, .. }, Event::Update { object_new, .. }) => {
            Event::Create { object: object_new, is_in_initial_list }
        }
        (Event::Delete { object, .. }, Event::Create { object: anew, .. }) => {
            Event::Update { object_old: object, object_new: anew }
        }
        (_, later) => later,
    }
}

/// An object seldom has more states than this in the time between a failure and its retry.
const MAX_EVENTS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Observed;
    use k8s_openapi::api::core::v1::ConfigMap;

    /// The `number`th event of the object `name`.
    fn event(name: &str, number: usize) -> Event<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(name.to_owned());
        object.metadata.resource_version = Some(number.to_string());
        Event::Generic { object: Observed::from(object) }
    }

    fn number(event: &Event<ConfigMap>) -> u64 {
        event.object().resource_version().unwrap().to_string().parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn backoff_doubles_up_to_its_bound_and_starts_anew_after_a_success() {
        let (mut waiting, mut now) = (Waiting::new(), Instant::now());
        let mut waits = vec![waiting.failed(event("a", 1), now)];
        assert!(waiting.line_up(event("a", 2)).is_none());
        for _ in 0..20 {
            now = waiting.next_due().unwrap();
            let due = waiting.take_due(now).unwrap();
            waits.push(waiting.failed(due, now));
        }
        assert_eq!(waits[..3].iter().map(Duration::as_millis).collect::<Vec<_>>(), [5, 10, 20]);
        assert_eq!(waits[20], Duration::from_secs(1000));
        now = waiting.next_due().unwrap();
        assert_eq!(number(&waiting.take_due(now).unwrap()), 1);
        waiting.succeeded(event("a", 1).object().key(), now);
        let second = waiting.take_due(now).unwrap();
        assert_eq!(number(&second), 2);
        assert_eq!(waiting.failed(second, now).as_millis(), 5);
    }

    #[test]
    fn merged_events_go_from_the_first_state_to_the_last() {
        let object = |version: u64| {
            let mut object = ConfigMap::default();
            object.metadata.resource_version = Some(version.to_string());
            Observed::from(object)
        };
        let create = |new| Event::Create { object: object(new), is_in_initial_list: false };
        let update = |old, new| Event::Update { object_old: object(old), object_new: object(new) };
        let delete = |last| Event::Delete { object: object(last), delete_state_unknown: false };
        let generic = |of| Event::Generic { object: object(of) };
        for (earlier, later, expected) in [
            (create(1), update(1, 2), "create 2"),
            (create(1), delete(1), "delete 1"),
            (update(1, 2), update(2, 3), "update 1 to 3"),
            (update(1, 2), delete(2), "delete 2"),
            (delete(1), create(2), "update 1 to 2"),
            (generic(1), generic(2), "generic 2"),
        ] {
            let merged = merged(earlier, later);
            let new = number(&merged);
            let said = match &merged {
                Event::Create { .. } => format!("create {new}"),
                Event::Update { object_old, .. } => {
                    format!("update {} to {new}", object_old.resource_version().unwrap())
                }
                Event::Delete { .. } => format!("delete {new}"),
                Event::Generic { .. } => format!("generic {new}"),
            };
            assert_eq!(said, expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_that_never_succeeds_keeps_its_oldest_event_and_the_newest() {
        let (mut waiting, now) = (Waiting::new(), Instant::now());
        waiting.failed(event("a", 1), now);
        for next in 2..=1000 {
            assert!(waiting.line_up(event("a", next)).is_none());
        }
        let mut handled = Vec::new();
        while let Some(due) = waiting.next_due() {
            let event = waiting.take_due(due).unwrap();
            handled.push(number(&event));
            waiting.succeeded(event.object().key(), due);
        }
        assert_eq!(handled.len(), MAX_EVENTS);
        assert_eq!((handled[0], handled[1], handled[MAX_EVENTS - 1]), (1, 986, 1000));
        assert!(waiting.by_object.is_empty());
    }
}
