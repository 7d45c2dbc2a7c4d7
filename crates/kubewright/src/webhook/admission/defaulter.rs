//! Defaults.

use std::{future::Future, marker::PhantomData};

use http::StatusCode;
use serde::{Serialize, de::DeserializeOwned};

use super::{AdmissionRequest, AdmissionResponse, Handler, Operation, finalizers::only_removes_finalizers};
use crate::{
    BoxError,
    controllerutil::{graft, typed_pair},
    error,
};

/// Fills in what a client left out.
///
/// It is not called for deletions, nor for updates that only take finalizers from a deleting object. What the type does not know of the object stays as it is.
///
/// Source: controller-runtime `admission.Defaulter`.
pub trait Defaulter<T>: Send + Sync + 'static {
    /// Why a request cannot be given defaults. The error of an API call goes on to the client with its status; any other forbids the request.
    type Error: Into<BoxError> + 'static;

    /// Changes the object as it shall be stored.
    fn default(
        &self,
        request: &AdmissionRequest,
        object: &mut T,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// A [`Defaulter`] as a handler.
pub(in crate::webhook) struct Defaulting<D, T>(
    pub(in crate::webhook) D,
    pub(in crate::webhook) PhantomData<fn(T)>,
);

impl<D, T> Handler for Defaulting<D, T>
where
    D: Defaulter<T>,
    T: DeserializeOwned + Serialize + Clone + Send + Sync + 'static,
{
    async fn handle(&self, request: &AdmissionRequest) -> AdmissionResponse {
        if request.operation == Operation::Delete || only_removes_finalizers(request) {
            return AdmissionResponse::allowed();
        }
        let Some(raw) = &request.object else {
            return AdmissionResponse::errored(StatusCode::BAD_REQUEST, "there is no content to decode");
        };
        let before: T = match serde_json::from_value(raw.clone()) {
            Ok(object) => object,
            Err(failed) => return AdmissionResponse::errored(StatusCode::BAD_REQUEST, failed.to_string()),
        };
        let mut after = before.clone();
        if let Err(failed) = self.0.default(request, &mut after).await {
            return AdmissionResponse::of_error(&error::boxed(failed));
        }
        match typed_pair(&before, &after) {
            Ok((before, after)) if before == after => AdmissionResponse::allowed(),
            Ok((before, after)) => AdmissionResponse::patched(graft(raw, &before, &after)),
            Err(failed) => AdmissionResponse::errored(StatusCode::INTERNAL_SERVER_ERROR, failed.to_string()),
        }
    }
}
