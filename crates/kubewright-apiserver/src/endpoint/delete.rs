//! `DELETE` of one object.

use http::StatusCode;

use super::call::Call;
use crate::{
    error::Status,
    kind::DeletionStyle,
    object::Object,
    options::DeleteOptions,
    registry::Deletion,
    value::Map,
    wire::{Reply, decode_delete_options},
};

/// Source: apiserver `handlers.DeleteResource`.
pub(super) async fn delete(call: &Call) -> Result<Reply, Status> {
    let options = DeleteOptions::read(body(call)?.as_ref(), &call.context.query)?;
    let (kind, resource, name) = (&call.kind, call.resource(), &call.info.name);
    match resource.delete(&resource.key(), name, &options).await? {
        Deletion::Pending(document) => {
            let code = if options.is_accepted { StatusCode::ACCEPTED } else { StatusCode::OK };
            Ok(Reply::object(code, kind, document))
        }
        Deletion::Done(document) if kind.strategy.rules().deletion != DeletionStyle::Status => {
            Ok(Reply::object(StatusCode::OK, kind, document))
        }
        Deletion::Done(document) => {
            let mut success = Status::new(StatusCode::OK, "", "").about(kind, name);
            if let Ok(deleted) = Object::decode(&document) {
                success = success.with("uid", deleted.uid());
            }
            Ok(Reply::Value { code: StatusCode::OK, value: success.to_value() })
        }
    }
}

/// The options in the body of a deletion; `None` without a body.
pub(super) fn body(call: &Call) -> Result<Option<Map>, Status> {
    if call.body.is_empty() { Ok(None) } else { decode_delete_options(&call.headers, &call.body).map(Some) }
}
