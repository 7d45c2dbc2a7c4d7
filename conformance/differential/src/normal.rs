//! Answers without what no two servers can agree on: times, identities, versions, generated names, addresses.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::side::Answer;

/// Replaces identities by the order in which they are first heard of, so that "the same again" stays visible.
#[derive(Debug, Default)]
pub(crate) struct Normaliser {
    tokens: HashMap<(&'static str, String), String>,
}

impl Normaliser {
    pub(crate) fn answer(&mut self, mut answer: Answer) -> Answer {
        self.value(&mut answer.body, "");
        self.text(&mut answer.body);
        answer
    }

    pub(crate) fn event(&mut self, mut event: Value) -> Value {
        self.value(&mut event, "");
        event
    }

    fn token(&mut self, kind: &'static str, value: &str) -> String {
        let number = self.tokens.keys().filter(|(it, _)| *it == kind).count() + 1;
        self.tokens.entry((kind, value.to_owned())).or_insert_with(|| format!("<{kind} {number}>")).clone()
    }

    fn value(&mut self, value: &mut Value, field: &str) {
        match value {
            Value::Object(fields) => {
                fields.remove("managedFields");
                self.metadata(fields);
                fields.iter_mut().for_each(|(name, value)| self.value(value, name));
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.value(it, field)),
            Value::String(text) => {
                let kind = match field {
                    "uid" if text.len() == 36 => "uid",
                    "clusterIP" | "clusterIPs" if text != "None" => "ip",
                    "continue" => "token",
                    _ if is_time(text) => {
                        "<time>".clone_into(text);
                        return;
                    }
                    _ => return,
                };
                *text = self.token(kind, &text.clone());
            }
            Value::Number(_) if field == "nodePort" => *value = "<port>".into(),
            Value::Number(_) if field == "remainingItemCount" => {}
            _ => {}
        }
    }

    /// Versions and generated names of one `metadata`, or of any object that looks like one.
    fn metadata(&mut self, fields: &mut Map<String, Value>) {
        let is_object = fields.contains_key("uid");
        if let Some(Value::String(version)) = fields.get_mut("resourceVersion") {
            // The version of a list depends on what else is written.
            *version =
                if is_object { self.token("version", &version.clone()) } else { "<list version>".into() };
        }
        let prefix = fields.get("generateName").and_then(Value::as_str).map(str::to_owned);
        if let (Some(prefix), Some(Value::String(name))) = (prefix, fields.get_mut("name"))
            && name.starts_with(&prefix)
            && name.len() == prefix.len() + 5
        {
            *name = self.token("name", &name.clone());
        }
    }

    /// Identities inside of messages.
    fn text(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(|it| self.text(it)),
            Value::Array(items) => items.iter_mut().for_each(|it| self.text(it)),
            Value::String(text) => {
                for ((_, known), token) in self.tokens.iter().filter(|((_, known), _)| known.len() > 1) {
                    if text.contains(known.as_str()) {
                        *text = text.replace(known.as_str(), token);
                    }
                }
            }
            _ => {}
        }
    }
}

/// `2026-01-02T03:04:05Z`, with or without microseconds.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    (20..=30).contains(&bytes.len()) && bytes[4] == b'-' && bytes[10] == b'T' && bytes.last() == Some(&b'Z')
}

/// The places at which two values differ, one to a line: path, ours, theirs.
pub(crate) fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let mut names: Vec<_> = a.keys().chain(b.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                let of = |it: &Map<String, Value>| it.get(name).cloned().unwrap_or_else(|| "<absent>".into());
                differences(&format!("{path}.{name}"), &of(a), &of(b), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{i}]"), a, b, found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path}: ours {ours}, theirs {theirs}")),
    }
}
