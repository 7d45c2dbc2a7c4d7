//! The document of version 2: those of version 3, all in one, in its words.

use crate::value::{Map, Value, json};

/// One document of many.
pub(super) fn of(documents: impl Iterator<Item = Value>) -> Value {
    let (mut paths, mut definitions) = (Map::new(), Map::new());
    for mut document in documents {
        for (path, item) in taken(&mut document["paths"]) {
            paths.insert(path, path_item(item));
        }
        for (name, schema) in taken(&mut document["components"]["schemas"]) {
            definitions.insert(name, self::schema(schema));
        }
    }
    json!({
        "swagger": "2.0", "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths, "definitions": definitions,
    })
}

fn taken(value: &mut Value) -> Map {
    if let Value::Object(fields) = std::mem::take(value) { fields } else { Map::new() }
}

fn path_item(item: Value) -> Value {
    let Value::Object(operations) = item else { return item };
    operations
        .into_iter()
        .map(|(method, operation)| (method, self::operation(operation)))
        .collect::<Map>()
        .into()
}

/// Parameters say their type themselves, and the body is one of them.
fn operation(operation: Value) -> Value {
    let Value::Object(mut fields) = operation else { return operation };
    let mut parameters = Vec::new();
    if let Some(body) = fields.remove("requestBody") {
        let contents = body["content"].as_object().into_iter().flatten();
        let (kinds, schemas): (Vec<Value>, Vec<&Value>) =
            contents.map(|(kind, content)| (Value::from(kind.as_str()), &content["schema"])).unzip();
        let schema = schemas.first().map(|schema| self::schema((*schema).clone())).unwrap_or_default();
        parameters.push(json!({"name": "body", "in": "body", "required": true, "schema": schema}));
        fields.insert("consumes".into(), kinds.into());
    }
    if let Some(Value::Array(found)) = fields.remove("parameters") {
        parameters.extend(found.iter().map(|parameter| {
            json!({"name": parameter["name"], "in": "query", "type": parameter["schema"]["type"], "uniqueItems": true})
        }));
    }
    fields.insert("parameters".into(), parameters.into());
    if let Some(Value::Object(responses)) = fields.remove("responses") {
        let responses = responses.into_iter().map(|(code, response)| {
            let found = schema(response["content"]["application/json"]["schema"].clone());
            (code, json!({"description": response["description"], "schema": found}))
        });
        fields.insert("responses".into(), responses.collect::<Map>().into());
    }
    fields.into()
}

/// There is no `oneOf`, nothing stands beside a reference, and nothing is nullable.
///
/// Source: kube-openapi `openapiconv`, apiextensions `controller/openapi/v2.ToStructuralOpenAPIV2`.
fn schema(schema: Value) -> Value {
    let Value::Object(fields) = schema else { return schema };
    let referred = fields.get("allOf").and_then(|all| all.pointer("/0/$ref"));
    let referred = fields.get("$ref").or(referred).and_then(Value::as_str);
    let extensions = fields.iter().filter(|(name, _)| name.starts_with("x-kubernetes-patch"));
    if let Some(name) = referred {
        let name = name.replace("#/components/schemas/", "#/definitions/");
        let mut found = Map::from_iter([("$ref".to_owned(), Value::from(name))]);
        found.extend(extensions.map(|(name, value)| (name.clone(), value.clone())));
        return found.into();
    }
    if fields.contains_key("oneOf") && !fields.contains_key("type") {
        let mut text = json!({"type": "string"});
        if let Some(format) = fields.get("format") {
            text["format"] = format.clone();
        }
        return text;
    }
    let is_preserving = fields.get("x-kubernetes-preserve-unknown-fields").is_some();
    let mut found = Map::new();
    for (name, value) in fields {
        let value = match name.as_str() {
            "allOf" | "anyOf" | "oneOf" | "not" | "nullable" | "example" => continue,
            // Clients of this version would take what they do not know for wrong.
            "properties" | "items" if is_preserving => continue,
            "items" | "additionalProperties" => self::schema(value),
            "properties" => path_of_schemas(value),
            _ => value,
        };
        found.insert(name, value);
    }
    found.into()
}

fn path_of_schemas(properties: Value) -> Value {
    let Value::Object(fields) = properties else { return properties };
    fields.into_iter().map(|(name, value)| (name, schema(value))).collect::<Map>().into()
}
