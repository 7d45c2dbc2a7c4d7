//! Which objects a list or a watch is about.

use super::resource::Resource;
use crate::{
    error::Status,
    object::Document,
    options::ListOptions,
    selector::{FieldSelector, LabelSelector},
    storage::{Key, Snapshot},
};

/// Which objects the client wants.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    /// The name of the only object that is watched, by its path.
    name: String,
    /// Whether the names are those of one namespace only.
    namespaced: bool,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Filter {
    pub(crate) fn read(resource: Resource<'_>, options: &ListOptions) -> Result<Self, Status> {
        let fields = FieldSelector::parse(&options.field_selector, |label| resource.kind.field_label(label))
            .map_err(|error| Status::bad_request(error.to_string()))?;
        let (name, namespaced) = (resource.info.name.clone(), resource.kind.is_namespaced());
        Ok(Self { name, namespaced, labels: options.label_selector.clone(), fields })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.name.is_empty() && self.labels.is_empty() && self.fields.is_empty()
    }

    pub(super) fn matches(&self, key: &Key, document: &Document) -> bool {
        self.name().is_none_or(|name| key.name() == name)
            && self.labels.matches(document.metadata())
            && self.fields.matches(document)
    }

    /// The selected objects of a namespace (all when empty) from the key `start` on, in order.
    pub(super) fn select<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        namespace: &str,
        start: &str,
    ) -> Box<dyn Iterator<Item = (&'a Key, &'a Document)> + 'a> {
        // One name in one namespace is one look, whatever else is there.
        if let Some(name) = self.name().filter(|_| !self.namespaced || !namespace.is_empty()) {
            let key = Key::new(namespace, name);
            let found = snapshot.objects.get_key_value(&key).filter(|(key, _)| key.as_str() >= start);
            return Box::new(found.into_iter().filter(|(key, document)| self.matches(key, document)));
        }
        Box::new(snapshot.range(namespace, start).filter(|(key, document)| self.matches(key, document)))
    }

    /// The only name that can match.
    fn name(&self) -> Option<&str> {
        if self.name.is_empty() { self.fields.name() } else { Some(&self.name) }
    }
}
