//! `GET` of one object.

use http::StatusCode;

use super::call::Call;
use crate::{error::Status, wire::Reply};

/// Source: apiserver `handlers.GetResource`.
pub(super) async fn get(call: &Call) -> Result<Reply, Status> {
    let document = call.resource().get(call.single_version()?).await?;
    Ok(Reply::object(StatusCode::OK, &call.kind, document))
}
