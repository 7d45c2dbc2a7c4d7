//! `GET` of all objects, or of a page of them.

use super::call::Call;
use crate::{
    error::Status,
    options::ListOptions,
    registry::{Filter, Page},
    wire::{List, Reply},
};

/// Source: apiserver `handlers.ListResource`.
pub(super) async fn list(call: &Call) -> Result<Reply, Status> {
    let options = ListOptions::of_list(&call.context.query)?;
    let filter = Filter::read(call.resource(), &options)?;
    let page = call.resource().list(&options, &filter).await?;
    Ok(reply(call, page))
}

pub(super) fn reply(call: &Call, page: Page) -> Reply {
    let Page { documents, revision, continue_token, remaining } = page;
    Reply::List(List { kind: call.kind.clone(), documents, revision, continue_token, remaining })
}
