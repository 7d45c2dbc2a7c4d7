//! JSON patch (RFC 6902), as evanphx/json-patch v4 understands it.
//!
//! # Differences from Go
//! What is nested deeper than the server's limit is refused, and `replace` of the whole document without a value is
//! an error (upstream panics there).

use serde::Deserialize;
use thiserror::Error;

use super::{
    operations::{Operation, Operations},
    pointer::{Place, PointerError, locate, locate_mut},
};
use crate::{
    object::{MAX_DEPTH, is_within},
    value::{TOO_DEEP, Value},
};

/// A patch that has been read and can be applied any number of times.
#[derive(Debug)]
pub(crate) struct JsonPatch(Vec<Operation>);

/// Why a patch was not applied.
#[derive(Debug, Error)]
pub(crate) enum JsonPatchError {
    #[error("error decoding patch: {0}")]
    Malformed(String),
    #[error("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {0}")]
    TooMany(usize),
    /// The words of evanphx/json-patch.
    #[error("{0}")]
    Failed(String),
}

impl JsonPatch {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, JsonPatchError> {
        let malformed = |error: serde_json::Error| JsonPatchError::Malformed(error.to_string());
        let mut decoder = serde_json::Deserializer::from_slice(bytes);
        let operations = Operations::<MAX_OPERATIONS>::deserialize(&mut decoder).map_err(malformed)?;
        decoder.end().map_err(malformed)?;
        if operations.count > MAX_OPERATIONS {
            return Err(JsonPatchError::TooMany(operations.count));
        }
        Ok(Self(operations.kept))
    }

    /// Applies the operations in order. After an error `target` is somewhere in between.
    pub(crate) fn apply(&self, target: &mut Value) -> Result<(), JsonPatchError> {
        let mut run = Run { target, copied: 0 };
        self.0.iter().try_for_each(|operation| run.step(operation)).map_err(JsonPatchError::Failed)
    }
}

struct Run<'a> {
    target: &'a mut Value,
    /// How many bytes all copies so far have added.
    copied: usize,
}

