//! Validation.

use std::{future::Future, marker::PhantomData};

use http::StatusCode;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{AdmissionRequest, AdmissionResponse, Handler, Operation, finalizers::only_removes_finalizers};
use crate::{BoxError, error};

/// Refuses objects. Each method allows everything by default.
///
/// It is not called for updates that only take finalizers from a deleting object.
///
/// Source: controller-runtime `admission.Validator`.
pub trait Validator<T: Sync>: Send + Sync + 'static {
    /// Why a request is refused. The error of an API call goes on to the client with its status; any other forbids the request.
    type Error: Into<BoxError> + 'static;

    /// Judges an object that is to be created.
    fn validate_create(
        &self,
        _request: &AdmissionRequest,
        _object: &T,
        _warnings: &Warnings,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        async { Ok(()) }
    }

    /// Judges a change, from `old` to `new`.
    fn validate_update(
        &self,
        _request: &AdmissionRequest,
        _old: &T,
        _new: &T,
        _warnings: &Warnings,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        async { Ok(()) }
    }

    /// Judges the deletion of an object.
    fn validate_delete(
        &self,
        _request: &AdmissionRequest,
        _object: &T,
        _warnings: &Warnings,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        async { Ok(()) }
    }
}

/// What the client is to be told, whether the request passes or not.
#[derive(Debug, Default)]
pub struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    /// Adds one. Keep it under 120 characters; clients may cut it.
    pub fn add(&self, warning: impl Into<String>) {
        self.0.lock().push(warning.into());
    }
}

/// A [`Validator`] as a handler.
pub(in crate::webhook) struct Validating<V, T>(
    pub(in crate::webhook) V,
    pub(in crate::webhook) PhantomData<fn(T)>,
);

impl<V, T> Handler for Validating<V, T>
where
    V: Validator<T>,
    T: DeserializeOwned + Send + Sync + 'static,
{
    async fn handle(&self, request: &AdmissionRequest) -> AdmissionResponse {
        if only_removes_finalizers(request) {
            return AdmissionResponse::allowed();
        }
        let warnings = Warnings::default();
        let response = match self.judge(request, &warnings).await {
            Ok(Ok(())) => AdmissionResponse::allowed(),
            Ok(Err(refused)) => AdmissionResponse::of_error(&error::boxed(refused)),
            Err(unreadable) => AdmissionResponse::errored(StatusCode::BAD_REQUEST, unreadable),
        };
        response.with_warnings(warnings.0.into_inner())
    }
}

impl<V, T> Validating<V, T>
where
    V: Validator<T>,
    T: DeserializeOwned + Send + Sync + 'static,
{
    /// What the author says; or why the request cannot be read.
    async fn judge(
        &self,
        request: &AdmissionRequest,
        warnings: &Warnings,
    ) -> Result<Result<(), V::Error>, String> {
        let validator = &self.0;
        Ok(match request.operation {
            Operation::Create => {
                let object = decode(request.object.as_ref())?;
                validator.validate_create(request, &object, warnings).await
            }
            Operation::Update => {
                let (old, new) = (decode(request.old_object.as_ref())?, decode(request.object.as_ref())?);
                validator.validate_update(request, &old, &new, warnings).await
            }
            Operation::Delete => {
                let object = decode(request.old_object.as_ref())?;
                validator.validate_delete(request, &object, warnings).await
            }
            Operation::Connect => Ok(()),
            Operation::Unknown => return Err("unknown operation".to_owned()),
        })
    }
}

fn decode<T: DeserializeOwned>(object: Option<&Value>) -> Result<T, String> {
    let object = object.ok_or_else(|| "there is no content to decode".to_owned())?;
    T::deserialize(object).map_err(|failed| failed.to_string())
}
