//! Conversion over HTTP.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use bytes::Bytes;
use http::{Request, StatusCode};
use parking_lot::RwLock;
use prometheus::IntCounter;
use serde_json::Value;

use super::{
    family::{ConvertError, ConvertKind},
    review::{Answer as ReviewAnswer, Question, Review},
};
use crate::{
    error::{self, panic_message},
    http_server::{Answer, Answering, Endpoint, RegisterError, json, text},
};

/// All kinds that a server converts. Clones are handles of one table.
#[derive(Clone)]
pub(in crate::webhook) struct Families {
    kinds: Arc<RwLock<Kinds>>,
    panics: IntCounter,
}

/// By group and kind.
type Kinds = HashMap<(String, String), Arc<dyn ConvertKind>>;

impl Families {
    pub(in crate::webhook) fn new(panics: IntCounter) -> Self {
        Self { kinds: Arc::default(), panics }
    }

    pub(super) fn add(
        &self,
        group: &str,
        kind: &str,
        family: Arc<dyn ConvertKind>,
    ) -> Result<(), RegisterError> {
        match self.kinds.write().entry((group.to_owned(), kind.to_owned())) {
            Entry::Occupied(_) => Err(RegisterError::Taken(format!("{CONVERT_PATH} of {kind}.{group}"))),
            Entry::Vacant(place) => {
                place.insert(family);
                Ok(())
            }
        }
    }

    fn review(&self, request: &Request<Bytes>) -> Answer {
        let review = match serde_json::from_slice::<Review>(request.body()) {
            Ok(review) if review.is_known() => review,
            Ok(review) => {
                let (version, kind) = (review.api_version, review.kind);
                return text(StatusCode::BAD_REQUEST, format!("unsupported review {version}, Kind={kind}"));
            }
            Err(failed) => {
                return text(StatusCode::BAD_REQUEST, format!("failed to read the review: {failed}"));
            }
        };
        let Some(Question { uid, desired_api_version, objects }) = review.request else {
            return text(StatusCode::BAD_REQUEST, "conversion request is nil".to_owned());
        };
        let converting = AssertUnwindSafe(|| {
            let all = objects.into_iter().map(|object| self.convert(object, &desired_api_version));
            all.collect::<Result<Vec<_>, _>>().map_err(|failed| error::chain(&failed))
        });
        let converted = catch_unwind(converting).unwrap_or_else(|panic| {
            self.panics.inc();
            tracing::error!(panic = panic_message(&*panic), uid, "a converter panicked");
            Err("internal error occurred during conversion".to_owned())
        });
        if let Err(reason) = &converted {
            tracing::error!(reason, uid, desired_api_version, "failed to convert objects");
        }
        json(&ReviewAnswer::new(review.api_version, uid, converted))
    }

    fn convert(&self, mut object: Value, to: &str) -> Result<Value, ConvertError> {
        let text = |field: &str| object[field].as_str().map(str::to_owned).ok_or(ConvertError::Nameless);
        let (from, kind) = (text("apiVersion")?, text("kind")?);
        let group = |version: &str| version.split_once('/').map_or("", |(group, _)| group).to_owned();
        let family = self.kinds.read().get(&(group(&from), kind.clone())).cloned();
        let family = family.filter(|_| group(&from) == group(to));
        let family = family.ok_or_else(|| ConvertError::UnknownVersion(format!("{from}, Kind={kind}")))?;
        let metadata = object["metadata"].clone();
        let mut converted = family.convert(object.take(), &from, to)?;
        keep_metadata(&mut converted, metadata);
        converted["apiVersion"] = to.into();
        converted["kind"] = kind.into();
        Ok(converted)
    }
}

/// The metadata as it was, with the labels and annotations of the result: an API server refuses any other change.
///
/// Source: apiextensions `apiserver/conversion.restoreObjectMeta`.
fn keep_metadata(converted: &mut Value, mut original: Value) {
    for field in ["labels", "annotations"] {
        let new = converted.get("metadata").and_then(|metadata| metadata.get(field)).cloned();
        match (new, original.as_object_mut()) {
            (Some(new), _) => original[field] = new,
            (None, Some(original)) => {
                original.remove(field);
            }
            (None, None) => {}
        }
    }
    converted["metadata"] = original;
}

impl Endpoint for Families {
    /// A review has all objects of a list.
    fn max_body_bytes(&self) -> usize {
        32 << 20
    }

    fn answer(&self, request: Request<Bytes>) -> Answering {
        let families = self.clone();
        Box::pin(async move { families.review(&request) })
    }
}

impl fmt::Debug for Families {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.kinds.read().keys()).finish()
    }
}

/// Source: controller-runtime `builder.WebhookBuilder.registerConversionWebhook`.
pub(in crate::webhook) const CONVERT_PATH: &str = "/convert";
