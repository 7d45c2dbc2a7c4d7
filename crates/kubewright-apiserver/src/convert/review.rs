//! What a conversion webhook is asked, and what its answer may be.

use crate::{
    object::Object,
    value::{Value, json},
};

/// The version of the reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Review {
    V1,
    V1Beta1,
}

impl Review {
    /// The first version of a list that is known. One is: otherwise the definition would have been refused.
    pub(super) fn preferred(versions: &Value) -> Self {
        let versions = versions.as_array().map(Vec::as_slice).unwrap_or_default();
        let known = |version: &&str| ["v1", "v1beta1"].contains(version);
        match versions.iter().filter_map(Value::as_str).find(known) {
            Some("v1beta1") => Self::V1Beta1,
            _ => Self::V1,
        }
    }

    /// Asks for objects at another version.
    ///
    /// Source: apiextensions `apiserver/conversion.createConversionReviewObjects`.
    pub(super) fn question<'a>(
        self,
        uid: &str,
        api_version: &str,
        objects: impl Iterator<Item = &'a Object>,
    ) -> Vec<u8> {
        let objects: Vec<_> = objects.map(|object| &object.0).collect();
        let request = json!({"uid": uid, "desiredAPIVersion": api_version, "objects": objects});
        let review =
            json!({"kind": "ConversionReview", "apiVersion": self.api_version(), "request": request});
        review.to_string().into_bytes()
    }

    /// The objects in the answer to the question `uid`.
    ///
    /// # Errors
    /// What is wrong with it, or what the webhook says of its failure.
    ///
    /// Source: apiextensions `apiserver/conversion.getConvertedObjectsFromResponse`.
    pub(super) fn answer(self, body: &[u8], uid: &str) -> Result<Vec<Value>, String> {
        let mut review: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        // The first version of reviews did not ask for these.
        if self == Self::V1 {
            let found = ["apiVersion", "kind"].map(|field| review[field].as_str().unwrap_or_default());
            if found != [self.api_version(), "ConversionReview"] {
                return Err(format!(
                    "expected webhook response of {}, Kind=ConversionReview, got {}, Kind={}",
                    self.api_version(),
                    found[0],
                    found[1]
                ));
            }
        }
        let response = &mut review["response"];
        if !response.is_object() {
            return Err("no response provided".to_owned());
        }
        let found = response["uid"].as_str().unwrap_or_default();
        if self == Self::V1 && found != uid {
            return Err(format!("expected response.uid={uid:?}, got {found:?}"));
        }
        let result =
            ["status", "message"].map(|field| response["result"][field].as_str().unwrap_or_default());
        match result {
            ["Success", _] => {}
            [status, ""] => return Err(format!("response.result.status was '{status}', not 'Success'")),
            [_, message] => return Err(message.to_owned()),
        }
        match response["convertedObjects"].take() {
            Value::Array(objects) => Ok(objects),
            _ => Ok(Vec::new()),
        }
    }

    fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "apiextensions.k8s.io/v1",
            Self::V1Beta1 => "apiextensions.k8s.io/v1beta1",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_that_is_known_is_asked_for() {
        for (versions, expected) in
            [(json!(["v1", "v1beta1"]), Review::V1), (json!(["v2", "v1beta1", "v1"]), Review::V1Beta1)]
        {
            assert_eq!(Review::preferred(&versions), expected);
        }
    }

    /// Source of the rows: apiextensions `apiserver/conversion.TestGetConvertedObjectsFromResponse`.
    #[test]
    fn answers_are_judged_as_upstream_judges_them() {
        #[track_caller]
        fn check(review: Review, body: &Value, expected: Result<usize, &str>) {
            let answer = review.answer(body.to_string().as_bytes(), "u");
            assert_eq!(answer.map(|objects| objects.len()), expected.map_err(str::to_owned), "{body}");
        }
        let v1 = "apiextensions.k8s.io/v1";
        let of = |version: &str, response: Value| json!({"apiVersion": version, "kind": "ConversionReview", "response": response});
        let success =
            |uid: &str| json!({"uid": uid, "result": {"status": "Success"}, "convertedObjects": [{}, {}]});
        check(Review::V1, &of(v1, success("u")), Ok(2));
        check(Review::V1, &of(v1, json!({"uid": "u", "result": {"status": "Success"}})), Ok(0));
        check(Review::V1, &of(v1, Value::Null), Err("no response provided"));
        check(Review::V1, &of(v1, success("")), Err("expected response.uid=\"u\", got \"\""));
        let other = "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got other/v1, Kind=ConversionReview";
        check(Review::V1, &of("other/v1", success("u")), Err(other));
        let failure = |result: Value| of(v1, json!({"uid": "u", "result": result, "convertedObjects": [{}]}));
        check(Review::V1, &failure(json!({"status": "Failure", "message": "why"})), Err("why"));
        let silent = "response.result.status was 'Failure', not 'Success'";
        check(Review::V1, &failure(json!({"status": "Failure"})), Err(silent));
        check(Review::V1, &failure(json!({})), Err("response.result.status was '', not 'Success'"));
        check(Review::V1Beta1, &of("", success("")), Ok(2));
        check(Review::V1Beta1, &json!({}), Err("no response provided"));
        check(Review::V1Beta1, &of("", json!({"result": {"message": "why"}})), Err("why"));
    }
}
