//! List, and the selection that watches share with it.

use std::time::Duration;

use base64::{DecodeError, Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::call::Call;
use crate::{
    error::Status,
    object::Document,
    selector::{FieldSelector, LabelSelector},
    storage::{Key, Snapshot},
    wire::{List, ListOptions, Reply, VersionMatch, resource_version},
};

/// `GET` of all objects, or of a page of them.
///
/// Source: apiserver `registry.Store.ListPredicate`, `storage/etcd3.store.GetList`.
pub(super) async fn list(call: &Call) -> Result<Reply, Status> {
    let options = ListOptions::of_list(&call.context.query)?;
    let filter = Filter::read(call, &options)?;
    page(call, &options, &filter).await.map(Reply::List)
}

/// The objects that the options name.
pub(super) async fn page(call: &Call, options: &ListOptions, filter: &Filter) -> Result<List, Status> {
    let from = Continue::read(&options.continue_token)?;
    let start = from.as_ref().map_or("", |from| from.start.as_str());
    let snapshot = snapshot(call, options, from.as_ref()).await?;
    let mut selected = filter.select(&snapshot, call.namespace(), start);
    let Some(limit) = options.limit else {
        let documents = selected.map(|(_, document)| document.clone()).collect();
        return Ok(list_of(call, documents, snapshot.revision, None, None));
    };
    let page: Vec<(&Key, &Document)> = selected.by_ref().take(limit).collect();
    // With a selector nobody counts the rest, upstream neither: that would be a walk to the end for each page.
    let remaining = filter.is_empty().then(|| match from.as_ref().and_then(|from| from.left) {
        Some(left) => left.saturating_sub(page.len()),
        None => snapshot.range(call.namespace(), start).count() - page.len(),
    });
    let documents = page.iter().map(|(_, document)| (*document).clone()).collect();
    let next = selected.next().map(|(key, _)| Continue::at(key, snapshot.revision, remaining).write());
    if next.is_some() {
        call.shared.store.keep(&call.kind.prefix, &snapshot);
    }
    let remaining = remaining.filter(|rest| *rest > 0);
    Ok(list_of(call, documents, snapshot.revision, next, remaining))
}

fn list_of(
    call: &Call,
    documents: Vec<Document>,
    revision: u64,
    continue_token: Option<String>,
    remaining: Option<usize>,
) -> List {
    List { kind: call.kind.clone(), documents, revision, continue_token, remaining }
}

/// The objects at the version that the client asks for.
async fn snapshot(call: &Call, options: &ListOptions, from: Option<&Continue>) -> Result<Snapshot, Status> {
    let (store, prefix) = (&call.shared.store, &call.kind.prefix);
    if let Some(from) = from {
        if !matches!(options.resource_version.as_str(), "" | "0") {
            let text = "specifying resource version is not allowed when using continue";
            return Err(Status::bad_request(text));
        }
        let Ok(revision) = u64::try_from(from.rv) else {
            // The client has agreed to an inconsistent list.
            return Ok(store.snapshot(prefix));
        };
        return store.snapshot_at(prefix, revision).map_err(|_| {
            // What is left then is not what was counted.
            let instead = Continue { rv: -1, left: None, ..from.clone() };
            Status::expired(CONTINUE_EXPIRED).with_continue(instead.write())
        });
    }
    let wanted = resource_version(&options.resource_version)
        .map_err(|error| Status::bad_request(format!("invalid resource version: {error}")))?
        .filter(|version| *version > 0);
    wait_for(call, wanted).await?;
    // With a limit and no word on how the version is meant, it is meant exactly.
    let exact = options.version_match == Some(VersionMatch::Exact)
        || (options.version_match.is_none() && options.limit.is_some());
    match wanted {
        Some(revision) if exact => store
            .snapshot_at(prefix, revision)
            .map_err(|_| Status::expired("The resourceVersion for the provided list is too old.")),
        _ => Ok(store.snapshot(prefix)),
    }
}

/// Waits until the store has reached the version that the client has seen elsewhere.
///
/// Source: apiserver `storage/cacher.watchCache.waitUntilFreshAndBlock`.
pub(super) async fn wait_for(call: &Call, wanted: Option<u64>) -> Result<(), Status> {
    let store = &call.shared.store;
    let Some(wanted) = wanted.filter(|wanted| *wanted > store.revision()) else { return Ok(()) };
    let waited = tokio::time::timeout(FRESHNESS_TIMEOUT, store.reached(wanted)).await;
    waited.map_err(|_| Status::too_large_resource_version(wanted, store.revision()))
}

/// Which objects the client wants.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    /// The name of the only object that is watched, by its path.
    name: String,
    /// Whether the names are those of one namespace only.
    namespaced: bool,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Filter {
    pub(super) fn read(call: &Call, options: &ListOptions) -> Result<Self, Status> {
        let fields = FieldSelector::parse(&options.field_selector, &call.kind.field_labels)
            .map_err(|error| Status::bad_request(error.to_string()))?;
        let (name, namespaced) = (call.info.name.clone(), call.kind.is_namespaced());
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

/// Where a list goes on.
///
/// Source: apiserver `storage.EncodeContinue`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Continue {
    v: String,
    rv: i64,
    start: String,
    /// How many objects are left, where somebody has counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<usize>,
}

impl Continue {
    /// Goes on with the object at `key`.
    fn at(key: &Key, revision: u64, left: Option<usize>) -> Self {
        let rv = i64::try_from(revision).unwrap_or(i64::MAX);
        Self { v: CONTINUE_VERSION.to_owned(), rv, start: key.to_string(), left }
    }

    fn read(token: &str) -> Result<Option<Self>, Status> {
        if token.is_empty() {
            return Ok(None);
        }
        let invalid = |problem: String| {
            Status::bad_request(format!("invalid continue token: continue key is not valid: {problem}"))
        };
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|error| invalid(illegal_base64(&error)))?;
        let read: Self = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        match (read.v.as_str(), read.rv, read.start.as_str()) {
            (CONTINUE_VERSION, 0, _) => {
                Err(invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)".into()))
            }
            (CONTINUE_VERSION, _, "") => {
                Err(invalid("encoded start key empty (version meta.k8s.io/v1)".into()))
            }
            (CONTINUE_VERSION, ..) => Ok(Some(read)),
            (version, ..) => {
                Err(invalid(format!("server does not recognize this encoded version {version}")))
            }
        }
    }

    fn write(&self) -> String {
        // A struct of strings and a number always encodes.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }
}

/// Source: Go's `base64.CorruptInputError`.
fn illegal_base64(error: &DecodeError) -> String {
    let at = match error {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => *at,
        DecodeError::InvalidLength(length) => length - length % 4,
        DecodeError::InvalidPadding => 0,
    };
    format!("illegal base64 data at input byte {at}")
}

const CONTINUE_VERSION: &str = "meta.k8s.io/v1";
const FRESHNESS_TIMEOUT: Duration = Duration::from_secs(3);
const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_the_round_trip() {
        let token = Continue::at(&Key::new("a", "b"), 7, Some(2));
        assert_eq!(Continue::read(&token.write()).unwrap(), Some(token));
    }

    /// As the original answers.
    #[test]
    fn tokens_of_others_are_refused() {
        let encoded = |token: &str| URL_SAFE_NO_PAD.encode(token);
        for (token, problem) in [
            ("%".to_owned(), "illegal base64 data at input byte 0"),
            ("a*".to_owned(), "illegal base64 data at input byte 1"),
            ("abcde".to_owned(), "illegal base64 data at input byte 4"),
            (encoded("{}"), "server does not recognize this encoded version "),
            (
                encoded(r#"{"v":"meta.k8s.io/v1","start":"a"}"#),
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            (encoded(r#"{"v":"meta.k8s.io/v1","rv":5}"#), "encoded start key empty (version meta.k8s.io/v1)"),
        ] {
            let message = format!("invalid continue token: continue key is not valid: {problem}");
            assert_eq!(Continue::read(&token).unwrap_err().message, message);
        }
    }
}
