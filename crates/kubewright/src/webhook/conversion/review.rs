//! What the API server asks, and what it is told.
//!
//! Source: `apiextensions.k8s.io/v1 ConversionReview`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Review {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) request: Option<Question>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Question {
    pub(super) uid: String,
    #[serde(rename = "desiredAPIVersion")]
    pub(super) desired_api_version: String,
    #[serde(default)]
    pub(super) objects: Vec<Value>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    api_version: String,
    kind: String,
    response: Response,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    uid: String,
    converted_objects: Vec<Value>,
    result: Value,
}

impl Review {
    /// The first version of reviews has the same shape.
    pub(super) fn is_known(&self) -> bool {
        matches!(&*self.api_version, "apiextensions.k8s.io/v1" | "apiextensions.k8s.io/v1beta1")
            && self.kind == "ConversionReview"
    }
}

impl Answer {
    /// All objects in their order; or none of them, and why.
    pub(super) fn new(api_version: String, uid: String, converted: Result<Vec<Value>, String>) -> Self {
        let (converted_objects, result) = match converted {
            Ok(objects) => (objects, json!({"status": "Success"})),
            Err(message) => (Vec::new(), json!({"status": "Failure", "message": message})),
        };
        let response = Response { uid, converted_objects, result };
        Self { api_version, kind: "ConversionReview".to_owned(), response }
    }
}
