//! Watch: what happens to the selected objects of a resource, read off the log at the reader's own pace.

use std::sync::Arc;

use super::{filter::Filter, resource::Resource};
use crate::{
    error::Status,
    kind::Kind,
    object::Document,
    options::ListOptions,
    storage::{Change, Event, Key, Snapshot, Watcher},
};

/// Something that has happened, as whoever watches sees it.
#[derive(Debug)]
pub(crate) enum WatchEvent {
    Added(Document),
    Modified(Document),
    Deleted(Document),
    /// What was there at the beginning, at this revision, has been told.
    InitialEnd(u64),
    /// Something has happened that cannot be shown.
    Failed(Status),
}

impl WatchEvent {
    fn document(&self) -> Option<&Document> {
        match self {
            Self::Added(document) | Self::Modified(document) | Self::Deleted(document) => Some(document),
            Self::InitialEnd(_) | Self::Failed(_) => None,
        }
    }

    fn document_mut(&mut self) -> Option<&mut Document> {
        match self {
            Self::Added(document) | Self::Modified(document) | Self::Deleted(document) => Some(document),
            Self::InitialEnd(_) | Self::Failed(_) => None,
        }
    }
}

/// What a reader still has to be told.
#[derive(Debug)]
pub(crate) struct Watch {
    kind: Arc<Kind>,
    namespace: String,
    filter: Filter,
    initial: Option<Initial>,
    watcher: Watcher,
}

/// The state that a watch begins with, as far as it has not been told.
#[derive(Debug)]
struct Initial {
    snapshot: Snapshot,
    after: Option<Key>,
}

impl Resource<'_> {
    /// Begins a watch at `version`; `None` for any.
    ///
    /// # Errors
    /// 410 in the second place for a version that nothing is known of any longer: the watch begins, and has nothing
    /// to tell but this.
    ///
    /// Source: apiserver `storage/cacher`.
    pub(crate) async fn watch(
        &self,
        options: &ListOptions,
        filter: Filter,
        version: Option<u64>,
    ) -> Result<Result<Watch, Status>, Status> {
        let wanted = version.filter(|version| *version > 0);
        let initial_events = options.send_initial_events.unwrap_or(wanted.is_none());
        if options.send_initial_events.is_some() {
            self.wait_for(wanted).await?;
        }
        let (store, prefix) = (&self.cluster.store, &self.kind.prefix);
        let (initial, watcher) = match wanted {
            Some(revision) if !initial_events => match store.watch(prefix, revision) {
                Ok(watcher) => (None, watcher),
                Err(expired) => return Ok(Err(Status::expired(expired.to_string()))),
            },
            _ => {
                let (snapshot, watcher) = store.snapshot_and_watch(prefix);
                (initial_events.then_some(Initial { snapshot, after: None }), watcher)
            }
        };
        let namespace = self.namespace().to_owned();
        Ok(Ok(Watch { kind: self.kind.clone(), namespace, filter, initial, watcher }))
    }
}

impl Watch {
    /// The next events that are there, at the version of the reader; none when he is up to date.
    ///
    /// # Errors
    /// 410 when the log has moved past the reader. Nothing follows it.
    pub(crate) async fn read(&mut self) -> Result<Vec<WatchEvent>, Status> {
        let mut events = self.read_kept()?;
        if !self.kind.converter.is_by_name() {
            self.convert(&mut events).await;
        }
        Ok(events)
    }

    /// Converts all objects at once. If that fails, the reader is told so in their place.
    async fn convert(&self, events: &mut Vec<WatchEvent>) {
        let documents = events.iter().filter_map(WatchEvent::document).cloned().collect();
        match self.kind.show_all(documents).await {
            Ok(shown) => {
                for (place, shown) in events.iter_mut().filter_map(WatchEvent::document_mut).zip(shown) {
                    *place = shown;
                }
            }
            Err(status) => {
                events.retain(|event| event.document().is_none());
                events.insert(0, WatchEvent::Failed(status));
            }
        }
    }

    fn read_kept(&mut self) -> Result<Vec<WatchEvent>, Status> {
        if let Some(initial) = &mut self.initial {
            let start = initial.after.as_ref().map(|key| format!("{key}\0")).unwrap_or_default();
            let range = initial.snapshot.range(&self.namespace, &start);
            let selected = range.filter(|(key, document)| self.filter.matches(key, document));
            let found: Vec<(&Key, &Document)> = selected.take(EVENTS_PER_READ).collect();
            let is_last = found.len() < EVENTS_PER_READ;
            let after = found.last().map(|(key, _)| (*key).clone());
            let mut events: Vec<_> =
                found.into_iter().map(|(_, document)| WatchEvent::Added(document.clone())).collect();
            initial.after = after.or_else(|| initial.after.take());
            if is_last {
                events.push(WatchEvent::InitialEnd(initial.snapshot.revision));
                self.initial = None;
            }
            return Ok(events);
        }
        // What nobody has selected is passed over, as long as there is more.
        loop {
            let events = self.watcher.read(EVENTS_PER_READ);
            let events = events.map_err(|expired| Status::expired(expired.to_string()))?;
            let told: Vec<_> = events.iter().filter_map(|event| self.told(event)).collect();
            if !told.is_empty() || events.is_empty() {
                return Ok(told);
            }
        }
    }

    /// Returns once there may be something to read.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn changed(&mut self) {
        self.watcher.changed().await;
    }

    /// The revision up to which everything has been read.
    pub(crate) fn cursor(&self) -> u64 {
        self.watcher.cursor()
    }

    /// An object that begins or ceases to be selected is added or deleted for the reader.
    fn told(&self, event: &Event) -> Option<WatchEvent> {
        let key = &event.key;
        let inside = self.namespace.is_empty()
            || key.as_str().strip_prefix(&self.namespace).is_some_and(|rest| rest.starts_with('/'));
        let matches = |document: &Document| inside && self.filter.matches(key, document);
        match &event.change {
            Change::Created { new } => matches(new).then(|| WatchEvent::Added(new.clone())),
            Change::Updated { old, new } => match (matches(old), matches(new)) {
                (false, false) => None,
                (false, true) => Some(WatchEvent::Added(new.clone())),
                (true, true) => Some(WatchEvent::Modified(new.clone())),
                (true, false) => Some(WatchEvent::Deleted(old.at(event.revision))),
            },
            Change::Deleted { old } => matches(old).then(|| WatchEvent::Deleted(old.at(event.revision))),
        }
    }
}

/// How many events are read at a time: few, so that a frame of large objects stays small.
const EVENTS_PER_READ: usize = 8;
