//! The document of version 2 in protobuf, which is how Go's clients read it.
//!
//! Source: `gnostic` `openapiv2/OpenAPIv2.proto` for the numbers of the fields.

use crate::{
    value::{Map, Value},
    wire::ProtobufWriter as Writer,
};

/// Encodes a document.
pub(super) fn encode(swagger: &Value) -> Vec<u8> {
    let mut document = Writer::default();
    document.text(1, text(swagger, "swagger"));
    document.message(2, |info| {
        info.text(1, text(&swagger["info"], "title"));
        info.text(2, text(&swagger["info"], "version"));
    });
    document.message(8, |paths| {
        for (path, item) in fields(&swagger["paths"]) {
            named(paths, 2, path, |value| path_item(value, item));
        }
    });
    document.message(9, |definitions| {
        for (name, found) in fields(&swagger["definitions"]) {
            named(definitions, 1, name, |value| schema(value, found));
        }
    });
    document.into_bytes()
}

/// A name and what it stands for.
fn named(writer: &mut Writer, number: u32, name: &str, value: impl FnOnce(&mut Writer)) {
    writer.message(number, |entry| {
        entry.text(1, name);
        entry.message(2, value);
    });
}

fn path_item(writer: &mut Writer, item: &Value) {
    for (number, method) in [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (8, "patch")] {
        if let Some(found) = item.get(method) {
            writer.message(number, |value| operation(value, found));
        }
    }
}

fn operation(writer: &mut Writer, operation: &Value) {
    for kind in items(operation, "consumes") {
        writer.text(7, kind.as_str().unwrap_or_default());
    }
    for parameter in items(operation, "parameters") {
        writer.message(8, |item| item.message(1, |value| self::parameter(value, parameter)));
    }
    writer.message(9, |responses| {
        for (code, response) in fields(&operation["responses"]) {
            named(responses, 1, code, |value| {
                value.message(1, |found| {
                    found.text(1, text(response, "description"));
                    if response["schema"].is_object() {
                        found.message(2, |item| item.message(1, |value| schema(value, &response["schema"])));
                    }
                });
            });
        }
    });
    extensions(writer, 13, operation);
}

fn parameter(writer: &mut Writer, parameter: &Value) {
    if text(parameter, "in") == "body" {
        writer.message(1, |body| {
            body.text(2, text(parameter, "name"));
            body.text(3, "body");
            body.flag(4, true);
            body.message(5, |value| schema(value, &parameter["schema"]));
        });
        return;
    }
    writer.message(2, |other| {
        other.message(3, |query| {
            query.text(2, "query");
            query.text(4, text(parameter, "name"));
            query.text(6, text(parameter, "type"));
        });
    });
}

fn schema(writer: &mut Writer, found: &Value) {
    for (number, field) in [(1, "$ref"), (2, "format"), (3, "title"), (4, "description"), (13, "pattern")] {
        writer.text(number, text(found, field));
    }
    if let Some(value) = found.get("default") {
        writer.message(5, |any| any.text(2, &value.to_string()));
    }
    for (number, field) in [(6, "multipleOf"), (7, "maximum"), (9, "minimum")] {
        if let Some(value) = found[field].as_f64() {
            writer.double(number, value);
        }
    }
    let bounds = [(11, "maxLength"), (12, "minLength"), (14, "maxItems"), (15, "minItems")];
    for (number, field) in bounds.into_iter().chain([(17, "maxProperties"), (18, "minProperties")]) {
        if let Some(value) = found[field].as_i64() {
            writer.number(number, value);
        }
    }
    for (number, field) in [(8, "exclusiveMaximum"), (10, "exclusiveMinimum"), (16, "uniqueItems")] {
        writer.flag(number, found[field] == Value::Bool(true));
    }
    for field in items(found, "required") {
        writer.text(19, field.as_str().unwrap_or_default());
    }
    for value in items(found, "enum") {
        writer.message(20, |any| any.text(2, &value.to_string()));
    }
    match &found["additionalProperties"] {
        Value::Bool(allowed) => writer.message(21, |item| item.flag(2, *allowed)),
        of @ Value::Object(_) => writer.message(21, |item| item.message(1, |value| schema(value, of))),
        _ => {}
    }
    if let Some(kind) = found["type"].as_str() {
        writer.message(22, |item| item.text(1, kind));
    }
    if found["items"].is_object() {
        writer.message(23, |item| item.message(1, |value| schema(value, &found["items"])));
    }
    if found["properties"].is_object() {
        writer.message(25, |properties| {
            for (name, of) in fields(&found["properties"]) {
                named(properties, 1, name, |value| schema(value, of));
            }
        });
    }
    extensions(writer, 31, found);
}

/// What begins with `x-`. It is kept as YAML, and JSON is YAML.
fn extensions(writer: &mut Writer, number: u32, of: &Value) {
    for (name, value) in fields(of).filter(|(name, _)| name.starts_with("x-")) {
        named(writer, number, name, |any| any.text(2, &value.to_string()));
    }
}

fn fields(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter).map(|(name, value)| (name.as_str(), value))
}

fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
