//! Patch.

use http::StatusCode;
use serde_json::Value;

use super::{
    call::Call,
    update::{Part, modify},
};
use crate::{
    object::Object,
    patch::{JsonPatchError, json_patch, merge_patch},
    wire::{PatchType, Reply, Status, WriteOptions, check_shape, patch_type},
};

/// `PATCH`: changes parts of an object.
pub(super) fn patch(call: &Call, part: Part) -> Result<Reply, Status> {
    let options = WriteOptions::read(&call.query, "PatchOptions.meta.k8s.io")?;
    let patch = Patch::read(call)?;
    let document = modify(call, part, options, |seen| {
        let mut value = Value::Object(seen.0.clone());
        patch.apply(&mut value)?;
        let Value::Object(map) = value else {
            return Err(Status::bad_request("the patch makes something that is no object"));
        };
        let mut object = Object(map);
        check_shape(&call.kind, &mut object, &call.body)?;
        Ok(object)
    })?;
    Ok(Reply::object(StatusCode::OK, &call.kind, document))
}

/// A patch that has been read and can be applied any number of times.
pub(super) struct Patch {
    kind: PatchType,
    value: Value,
}

impl Patch {
    pub(super) fn read(call: &Call) -> Result<Self, Status> {
        let kind = patch_type(&call.headers)?;
        let value = serde_json::from_slice(&call.body)
            .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
        if kind == PatchType::Merge && !matches!(value, Value::Object(_)) {
            return Err(Status::bad_request("error decoding patch: a merge patch of an object is an object"));
        }
        Ok(Self { kind, value })
    }

    /// Source: apiserver `handlers.jsonPatcher.applyJSPatch`.
    pub(super) fn apply(&self, target: &mut Value) -> Result<(), Status> {
        match self.kind {
            PatchType::Merge => {
                merge_patch(target, self.value.clone());
                Ok(())
            }
            PatchType::Json => json_patch(target, self.value.clone()).map_err(|error| match error {
                JsonPatchError::Malformed(_) => Status::bad_request(error.to_string()),
                JsonPatchError::TooMany(_) => {
                    Status::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", error.to_string())
                }
                JsonPatchError::Failed(_) => {
                    Status::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", error.to_string())
                }
            }),
        }
    }
}
