//! The `scale` subresource: the number of replicas, whatever the kind calls it.

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    call::Call,
    patch::Patch,
    update::{Part, modify},
};
use crate::{
    admission::View,
    error::{FieldError, Status},
    object::Object,
    selector::selector_text,
    wire::{Reply, WriteOptions, decode_scale},
};

/// Where a kind keeps its replicas, as JSON pointers.
pub(super) struct Paths {
    pub(super) replicas: String,
    pub(super) status_replicas: String,
    pub(super) selector: Option<String>,
}

/// `GET …/scale`.
pub(super) fn get(call: &Call, paths: &Paths) -> Result<Reply, Status> {
    let scale = scale_of(&Object::decode(&call.read()?)?, paths)?;
    Ok(Reply::Value { code: StatusCode::OK, value: scale })
}

/// `PUT …/scale`.
pub(super) async fn update(call: &Call, paths: &Paths) -> Result<Reply, Status> {
    let options = WriteOptions::of_update(&call.context.query)?;
    let sent = decode_scale(&call.headers, &call.body)?;
    write(call, paths, options, |_| Ok(sent.clone())).await
}

/// `PATCH …/scale`.
pub(super) async fn patch(call: &Call, paths: &Paths) -> Result<Reply, Status> {
    let (patch, options) = Patch::read(call)?;
    write(call, paths, options, |mut scale| {
        patch.apply(&mut scale)?;
        Ok(scale)
    })
    .await
}

/// Changes the replicas and nothing else. A resource version in the Scale is a precondition.
async fn write(
    call: &Call,
    paths: &Paths,
    options: WriteOptions,
    change: impl Fn(Value) -> Result<Value, Status>,
) -> Result<Reply, Status> {
    let document = modify(call, Part::Main, options, |seen| {
        let scale = change(scale_of(seen, paths)?)?;
        let replicas = scale.pointer("/spec/replicas").cloned().unwrap_or_else(|| 0.into());
        if replicas.as_i64().is_none_or(|replicas| replicas < 0) {
            let detail = "must be greater than or equal to 0";
            let error = FieldError::invalid("spec.replicas", Some(&replicas), detail);
            return Err(
                Status::invalid_options("Scale.autoscaling", &[error]).with("name", call.info.name.as_str())
            );
        }
        let mut object = seen.clone();
        // Without a version, the write is made of what is there.
        let version = scale.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default();
        if !version.is_empty() {
            object.metadata_mut().insert("resourceVersion".into(), version.into());
        }
        set(&mut object, &paths.replicas, replicas);
        Ok(object)
    })
    .await?;
    Ok(Reply::Value { code: StatusCode::OK, value: scale_of(&Object::decode(&document)?, paths)? })
}

impl View for Paths {
    fn kind(&self) -> [&'static str; 3] {
        ["autoscaling", "v1", "Scale"]
    }

    fn show(&self, object: &Object) -> Result<Value, Status> {
        scale_of(object, self)
    }

    fn take(&self, shown: &Value, object: &mut Object) {
        if let Some(replicas) = shown.pointer("/spec/replicas") {
            set(object, &self.replicas, replicas.clone());
        }
    }
}

fn scale_of(object: &Object, paths: &Paths) -> Result<Value, Status> {
    let Some(replicas) = object.at(&paths.replicas) else {
        let path = paths.replicas.replace('/', ".");
        return Err(Status::internal_error(format!("the spec replicas field {path:?} does not exist")));
    };
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object.metadata().get(field) {
            metadata[field] = value.clone();
        }
    }
    let mut status =
        json!({"replicas": object.at(&paths.status_replicas).cloned().unwrap_or_else(|| 0.into())});
    if let Some(selector) = paths.selector.as_ref().and_then(|path| object.at(path)) {
        status["selector"] = selector_text(selector).into();
    }
    Ok(json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": {"replicas": replicas}, "status": status,
    }))
}

/// Sets the value at a JSON pointer; objects on the way are made.
fn set(object: &mut Object, pointer: &str, value: Value) {
    let steps: Vec<&str> = pointer.trim_start_matches('/').split('/').collect();
    let Some((last, parents)) = steps.split_last() else { return };
    let mut map = &mut object.0;
    for step in parents {
        map = crate::object::object_at(map, step);
    }
    map.insert((*last).to_owned(), value);
}
