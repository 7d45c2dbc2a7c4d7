//! `PUT`: replaces an object or one part of it.

use http::StatusCode;

use super::{call::Call, decode};
use crate::{
    error::Status, kind::Part, object::Object, options::WriteOptions, registry::Missing, wire::Reply,
};

/// Source: apiserver `handlers.UpdateResource`.
pub(super) async fn update(call: &Call, part: Part) -> Result<Reply, Status> {
    let options = WriteOptions::of_update(&call.context.query)?;
    let mut sent = decode::whole(call, &options)?;
    let resource = call.resource();
    resource.check_place(&mut sent)?;
    let change = |seen: Option<&Object>| {
        if let Some(seen) = seen {
            resource.check_uid(seen, &sent)?;
        }
        Ok(sent.clone())
    };
    let written = resource.update(part, Missing::Create, &options, change).await?;
    let code = if written.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Reply::object(code, &call.kind, written.document))
}
