//! `POST …/eviction`: deletes a pod unless a disruption budget keeps it.

use super::{call::Call, decode};
use crate::{
    error::Status,
    kind::Subresource,
    options::{DeleteOptions, WriteOptions},
    value::Value,
    wire::Reply,
};

/// Source: core `pod/storage.EvictionREST.Create`.
pub(super) async fn create(call: &Call) -> Result<Reply, Status> {
    let options = WriteOptions::of_create(&call.context.query)?;
    let mut eviction = decode::part(call, &Subresource::Eviction, &options)?;
    let resource = call.resource();
    resource.admit_part(&mut eviction, &options).await?;
    let sent = eviction.0.get("deleteOptions").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut deletion = DeleteOptions::read(Some(&sent), &call.context.query)?;
    deletion.dry_run |= options.dry_run;
    resource.evict(&deletion)?;
    Ok(Reply::created())
}
