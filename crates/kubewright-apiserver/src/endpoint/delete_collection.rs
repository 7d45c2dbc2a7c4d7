//! `DELETE` of all objects that a list would show, or of a page of them. Answers with them.

use http::StatusCode;

use super::{call::Call, delete, list};
use crate::{
    error::Status,
    object::Object,
    options::{DeleteOptions, ListOptions},
    registry::Filter,
    storage::Key,
    wire::Reply,
};

/// Source: apiserver `handlers.DeleteCollection`, `registry.Store.DeleteCollection`.
pub(super) async fn delete_collection(call: &Call) -> Result<Reply, Status> {
    let named = ListOptions::of_list(&call.context.query)?;
    let resource = call.resource();
    let filter = Filter::read(resource, &named)?;
    let options = DeleteOptions::of_collection(delete::body(call)?.as_ref(), &call.context.query)?;
    let mut page = resource.list(&named, &filter).await?;
    let mut deleted = Vec::new();
    for document in page.documents {
        let object = Object::decode(&document)?;
        let key = Key::new(object.namespace(), object.name());
        match resource.delete(&key, object.name(), &options).await {
            Ok(_) => deleted.push(document),
            // Somebody else was faster.
            Err(status) if status.code == StatusCode::NOT_FOUND => {}
            Err(status) => return Err(status),
        }
    }
    page.documents = deleted;
    Ok(list::reply(call, page))
}
