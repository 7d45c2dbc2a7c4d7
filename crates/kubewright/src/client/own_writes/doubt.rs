//! Writes of which nobody knows whether they were carried out.

use http::header;
use serde::Deserialize;

use super::{OwnWrites, Write};
use crate::{
    cache::Cache,
    client::{ClientError, request},
    object::{Kind, ObjectKey},
};

/// A write that is under way. Unless it is [settled](Self::settle), because its answer says what became of it, it is remembered as doubtful: also
/// when its caller gives up and drops the future in the middle.
///
/// Before the object is read from the cache again, the API server is asked for its version, and the cache has to reach that. A write that is still on
/// its way when the API server is asked is not covered: nothing on this side can know of it.
#[derive(Debug)]
pub(in crate::client) struct Doubt<'a> {
    own_writes: &'a OwnWrites,
    cache: &'a Cache,
    kind: &'a Kind,
    key: Option<ObjectKey>,
}

impl<'a> Doubt<'a> {
    pub(in crate::client) fn new(
        own_writes: &'a OwnWrites,
        cache: &'a Cache,
        kind: &'a Kind,
        key: &ObjectKey,
    ) -> Self {
        Self { own_writes, cache, kind, key: Some(kind.key(key)) }
    }

    /// The answer says what became of the write; `None`: nothing has changed.
    pub(in crate::client) fn settle(mut self, write: Option<(ObjectKey, Write)>) {
        self.key = None;
        if let Some((key, write)) = write {
            self.own_writes.note(self.cache, self.kind, key, write);
        }
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.own_writes.doubt(self.cache, self.kind, key);
        }
    }
}

/// Stands for the objects of a namespace whose names the API server was to make up.
pub(super) fn nameless(key: &ObjectKey) -> ObjectKey {
    key.sibling("")
}

/// Asks the API server where `key` stands: its version; for a nameless key the latest version of any object of the namespace, since the newest of them may be the one. `None` if there is
/// nothing.
///
/// Whoever has a cache of the kind may list it, but perhaps not get single objects: so this is a list.
pub(super) async fn ask(
    kube: &kube::Client,
    kind: &Kind,
    key: &ObjectKey,
) -> Result<Option<Write>, ClientError> {
    let mut latest: Option<Write> = None;
    let mut page = None;
    loop {
        let list: MetadataList = list_page(kube, kind, key, page.as_deref()).await?;
        for Item { metadata } in list.items.into_iter().flatten() {
            if let Ok(version) = metadata.resource_version.parse()
                && latest.as_ref().is_none_or(|latest| latest.version() < version)
            {
                // Versions of many objects have no uid in common.
                let uid = metadata.uid.filter(|_| !key.name().is_empty());
                latest = Some(Write::stored(version, uid.as_deref()));
            }
        }
        page = list.metadata.r#continue.filter(|it| !it.is_empty());
        if page.is_none() {
            return Ok(latest);
        }
    }
}

async fn list_page(
    kube: &kube::Client,
    kind: &Kind,
    key: &ObjectKey,
    page: Option<&str>,
) -> Result<MetadataList, ClientError> {
    let request = http::Request::get(uri(kind, key, page))
        .header(header::ACCEPT, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
        .body(Vec::new())
        .map_err(kube::Error::HttpError);
    request::send(kube, "list", kind, key.to_string(), request).await
}

fn uri(kind: &Kind, key: &ObjectKey, page: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", "500");
    if !key.name().is_empty() {
        query.append_pair("fieldSelector", &format!("metadata.name={}", key.name()));
    }
    if let Some(page) = page {
        query.append_pair("continue", page);
    }
    format!("{}?{}", kind.collection_path(key.namespace()), query.finish())
}

#[derive(Deserialize)]
struct MetadataList {
    #[serde(default)]
    metadata: ListMeta,
    items: Option<Vec<Item>>,
}

#[derive(Default, Deserialize)]
struct ListMeta {
    r#continue: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    metadata: ItemMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemMeta {
    uid: Option<String>,
    resource_version: String,
}
