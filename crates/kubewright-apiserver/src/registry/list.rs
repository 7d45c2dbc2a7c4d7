//! List.

use super::{continue_token::Continue, filter::Filter, resource::Resource};
use crate::{
    error::Status,
    object::Document,
    options::{ListOptions, VersionMatch, resource_version},
    storage::{Key, Snapshot},
};

/// The objects of a list, or one page of them.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) documents: Vec<Document>,
    pub(crate) revision: u64,
    pub(crate) continue_token: Option<String>,
    pub(crate) remaining: Option<usize>,
}

impl Resource<'_> {
    /// The objects that the options name.
    ///
    /// Source: apiserver `registry.Store.ListPredicate`, `storage/etcd3.store.GetList`.
    pub(crate) async fn list(&self, options: &ListOptions, filter: &Filter) -> Result<Page, Status> {
        let from = Continue::read(&options.continue_token)?;
        let snapshot = self.snapshot(options, from.as_ref()).await?;
        let mut page = self.page(options.limit, filter, from.as_ref(), &snapshot);
        page.documents = self.kind.show_all(page.documents).await?;
        Ok(page)
    }

    /// What is selected, as it is kept.
    fn page(
        &self,
        limit: Option<usize>,
        filter: &Filter,
        from: Option<&Continue>,
        snapshot: &Snapshot,
    ) -> Page {
        let start = from.map_or("", |from| from.start.as_str());
        let revision = snapshot.revision;
        let mut selected = filter.select(snapshot, self.namespace(), start);
        let Some(limit) = limit else {
            let documents = selected.map(|(_, document)| document.clone()).collect();
            return Page { documents, revision, continue_token: None, remaining: None };
        };
        let page: Vec<(&Key, &Document)> = selected.by_ref().take(limit).collect();
        // With a selector nobody counts the rest, upstream neither: that would be a walk to the end for each page.
        let remaining = filter.is_empty().then(|| match from.and_then(|from| from.left) {
            Some(left) => left.saturating_sub(page.len()),
            None => snapshot.range(self.namespace(), start).count() - page.len(),
        });
        let documents = page.iter().map(|(_, document)| (*document).clone()).collect();
        let next = selected.next().map(|(key, _)| Continue::at(key, revision, remaining).write());
        if next.is_some() {
            self.cluster.store.keep(&self.kind.prefix, snapshot);
        }
        Page { documents, revision, continue_token: next, remaining: remaining.filter(|rest| *rest > 0) }
    }

    /// The objects at the version that the client asks for.
    async fn snapshot(&self, options: &ListOptions, from: Option<&Continue>) -> Result<Snapshot, Status> {
        let (store, prefix) = (&self.cluster.store, &self.kind.prefix);
        if let Some(from) = from {
            if !matches!(options.resource_version.as_str(), "" | "0") {
                let text = "specifying resource version is not allowed when using continue";
                return Err(Status::bad_request(text));
            }
            let Ok(revision) = u64::try_from(from.rv) else {
                // The client has agreed to an inconsistent list.
                return Ok(store.snapshot(prefix));
            };
            return store
                .snapshot_at(prefix, revision)
                .map_err(|_| Status::expired(CONTINUE_EXPIRED).with_continue(from.inconsistent().write()));
        }
        let wanted = resource_version(&options.resource_version)
            .map_err(|error| Status::bad_request(format!("invalid resource version: {error}")))?
            .filter(|version| *version > 0);
        self.wait_for(wanted).await?;
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
}

const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
