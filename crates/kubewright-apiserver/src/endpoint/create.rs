//! `POST`: makes an object.

use http::StatusCode;

use super::{call::Call, decode};
use crate::{error::Status, options::WriteOptions, wire::Reply};

/// Source: apiserver `handlers.createHandler`.
pub(super) async fn create(call: &Call) -> Result<Reply, Status> {
    let options = WriteOptions::of_create(&call.context.query)?;
    let object = decode::whole(call, &options)?;
    let document = call.resource().create(object, &options).await?;
    Ok(Reply::object(StatusCode::CREATED, &call.kind, document))
}
