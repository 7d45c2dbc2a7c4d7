//! What a document says of the paths of a resource.

use super::document::{GVK, gvk, path_of, reference};
use crate::{
    kind::{Kind, Subresource},
    value::{Map, Value, json},
    wire::patch_types,
};

/// Adds the paths of a resource and of its subresources.
pub(super) fn add(kind: &Kind, schema: &str, paths: &mut Map) {
    let base = format!("/{}", path_of(&kind.group, &kind.version));
    let scope = if kind.is_namespaced() { "/namespaces/{namespace}" } else { "" };
    let collection = format!("{base}{scope}/{}", kind.plural);
    let own =
        Operations { kind, gvk: gvk(&kind.group, &kind.version, &kind.kind), schema: schema.to_owned() };
    let lists = Operations { schema: format!("{schema}List"), ..own.clone() };
    let has = |verb: &str| kind.verbs.contains(&verb);
    let mut of_all = Map::new();
    if has("list") {
        of_all.insert("get".into(), lists.read("list", LIST_PARAMETERS));
        if kind.is_namespaced() {
            let everywhere = json!({"get": lists.read("list", LIST_PARAMETERS)});
            paths.insert(format!("{base}/{}", kind.plural).into(), everywhere);
        }
    }
    if has("create") {
        of_all.insert("post".into(), own.write("post", WRITE_PARAMETERS));
    }
    if has("deletecollection") {
        of_all.insert("delete".into(), own.read("deletecollection", LIST_PARAMETERS));
    }
    paths.insert(collection.as_str().into(), of_all.into());
    let item = own.of_one(kind.verbs);
    if !item.is_empty() {
        paths.insert(format!("{collection}/{{name}}").into(), item.into());
    }
    for subresource in &kind.subresources {
        let path = format!("{collection}/{{name}}/{}", subresource.name());
        paths.insert(path.into(), own.of_part(subresource).into());
    }
}

/// Operations on objects of one kind.
#[derive(Clone)]
struct Operations<'a> {
    kind: &'a Kind,
    gvk: Value,
    schema: String,
}

impl Operations<'_> {
    fn of_one(&self, verbs: &[&str]) -> Map {
        let mut operations = Map::new();
        for verb in verbs {
            match *verb {
                "get" => operations.insert("get".into(), self.read("get", &[])),
                "update" => operations.insert("put".into(), self.write("put", WRITE_PARAMETERS)),
                "patch" => operations.insert("patch".into(), self.patch()),
                "delete" => operations.insert("delete".into(), self.read("delete", DELETE_PARAMETERS)),
                _ => None,
            };
        }
        operations
    }

    fn of_part(&self, part: &Subresource) -> Map {
        let other = part.other_kind().and_then(|[group, version, kind]| {
            let api_version =
                if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
            let schema = super::builtin::name(&api_version, kind)?;
            Some(Operations { gvk: gvk(group, version, kind), schema, ..self.clone() })
        });
        let operations = other.unwrap_or_else(|| self.clone());
        if part.verbs().contains(&"create") {
            return Map::from_iter([("post".to_owned(), operations.write("post", WRITE_PARAMETERS))]);
        }
        operations.of_one(part.verbs())
    }

    fn read(&self, action: &str, parameters: &[Parameter]) -> Value {
        let mut operation = json!({
            "x-kubernetes-action": action,
            "parameters": parameters.iter().map(|parameter| query(*parameter)).collect::<Vec<_>>(),
            "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": reference(&self.schema)}}}},
        });
        operation[GVK] = self.gvk.clone();
        operation
    }

    fn write(&self, action: &str, parameters: &[Parameter]) -> Value {
        let mut operation = self.read(action, parameters);
        operation["requestBody"] =
            json!({"required": true, "content": {"*/*": {"schema": reference(&self.schema)}}});
        operation
    }

    fn patch(&self) -> Value {
        let mut operation = self.read("patch", WRITE_PARAMETERS);
        if let Some(parameters) = operation["parameters"].as_array_mut() {
            parameters.push(query(("force", "boolean")));
        }
        let any_object = json!({"schema": {"type": "object"}});
        let contents =
            patch_types(self.kind).iter().map(|media_type| ((*media_type).to_owned(), any_object.clone()));
        operation["requestBody"] = json!({"required": true, "content": contents.collect::<Map>()});
        operation
    }
}

/// Name and type.
type Parameter = (&'static str, &'static str);

fn query((name, kind): Parameter) -> Value {
    json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}})
}

const WRITE_PARAMETERS: &[Parameter] =
    &[("fieldValidation", "string"), ("dryRun", "string"), ("fieldManager", "string")];

const DELETE_PARAMETERS: &[Parameter] = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];

const LIST_PARAMETERS: &[Parameter] = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];
