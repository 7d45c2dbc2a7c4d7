//! The few fields of an object that the cache needs without decoding it.

use std::{borrow::Cow, ops::Range};

use crate::{
    cache::json::{self, ScanError},
    object::ObjectKey,
};

/// What was found in the `metadata` of an object's JSON.
#[derive(Debug, Default)]
pub(crate) struct Header<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) namespace: Option<Cow<'a, str>>,
    pub(crate) uid: Cow<'a, str>,
    pub(crate) resource_version: u64,
    pub(crate) generation: Option<i64>,
    /// The text of `metadata.labels`, if there are any.
    pub(crate) labels: Option<&'a [u8]>,
    /// What to cut so that `metadata.managedFields` is gone.
    pub(crate) managed_fields: Option<Range<usize>>,
}

/// Why an object cannot be taken into the cache.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HeaderError {
    /// The server sent something that is not JSON.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The server sent JSON that is not an object of Kubernetes.
    #[error("the object has no {0}")]
    Missing(&'static str),
}

impl<'a> Header<'a> {
    /// Reads the header of `object`; reads no further than the end of `metadata`.
    pub(crate) fn scan(object: &'a [u8]) -> Result<Self, HeaderError> {
        let (mut header, resource_version) = Self::scan_named(object)?;
        header.resource_version = resource_version.ok_or(HeaderError::Missing(RESOURCE_VERSION))?;
        Ok(header)
    }

    /// Which object it is, of one whose header may lack everything else.
    pub(crate) fn scan_key(object: &'a [u8]) -> Option<ObjectKey> {
        let (header, _) = Self::scan_named(object).ok()?;
        Some(ObjectKey::from_parts(header.namespace.as_deref().map(Into::into), header.name.as_ref().into()))
    }

    /// What there is of the header, and the version if it is one.
    fn scan_named(object: &'a [u8]) -> Result<(Self, Option<u64>), HeaderError> {
        let metadata = json::value_start(object, 0, b"metadata")?.ok_or(HeaderError::Missing("metadata"))?;
        let (mut header, mut resource_version) = (Self::default(), None);
        for member in json::members(object, metadata)? {
            let member = member?;
            let value = &object[member.value.clone()];
            match member.key {
                b"name" => header.name = string(value).unwrap_or_default(),
                b"namespace" => header.namespace = string(value).filter(|it| !it.is_empty()),
                b"uid" => header.uid = string(value).unwrap_or_default(),
                b"resourceVersion" => {
                    resource_version = string(value).and_then(|version| version.parse().ok());
                }
                b"generation" => header.generation = serde_json::from_slice(value).ok(),
                b"labels" => header.labels = Some(value).filter(|it| it.starts_with(b"{")),
                b"managedFields" => header.managed_fields = Some(member.cut),
                _ => {}
            }
        }
        if header.name.is_empty() {
            return Err(HeaderError::Missing("metadata.name"));
        }
        Ok((header, resource_version))
    }

    /// The text of `metadata.ownerReferences`; `None` if there are none.
    pub(crate) fn find_owners(object: &[u8]) -> Option<&[u8]> {
        let metadata = json::value_start(object, 0, b"metadata").ok()??;
        let owners = json::value_start(object, metadata, b"ownerReferences").ok()??;
        Some(&object[owners..json::skip_value(object, owners).ok()?])
    }

    /// The range of `metadata` in `object`.
    pub(crate) fn find_metadata(object: &[u8]) -> Result<Range<usize>, HeaderError> {
        let start = json::value_start(object, 0, b"metadata")?.ok_or(HeaderError::Missing("metadata"))?;
        Ok(start..json::skip_value(object, start)?)
    }
}

/// Versions have been comparable numbers for every API server since Kubernetes 1.35.
///
/// Source: KEP-5504, comparable resource versions.
const RESOURCE_VERSION: &str = "decimal metadata.resourceVersion";

fn string(value: &[u8]) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_some() {
        return serde_json::from_slice::<String>(value).ok().map(Cow::Owned);
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_field_wherever_metadata_stands() {
        let object = br#"{"data":{"metadata":"}"},"metadata":{"managedFields":[{"a":"]"}],"name":"w\u0065b","namespace":"shop",
            "uid":"u-1","resourceVersion":"42","generation":3,"labels":{"app":"web"}},"spec":{}}"#;
        let header = Header::scan(object).unwrap();
        assert_eq!(header.name, "web");
        assert_eq!(header.namespace.as_deref(), Some("shop"));
        assert_eq!(header.uid, "u-1");
        assert_eq!(header.resource_version, 42);
        assert_eq!(header.generation, Some(3));
        assert_eq!(header.labels, Some(br#"{"app":"web"}"#.as_slice()));
        assert!(object[header.managed_fields.unwrap()].starts_with(b"\"managedFields\""));
    }

    #[test]
    fn what_comes_after_metadata_is_not_read() {
        let header =
            Header::scan(br#"{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"broken"#).unwrap();
        assert_eq!((header.name.as_ref(), header.namespace, header.generation), ("a", None, None));
    }

    #[test]
    fn an_object_without_a_name_or_a_version_is_refused() {
        let refused = |text: &str| Header::scan(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(refused(r#"{"metadata":{}}"#), "the object has no metadata.name");
        assert_eq!(
            refused(r#"{"metadata":{"name":"a","resourceVersion":"x"}}"#),
            "the object has no decimal metadata.resourceVersion"
        );
        assert_eq!(refused(r#"{"kind":"Pod"}"#), "the object has no metadata");
        assert!(refused("[]").starts_with("malformed JSON"));
    }
}
