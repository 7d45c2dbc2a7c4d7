//! The text of all objects, cut where a version has to go in.

use anyhow::{Context, Result};

use super::config_map::ConfigMap;

/// All objects as JSON without kind and version: `"metadata":{…},"data":{…}}`.
#[derive(Debug)]
pub(super) struct Prepared {
    text: Vec<u8>,
    objects: Vec<Place>,
}

/// Where the parts of one object are: up to its version, and after it.
#[derive(Debug, Clone, Copy)]
struct Place {
    begin: usize,
    version: usize,
    end: usize,
}

/// What is written before the object's metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An item of a list, which has no kind of its own.
    Item,
    /// A line of a watch.
    Added,
    /// A line of a watch.
    Modified,
}

impl Prepared {
    pub(super) fn new(objects: usize) -> Result<Self> {
        let mut prepared = Self { text: Vec::new(), objects: Vec::with_capacity(objects) };
        for index in 0..objects {
            let text = serde_json::to_string(&ConfigMap::nth(index))?;
            let rest = text.strip_prefix('{').context("an object is no JSON object")?;
            let version = rest.find(NO_VERSION).context("an object has no place for its version")?;
            let begin = prepared.text.len();
            prepared.text.extend_from_slice(rest.as_bytes());
            let version = begin + version + NO_VERSION.len() - 1;
            prepared.objects.push(Place { begin, version, end: prepared.text.len() });
        }
        Ok(prepared)
    }

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// Writes the object at `index` as it is at `version`.
    pub(super) fn write(&self, output: &mut Vec<u8>, form: Form, index: usize, version: u64) {
        let Place { begin, version: cut, end } = self.objects[index];
        let (head, tail): (&[u8], &[u8]) = match form {
            Form::Item => (b"{", b""),
            Form::Added => (ADDED, b"}\n"),
            Form::Modified => (MODIFIED, b"}\n"),
        };
        output.extend_from_slice(head);
        output.extend_from_slice(&self.text[begin..cut]);
        output.extend_from_slice(version.to_string().as_bytes());
        output.extend_from_slice(&self.text[cut..end]);
        output.extend_from_slice(tail);
    }
}

const NO_VERSION: &str = "\"resourceVersion\":\"\"";
const ADDED: &[u8] = b"{\"type\":\"ADDED\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",";
const MODIFIED: &[u8] = b"{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",";

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::WatchEvent;

    use super::*;

    #[test]
    fn the_same_object_is_written_as_an_item_and_as_an_event_at_any_version() {
        let prepared = Prepared::new(3).unwrap();
        let written = |form, version| {
            let mut output = Vec::new();
            prepared.write(&mut output, form, 1, version);
            output
        };
        let item: ConfigMap = serde_json::from_slice(&written(Form::Item, 7)).unwrap();
        assert_eq!(item.metadata.resource_version.as_deref(), Some("7"));
        let added = serde_json::from_slice(&written(Form::Added, 7)).unwrap();
        let WatchEvent::<ConfigMap>::Added(added) = added else { panic!("{added:?}") };
        assert_eq!(added, item);
        let modified = serde_json::from_slice(&written(Form::Modified, 12_345)).unwrap();
        let WatchEvent::<ConfigMap>::Modified(modified) = modified else { panic!("{modified:?}") };
        assert_eq!(modified.metadata.resource_version.as_deref(), Some("12345"));
        assert_eq!(modified.data, item.data);
    }
}
