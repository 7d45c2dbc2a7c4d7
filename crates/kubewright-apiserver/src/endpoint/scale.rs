//! The `scale` subresource.

use http::StatusCode;

use super::{call::Call, patch::Patch};
use crate::{
    error::{FieldError, Status},
    kind::{Part, ScalePaths},
    object::Object,
    options::WriteOptions,
    registry::{Missing, Scale},
    value::Value,
    wire::{Reply, decode_scale},
};

/// `GET …/scale`.
pub(super) async fn get(call: &Call, paths: ScalePaths) -> Result<Reply, Status> {
    let document = call.resource().get(None).await?;
    let value = Scale(paths).of(&Object::decode(&document)?)?;
    Ok(Reply::Value { code: StatusCode::OK, value })
}

/// `PUT …/scale`.
pub(super) async fn update(call: &Call, paths: ScalePaths) -> Result<Reply, Status> {
    let options = WriteOptions::of_update(&call.context.query)?;
    let sent = decode_scale(&call.headers, &call.body)?;
    write(call, paths, &options, |_| Ok(sent.clone())).await
}

/// `PATCH …/scale`.
pub(super) async fn patch(call: &Call, paths: ScalePaths) -> Result<Reply, Status> {
    let (patch, options) = Patch::read(call)?;
    write(call, paths, &options, |mut scale| {
        patch.apply(&mut scale)?;
        Ok(scale)
    })
    .await
}

/// Changes the replicas and nothing else. A resource version in the Scale is a precondition.
async fn write(
    call: &Call,
    paths: ScalePaths,
    options: &WriteOptions,
    change: impl Fn(Value) -> Result<Value, Status>,
) -> Result<Reply, Status> {
    let (scale, name) = (Scale(paths), &call.info.name);
    let change = |seen: Option<&Object>| {
        let seen = seen.ok_or_else(|| Status::not_found(&call.kind, name))?;
        let changed = change(scale.of(seen)?)?;
        let replicas = changed.pointer("/spec/replicas").cloned().unwrap_or_else(|| 0.into());
        if replicas.as_i64().is_none_or(|replicas| replicas < 0) {
            let detail = "must be greater than or equal to 0";
            let error = FieldError::invalid("spec.replicas", Some(&replicas), detail);
            return Err(Status::invalid_options("Scale.autoscaling", &[error]).with("name", name.as_str()));
        }
        let mut object = seen.clone();
        // Without a version, the write is made of what is there.
        let version =
            changed.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default();
        if !version.is_empty() {
            object.metadata_mut().insert("resourceVersion".into(), version.into());
        }
        scale.set_replicas(&mut object, replicas);
        Ok(object)
    };
    let written = call.resource().update(Part::Main, Missing::Refuse, options, change).await?;
    Ok(Reply::Value { code: StatusCode::OK, value: scale.of(&Object::decode(&written.document)?)? })
}
