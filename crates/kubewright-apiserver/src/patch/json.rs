//! JSON patch (RFC 6902).

use json_patch::{Patch, PatchError, patch};
use serde_json::Value;
use thiserror::Error;

/// Applies the operations of `operations`, all or none.
pub(crate) fn json_patch(target: &mut Value, operations: Value) -> Result<(), JsonPatchError> {
    let operations: Patch = serde_json::from_value(operations).map_err(JsonPatchError::Malformed)?;
    if operations.len() > MAX_OPERATIONS {
        return Err(JsonPatchError::TooMany(operations.len()));
    }
    patch(target, &operations).map_err(JsonPatchError::Failed)
}

/// Why a patch was not applied.
#[derive(Debug, Error)]
pub(crate) enum JsonPatchError {
    #[error("error decoding patch: {0}")]
    Malformed(serde_json::Error),
    #[error("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {0}")]
    TooMany(usize),
    #[error("{0}")]
    Failed(PatchError),
}

/// Source: apiserver `handlers.maxJSONPatchOperations`.
const MAX_OPERATIONS: usize = 10_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn operations_apply_all_or_none() {
        let mut target = json!({"a": [1], "b": 1});
        json_patch(
            &mut target,
            json!([{"op": "add", "path": "/a/-", "value": 2}, {"op": "remove", "path": "/b"}]),
        )
        .unwrap();
        assert_eq!(target, json!({"a": [1, 2]}));
        let failed = json_patch(
            &mut target,
            json!([{"op": "remove", "path": "/a"}, {"op": "test", "path": "/x", "value": 1}]),
        );
        assert!(matches!(failed, Err(JsonPatchError::Failed(_))));
        assert_eq!(target, json!({"a": [1, 2]}));
        assert!(matches!(json_patch(&mut target, json!({"a": 1})), Err(JsonPatchError::Malformed(_))));
    }
}
