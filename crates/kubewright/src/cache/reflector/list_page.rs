//! One page of a list; the objects are still text.

use super::failure::Failure;
use crate::{cache::json, object::Kind};

/// The parts of a list answer.
pub(super) struct ListPage {
    pub(super) resource_version: u64,
    /// Where the next page starts; empty after the last one.
    pub(super) next: String,
    /// Where the array of items starts; some servers write `null` for an empty one.
    items: Option<usize>,
}

impl ListPage {
    /// Hands out the items. In lists of built-in kinds they do not say what they are, as the list does; here they are told, so that an object
    /// reads the same whether a list or a watch brought it.
    pub(super) fn for_each_item(
        &self,
        body: &[u8],
        kind: &Kind,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        let Some(items) = self.items else { return Ok(()) };
        let types = format!(r#"{{"apiVersion":"{}","kind":"{}","#, kind.api_version(), kind.kind());
        // All items are alike.
        let mut say_what_they_are = None;
        for item in json::elements(body, items).map_err(Failure::malformed)? {
            let item = &body[item.map_err(Failure::malformed)?];
            let says_what_it_is = || json::value_start(item, 0, b"kind").is_ok_and(|value| value.is_some());
            match item.strip_prefix(b"{") {
                Some(members) if !*say_what_they_are.get_or_insert_with(says_what_it_is) => {
                    take(&[types.as_bytes(), members].concat());
                }
                _ => take(item),
            }
        }
        Ok(())
    }

    pub(super) fn parse(body: &[u8]) -> Result<Self, Failure> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            resource_version: String,
            #[serde(default, rename = "continue")]
            next: Option<String>,
        }
        let (mut metadata, mut items) = (None, None);
        for member in json::members(body, 0).map_err(Failure::malformed)? {
            let member = member.map_err(Failure::malformed)?;
            match member.key {
                b"metadata" => metadata = Some(member.value),
                b"items" => items = Some((body[member.value.start] == b'[').then_some(member.value.start)),
                _ => {}
            }
        }
        let (Some(metadata), Some(items)) = (metadata, items) else {
            return Err(Failure::malformed("a list has no metadata or no items"));
        };
        let metadata: Metadata = serde_json::from_slice(&body[metadata]).map_err(Failure::malformed)?;
        Ok(Self {
            resource_version: metadata.resource_version.parse().map_err(Failure::malformed)?,
            next: metadata.next.unwrap_or_default(),
            items,
        })
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;

    #[track_caller]
    fn items(body: &str) -> Vec<String> {
        let mut items = Vec::new();
        let page = ListPage::parse(body.as_bytes()).unwrap();
        let take = |item: &[u8]| items.push(String::from_utf8(item.to_vec()).unwrap());
        page.for_each_item(body.as_bytes(), &Kind::of::<Pod>(), take).unwrap();
        items
    }

    #[test]
    fn items_say_what_they_are_whatever_the_server_writes() {
        let metadata = r#""metadata":{"resourceVersion":"7"}"#;
        assert_eq!(
            items(&format!(r#"{{{metadata},"items":[{{"a":1}}]}}"#)),
            [r#"{"apiVersion":"v1","kind":"Pod","a":1}"#]
        );
        let told = r#"{"kind":"Pod","apiVersion":"v1"}"#;
        assert_eq!(items(&format!(r#"{{"items":[{told}],{metadata}}}"#)), [told]);
        assert_eq!(items(&format!(r#"{{"items":null,{metadata}}}"#)), [""; 0]);
    }

    #[test]
    fn a_page_says_where_the_next_one_starts() {
        let next = |metadata: &str| {
            ListPage::parse(format!(r#"{{"metadata":{{{metadata}}},"items":[]}}"#).as_bytes()).unwrap().next
        };
        assert_eq!(next(r#""resourceVersion":"7","continue":"abc""#), "abc");
        assert_eq!(next(r#""resourceVersion":"7""#), "");
        for malformed in ["{}", r#"{"metadata":{},"items":[]}"#, r#"{"metadata":{"resourceVersion":"7"}}"#] {
            assert!(
                matches!(ListPage::parse(malformed.as_bytes()), Err(Failure::Malformed(_))),
                "{malformed}"
            );
        }
    }
}
