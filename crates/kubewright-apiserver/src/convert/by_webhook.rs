//! Versions that a webhook converts.

use std::{sync::Arc, time::Duration};

use crate::value::Value;
use futures::future::BoxFuture;
use http::StatusCode;

use super::{Converter, metadata, review::Review};
use crate::{
    error::{FieldError, Status},
    object::Object,
    webhook::{Caller, Endpoint},
};

/// A webhook is asked about all objects at once that are not at the version already, and all are converted or none.
///
/// Source: apiextensions `apiserver/conversion.webhookConverter`.
#[derive(Debug)]
pub(crate) struct ByWebhook {
    caller: Arc<Caller>,
    endpoint: Endpoint,
    review: Review,
    /// Every `apiVersion` of the resource.
    versions: Vec<String>,
    /// What is wrong with labels and annotations.
    check: fn(&Object) -> Vec<FieldError>,
}

impl ByWebhook {
    /// `webhook` is that of a definition which was stored, so that it is valid.
    pub(crate) fn new(
        webhook: &Value,
        versions: Vec<String>,
        caller: Arc<Caller>,
        check: fn(&Object) -> Vec<FieldError>,
    ) -> Self {
        let endpoint = Endpoint::new(&webhook["clientConfig"], TIMEOUT);
        let review = Review::preferred(&webhook["conversionReviewVersions"]);
        Self { caller, endpoint, review, versions, check }
    }

    async fn convert_all(&self, mut objects: Vec<Object>, api_version: &str) -> Result<Vec<Object>, String> {
        let is_there = |object: &Object| object.str_at("/apiVersion") == api_version;
        if objects.iter().all(is_there) {
            return Ok(objects);
        }
        self.know(&objects, api_version)?;
        let sent: Vec<&mut Object> = objects.iter_mut().filter(|object| !is_there(object)).collect();
        let subject = sent.first().map(|object| named(object)).unwrap_or_default();
        let uid = self.caller.uid();
        let question = self.review.question(&uid, api_version, sent.iter().map(|object| &**object));
        let failed = |reason| format!("conversion webhook for {subject} failed: {reason}");
        let answer = self.caller.ask(&self.endpoint, question).await.map_err(failed)?;
        let converted = self.review.answer(&answer, &uid).map_err(failed)?;
        if converted.len() != sent.len() {
            let (found, expected) = (converted.len(), sent.len());
            return Err(format!(
                "conversion webhook for {subject} returned {found} objects, expected {expected}"
            ));
        }
        let is_single = sent.len() == 1;
        for (index, (original, converted)) in sent.into_iter().zip(converted).enumerate() {
            let converted = self.judged(original, converted, api_version);
            *original = converted.map_err(|fault| {
                format!("conversion webhook for {subject} returned {}", fault.text(index, is_single))
            })?;
        }
        Ok(objects)
    }

    /// Nobody is asked about versions that the resource does not have.
    ///
    /// Source: apiextensions `apiserver/conversion.crConverter.ConvertToVersion`.
    fn know(&self, objects: &[Object], api_version: &str) -> Result<(), String> {
        let is_known = |version: &str| self.versions.iter().any(|known| known == version);
        if !is_known(api_version) {
            return Err(format!("request to convert CR to an invalid group/version: {api_version}"));
        }
        let mut found = objects.iter().map(|object| object.str_at("/apiVersion"));
        match found.find(|version| !is_known(version)) {
            Some(version) => Err(format!("request to convert CR from an invalid group/version: {version}")),
            None => Ok(()),
        }
    }

    /// What the webhook has made of an object, with the metadata that it must not change.
    fn judged(&self, original: &Object, converted: Value, api_version: &str) -> Result<Object, Fault> {
        let Value::Object(converted) = converted else {
            return Err(Fault::Kind(format!("cannot unmarshal {converted} into an object")));
        };
        let mut converted = Object(converted);
        for (field, what, expected) in
            [("/apiVersion", "groupVersion", api_version), ("/kind", "kind", original.str_at("/kind"))]
        {
            let received = converted.str_at(field);
            if received != expected {
                let text = format!("invalid {what} (expected {expected}, received {received})");
                return Err(Fault::Kind(text));
            }
        }
        metadata::compare(original, &converted).map_err(Fault::Object)?;
        metadata::restore(original, &mut converted, self.check).map_err(Fault::Metadata)?;
        Ok(converted)
    }
}

impl Converter for ByWebhook {
    fn convert<'a>(
        &'a self,
        objects: Vec<Object>,
        api_version: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Object>, Status>> {
        Box::pin(async move {
            let failed = |text| Status::new(StatusCode::INTERNAL_SERVER_ERROR, "", text);
            self.convert_all(objects, api_version).await.map_err(failed)
        })
    }
}

/// What is wrong with a converted object.
enum Fault {
    Kind(String),
    Object(String),
    Metadata(String),
}

impl Fault {
    /// Upstream's words for the one object of a request and for one of a list differ.
    fn text(self, index: usize, is_single: bool) -> String {
        match (self, is_single) {
            (Self::Kind(text), true) => format!("invalid object at index {index}: {text}"),
            (Self::Object(text), true) => format!("invalid object: {text}"),
            (Self::Metadata(text), true) => format!("invalid metadata: {text}"),
            (Self::Kind(text) | Self::Object(text), false) => {
                format!("invalid converted object at index {index}: {text}")
            }
            (Self::Metadata(text), false) => format!("invalid metadata in object at index {index}: {text}"),
        }
    }
}

/// `example.com/v1, Kind=Widget`.
fn named(object: &Object) -> String {
    format!("{}, Kind={}", object.str_at("/apiVersion"), object.str_at("/kind"))
}

/// Source: apiserver `util/webhook.defaultRequestTimeout`.
const TIMEOUT: Duration = Duration::from_secs(30);