impl Run<'_> {
    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        match operation.op.as_deref().unwrap_or("unknown") {
            "add" => self.add(operation),
            "remove" => self.remove(operation),
            "replace" => self.replace(operation),
            "move" => self.relocate(operation),
            "test" => self.test(operation),
            "copy" => self.copy(operation),
            other => Err(format!("Unexpected kind: {other}")),
        }
    }

    fn add(&mut self, operation: &Operation) -> Result<(), String> {
        // Upstream drops the first reason here, and in `remove`.
        let path = operation
            .path
            .as_deref()
            .ok_or_else(|| format!("add operation failed to decode path: {MISSING}"))?;
        let value = operation.value.clone().unwrap_or_default();
        let missing = || format!("add operation does not apply: doc is missing path: \"{path}\": {MISSING}");
        let place = self.place(path, &value)?.ok_or_else(missing)?;
        place.add(value).map_err(|error| format!("error in add for path: '{path}': {error}"))
    }

    fn remove(&mut self, operation: &Operation) -> Result<(), String> {
        let path = operation
            .path
            .as_deref()
            .ok_or_else(|| format!("remove operation failed to decode path: {MISSING}"))?;
        let missing =
            || format!("remove operation does not apply: doc is missing path: \"{path}\": {MISSING}");
        let place = locate_mut(self.target, path).ok_or_else(missing)?;
        place.remove().map_err(|error| format!("error in remove for path: '{path}': {error}"))?;
        Ok(())
    }

    fn replace(&mut self, operation: &Operation) -> Result<(), String> {
        let path = operation.target_of("replace")?;
        let value = operation.value.clone().unwrap_or_default();
        if path.is_empty() {
            if !value.is_object() && !value.is_array() {
                return Err("replace operation value must be object or array".into());
            }
            check_depth(&value, MAX_DEPTH)?;
            *self.target = value;
            return Ok(());
        }
        let lacks = |what: &str| {
            format!("replace operation does not apply: doc is missing {what}: {path}: {MISSING}")
        };
        let place = self.place(path, &value)?.ok_or_else(|| lacks("path"))?;
        // An absent field is set, as upstream does; an absent item is not.
        place.set(value).map_err(|_| lacks("key"))
    }

    fn relocate(&mut self, operation: &Operation) -> Result<(), String> {
        let from = operation.source_of("move")?;
        let missing =
            || format!("move operation does not apply: doc is missing from path: {from}: {MISSING}");
        let place = locate_mut(self.target, from).ok_or_else(missing)?;
        let key = place.key.clone();
        let value = place.remove().map_err(|error| format!("error in move for path: '{key}': {error}"))?;
        let path = operation.target_of("move")?;
        let missing =
            || format!("move operation does not apply: doc is missing destination path: {path}: {MISSING}");
        let place = self.place(path, &value)?.ok_or_else(missing)?;
        place.add(value).map_err(|error| format!("error in move for path: '{path}': {error}"))
    }

    fn test(&self, operation: &Operation) -> Result<(), String> {
        let path = operation.target_of("test")?;
        let found = if path.is_empty() {
            Some(&*self.target)
        } else {
            let missing = || format!("test operation does not apply: is missing path: {path}: {MISSING}");
            let (container, key) = locate(self.target, path).ok_or_else(missing)?;
            container.get(&key).map_err(|error| format!("error in test for path: '{path}': {error}"))?
        };
        // Absent and null are the same to upstream, on both sides; but a value that is there needs one to equal.
        let same = match (found.filter(|found| !found.is_null()), &operation.value) {
            (None, None | Some(Value::Null)) => true,
            (None, Some(_)) | (Some(_), None) => false,
            (Some(found), Some(wanted)) => found == wanted,
        };
        if same { Ok(()) } else { Err(format!("testing value {path} failed: test failed")) }
    }

    fn copy(&mut self, operation: &Operation) -> Result<(), String> {
        let from = operation.source_of("copy")?;
        let missing =
            || format!("copy operation does not apply: doc is missing from path: {from}: {MISSING}");
        let (container, key) = locate(self.target, from).ok_or_else(missing)?;
        let found =
            container.get(&key).map_err(|error| format!("error in copy for from: '{from}': {error}"))?;
        let Some(path) = operation.path.as_deref() else {
            return Err(format!("copy operation failed to decode path: {MISSING}"));
        };
        let missing =
            || format!("copy operation does not apply: doc is missing destination path: {path}: {MISSING}");
        locate(self.target, path).ok_or_else(missing)?;
        // Before anything is cloned: the budget is what keeps a small patch from taking all memory.
        self.copied += found.filter(|found| !found.is_null()).map_or(0, encoded_length);
        if self.copied > MAX_COPY_BYTES {
            return Err(format!(
                "Unable to complete the copy, the accumulated size increase of copy is {}, exceeding the limit {MAX_COPY_BYTES}",
                self.copied
            ));
        }
        let value = found.cloned().unwrap_or_default();
        let place = self.place(path, &value)?.ok_or_else(missing)?;
        place.add(value).map_err(|error| format!("error while adding value during copy: {error}"))
    }

    /// Where `value` is to be put, if it is not too deep there.
    fn place(&mut self, path: &str, value: &Value) -> Result<Option<Place<'_>>, String> {
        let above = path.matches('/').count();
        let levels = MAX_DEPTH.checked_sub(above).ok_or_else(|| TOO_DEEP.to_owned())?;
        check_depth(value, levels)?;
        Ok(locate_mut(self.target, path))
    }
}

fn check_depth(value: &Value, levels: usize) -> Result<(), String> {
    if is_within(value, levels) { Ok(()) } else { Err(TOO_DEEP.to_owned()) }
}

/// How long the value is as JSON.
fn encoded_length(value: &Value) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting cannot fail, and a `Value` has string keys and finite numbers.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// Source: apiserver `handlers.maxJSONPatchOperations`.
const MAX_OPERATIONS: usize = 10_000;
/// Source: apiserver `server.Config.JSONPatchMaxCopyBytes`.
const MAX_COPY_BYTES: usize = 3 * 1024 * 1024;
/// Source: evanphx/json-patch `ErrMissing`.
const MISSING: &str = PointerError::MISSING;
