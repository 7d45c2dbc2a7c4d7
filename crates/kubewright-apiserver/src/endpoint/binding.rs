//! `POST …/binding`: gives a pod its node.

use super::{call::Call, decode};
use crate::{error::Status, kind::Subresource, options::WriteOptions, wire::Reply};

/// Source: core `pod/storage.BindingREST.Create`.
pub(super) async fn create(call: &Call) -> Result<Reply, Status> {
    let options = WriteOptions::of_create(&call.context.query)?;
    let mut binding = decode::part(call, &Subresource::Binding, &options)?;
    let resource = call.resource();
    resource.admit_part(&mut binding, &options).await?;
    resource.bind(&binding, options.dry_run)?;
    Ok(Reply::created())
}
