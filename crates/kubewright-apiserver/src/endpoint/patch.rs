//! `PATCH`: changes parts of an object.

use http::StatusCode;

use super::{call::Call, decode};
use crate::{
    error::{Status, fmt},
    kind::Part,
    object::{Object, from_json},
    options::WriteOptions,
    patch::{Facts, JsonPatch, JsonPatchError, StrategicPatchError, merge_patch, strategic_merge_patch},
    registry::Missing,
    schema::{AnyNames, Names, Seen, strict_problems},
    value::{Map, Value, json},
    wire::{PatchType, Reply, check_shape, patch_type},
};

/// Source: apiserver `handlers.PatchResource`.
pub(super) async fn patch(call: &Call, part: Part) -> Result<Reply, Status> {
    let (patch, options) = Patch::read(call)?;
    let change = |seen: Option<&Object>| {
        let seen = seen.ok_or_else(|| Status::not_found(&call.kind, &call.info.name))?;
        let mut value = Value::Object(seen.0.clone());
        patch.apply(&mut value)?;
        let Value::Object(map) = value else {
            return Err(Status::bad_request("the patch makes something that is no object"));
        };
        let mut object = Object(map);
        check_shape(&call.kind, &mut object, &call.body)?;
        decode::patched(call, &patch, &mut object, &options)?;
        Ok(object)
    };
    let written = call.resource().update(part, Missing::Refuse, &options, change).await?;
    Ok(Reply::object(StatusCode::OK, &call.kind, written.document))
}

/// A patch that has been read and can be applied any number of times.
pub(super) enum Patch {
    Json(JsonPatch),
    Merge(Map),
    Strategic(Map, Facts),
}

impl Patch {
    /// Reads the media type, then the options, then the body: the options mean something else for another patch.
    pub(super) fn read(call: &Call) -> Result<(Self, WriteOptions), Status> {
        let kind = patch_type(&call.kind, &call.headers)?;
        let options = WriteOptions::of_patch(&call.context.query)?;
        let patch = match kind {
            PatchType::Json => Self::Json(JsonPatch::read(&call.body).map_err(refusal)?),
            PatchType::Merge => Self::Merge(read_merge_patch(&call.body)?),
            PatchType::Strategic => {
                let facts = Facts::of(&call.kind.api_version(), &call.kind.kind);
                Self::Strategic(read_merge_patch(&call.body)?, facts)
            }
        };
        Ok((patch, options))
    }

    /// What is wrong with the text of the patch itself, to a strict reader.
    pub(super) fn strict_problems(&self, body: &[u8]) -> Vec<String> {
        match self {
            Self::Json(_) => {
                let problems = strict_problems(body, Operations::All);
                problems.into_iter().map(|problem| format!("json patch {problem}")).collect()
            }
            Self::Merge(_) | Self::Strategic(..) => strict_problems(body, AnyNames),
        }
    }

    /// What messages show of an object that the patch has made and that is none: the object, or the patch.
    pub(super) fn shown(&self, made: &Object) -> String {
        match self {
            Self::Json(_) | Self::Merge(_) => Value::Object(made.0.clone()).to_string(),
            Self::Strategic(patch, _) => fmt::map(patch),
        }
    }

    /// Source: apiserver `handlers.jsonPatcher.applyJSPatch`.
    pub(super) fn apply(&self, target: &mut Value) -> Result<(), Status> {
        match self {
            // Neither side is too deep, and merging makes nothing deeper.
            Self::Merge(patch) => merge_patch(target, patch.clone().into()),
            Self::Strategic(patch, facts) => {
                if let Value::Object(fields) = target {
                    let merged = strategic_merge_patch(std::mem::take(fields), patch.clone(), *facts);
                    *fields = merged.map_err(strategic_refusal)?;
                }
            }
            Self::Json(patch) => patch.apply(target).map_err(refusal)?,
        }
        Ok(())
    }
}

/// The fields of a JSON patch.
#[derive(Debug, Clone, Copy)]
enum Operations {
    All,
    One,
    /// Whatever stands in the `value` of one.
    Value,
}

impl Names for Operations {
    fn field(self, name: &str) -> Seen<Self> {
        match (self, name) {
            (Self::One, "op" | "path" | "from") => Seen::Whole,
            (Self::One, "value") => Seen::Known(Self::Value),
            (Self::Value, _) => Seen::Known(self),
            _ => Seen::Unknown,
        }
    }

    fn item(self) -> Seen<Self> {
        Seen::Known(if matches!(self, Self::All) { Self::One } else { self })
    }
}

fn read_merge_patch(body: &[u8]) -> Result<Map, Status> {
    let malformed = |error: String| Status::bad_request(format!("error decoding patch: {error}"));
    match from_json(body).map_err(malformed)? {
        Value::Object(patch) => Ok(patch),
        _ => Err(malformed("a merge patch of an object is an object".into())),
    }
}

/// Source: apiserver `handlers.interpretStrategicMergePatchError`.
fn strategic_refusal(error: StrategicPatchError) -> Status {
    match error {
        StrategicPatchError::Format(_) => Status::bad_request(error.to_string()),
        StrategicPatchError::ListOfLists => {
            Status::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", REJECTED)
                .with("causes", json!([{"message": error.to_string()}]))
        }
        StrategicPatchError::Unfit(text) => Status::new(StatusCode::INTERNAL_SERVER_ERROR, "", text),
    }
}

/// # Differences from Go
/// Upstream says nothing about why a JSON patch fails; here the reason stands among the causes.
fn refusal(error: JsonPatchError) -> Status {
    match error {
        JsonPatchError::Malformed(_) => Status::bad_request(error.to_string()),
        JsonPatchError::TooMany(_) => {
            Status::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", error.to_string())
        }
        JsonPatchError::Failed(reason) => Status::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", REJECTED)
            .with("causes", json!([{"message": reason}])),
    }
}

const REJECTED: &str = "the server rejected our request due to an error in our request";
