//! `POST …/token`: a token for a service account.

use http::StatusCode;

use super::{call::Call, decode};
use crate::{error::Status, kind::Subresource, options::WriteOptions, wire::Reply};

/// Source: core `serviceaccount/storage.TokenREST.Create`.
pub(super) async fn create(call: &Call) -> Result<Reply, Status> {
    let options = WriteOptions::of_create(&call.context.query)?;
    let mut request = decode::part(call, &Subresource::Token, &options)?;
    let resource = call.resource();
    resource.admit_part(&mut request, &options).await?;
    resource.issue_token(&mut request)?;
    Ok(Reply::Value { code: StatusCode::CREATED, value: request.0.into() })
}
