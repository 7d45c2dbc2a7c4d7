//! A `Scale`: the number of replicas, whatever a kind calls it.

use crate::{
    admission::View,
    error::Status,
    kind::ScalePaths,
    object::{Object, object_at},
    selector::selector_text,
    value::{Value, json},
};

/// Shows an object as a `Scale`, and changes it as one.
#[derive(Debug, Clone)]
pub(crate) struct Scale(pub(crate) ScalePaths);

impl Scale {
    /// The object as a `Scale`.
    ///
    /// # Errors
    /// 500 for an object without replicas.
    pub(crate) fn of(&self, object: &Object) -> Result<Value, Status> {
        let paths = &self.0;
        let Some(replicas) = object.at(&paths.replicas) else {
            let path = paths.replicas.replace('/', ".");
            return Err(Status::internal_error(format!("the spec replicas field {path:?} does not exist")));
        };
        let mut metadata = json!({});
        for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            if let Some(value) = object.metadata().get(field) {
                metadata[field] = value.clone();
            }
        }
        let mut status =
            json!({"replicas": object.at(&paths.status_replicas).cloned().unwrap_or_else(|| 0.into())});
        if let Some(selector) = paths.selector.as_ref().and_then(|path| object.at(path)) {
            status["selector"] = selector_text(selector).into();
        }
        Ok(json!({
            "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
            "spec": {"replicas": replicas}, "status": status,
        }))
    }

    /// Changes the number of replicas; objects on the way to it are made.
    pub(crate) fn set_replicas(&self, object: &mut Object, replicas: Value) {
        let steps: Vec<&str> = self.0.replicas.trim_start_matches('/').split('/').collect();
        let Some((last, parents)) = steps.split_last() else { return };
        let mut map = &mut object.0;
        for step in parents {
            map = object_at(map, step);
        }
        map.insert((*last).into(), replicas);
    }
}

impl View for Scale {
    fn kind(&self) -> [&'static str; 3] {
        ["autoscaling", "v1", "Scale"]
    }

    fn show(&self, object: &Object) -> Result<Value, Status> {
        self.of(object)
    }

    fn take(&self, shown: &Value, object: &mut Object) {
        if let Some(replicas) = shown.pointer("/spec/replicas") {
            self.set_replicas(object, replicas.clone());
        }
    }
}
