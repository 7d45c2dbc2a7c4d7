//! Versions that call some fields otherwise.

use std::future::ready;

use futures::future::BoxFuture;

use super::Converter;
use crate::{error::Status, object::Object, value::Value};

/// Some fields of the top level have other names at one version.
#[derive(Debug)]
pub(crate) struct RenamedFields {
    /// The version that has the first name of each pair; all others have the second one.
    pub(crate) first: &'static str,
    pub(crate) names: &'static [(&'static str, &'static str)],
}

impl Converter for RenamedFields {
    fn convert<'a>(
        &'a self,
        mut objects: Vec<Object>,
        api_version: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Object>, Status>> {
        for object in &mut objects {
            self.rename(object, api_version);
        }
        Box::pin(ready(Ok(objects)))
    }
}

impl RenamedFields {
    fn rename(&self, object: &mut Object, api_version: &str) {
        let (is_first, to_first) = (object.str_at("/apiVersion") == self.first, api_version == self.first);
        object.0.insert("apiVersion".into(), api_version.into());
        if is_first == to_first {
            return;
        }
        let names =
            self.names.iter().map(|(first, other)| if to_first { (other, first) } else { (first, other) });
        let moved: Vec<(&str, Value)> =
            names.filter_map(|(from, to)| object.0.remove(from).map(|value| (*to, value))).collect();
        for (field, value) in moved {
            object.0.insert(field.into(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::value::json;

    #[test]
    fn fields_are_renamed_once_in_either_direction() {
        let converter = RenamedFields { first: "v1", names: &[("source", "deprecatedSource")] };
        let kept = json!({"apiVersion": "v1", "source": 1, "reason": 2});
        let shown = json!({"apiVersion": "g/v1", "deprecatedSource": 1, "reason": 2});
        for (from, to, expected) in
            [(&kept, "g/v1", &shown), (&shown, "g/v1", &shown), (&shown, "v1", &kept), (&kept, "v1", &kept)]
        {
            let object = Object(from.as_object().cloned().unwrap());
            let converted = converter.convert(vec![object], to).now_or_never().unwrap().unwrap();
            assert_eq!(&Value::from(converted[0].0.clone()), expected);
        }
    }
}
