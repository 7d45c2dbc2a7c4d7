//! Log lines as JSON: flat, and no key twice.

use std::{fmt, io::Write};

use serde::Serialize;
use serde_json::{Map, Value};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{Layer, fmt::MakeWriter, layer::Context, registry::LookupSpan};

use super::{TimeFormat, object};
use crate::error;

/// Writes each event as one line: its own fields, and those of the spans around it. Where two have the same name, the inner one is written.
///
/// `tracing-subscriber` has a JSON format of its own; it puts a span's name beside its fields, so that a span with a field `name` (each
/// reconcile's) has that key twice.
pub(super) struct JsonLines<W> {
    writer: W,
    time: TimeFormat,
}

impl<W> JsonLines<W> {
    pub(super) fn new(writer: W, time: TimeFormat) -> Self {
        Self { writer, time }
    }
}

impl<S, W> Layer<S> for JsonLines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().replace(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        // Formatted before the span is locked: how a value formats itself is its author's code.
        let mut recorded = Fields::default();
        values.record(&mut recorded);
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            fields.0.extend(recorded.0);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        // From the inner span to the outer ones.
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(outer) = span.extensions().get::<Fields>() {
                for (name, value) in &outer.0 {
                    fields.0.entry(name).or_insert_with(|| value.clone());
                }
            }
        }
        let metadata = event.metadata();
        let line = Line {
            timestamp: self.time.now(),
            level: metadata.level().as_str(),
            target: metadata.target(),
            message: fields.0.remove(MESSAGE),
            fields: &fields.0,
        };
        if let Ok(mut text) = serde_json::to_vec(&line) {
            text.push(b'\n');
            // A log that cannot be written has nowhere to say so.
            let _ = self.writer.make_writer_for(metadata).write_all(&text);
        }
    }
}

/// The keys that every line has come first.
#[derive(Serialize)]
struct Line<'a> {
    timestamp: Value,
    level: &'a str,
    target: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Value>,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
}

/// Fields by name.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn insert(&mut self, field: &Field, value: impl Into<Value>) {
        // A field that is named as a key of the line itself keeps its value under a name of its own.
        let name = match field.name() {
            name @ ("timestamp" | "level" | "target") => format!("{name}_"),
            name => name.to_owned(),
        };
        self.0.insert(name, value.into());
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.insert(field, error::chain(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        let object = text.starts_with(object::BEGINNING).then(|| serde_json::from_str(&text).ok()).flatten();
        self.insert(field, object.unwrap_or(Value::String(text)));
    }
}

const MESSAGE: &str = "message";

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use serde_json::json;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(text)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What `log` writes: one line, without its timestamp.
    #[track_caller]
    fn check(log: impl FnOnce(), expected: &Value) {
        let written = Written::default();
        let writer = written.clone();
        let lines = JsonLines::new(move || writer.clone(), TimeFormat::default());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), log);
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        let mut line: Value = serde_json::from_str(&text).unwrap();
        let keys = line.as_object().unwrap().keys();
        for key in keys {
            assert_eq!(text.matches(&format!("{key:?}:")).count(), 1, "{key} in {text}");
        }
        let timestamp = line.as_object_mut().unwrap().remove("timestamp").unwrap();
        assert!(timestamp.as_str().unwrap().ends_with('Z'), "{timestamp}");
        assert_eq!(&line, expected);
    }

    const TARGET: &str = module_path!();

    #[test]
    fn fields_of_spans_stand_beside_those_of_the_event() {
        check(
            || {
                let _span = tracing::error_span!("reconcile", controller = "cm", name = "a").entered();
                tracing::info!(created = 2, "done");
            },
            &json!({"level": "INFO", "target": TARGET, "message": "done", "created": 2, "controller": "cm", "name": "a"}),
        );
    }

    #[test]
    fn an_inner_field_hides_an_outer_one() {
        check(
            || {
                let _outer = tracing::error_span!("outer", name = "outer", kind = "Pod").entered();
                let _inner = tracing::error_span!("inner", name = "inner", attempt = 1).entered();
                tracing::warn!(attempt = 2);
            },
            &json!({"level": "WARN", "target": TARGET, "name": "inner", "kind": "Pod", "attempt": 2}),
        );
    }

    #[test]
    fn a_span_may_learn_a_field_later() {
        check(
            || {
                let span = tracing::error_span!("reconcile", uid = tracing::field::Empty);
                span.record("uid", "u1");
                let _span = span.entered();
                tracing::info!("known");
            },
            &json!({"level": "INFO", "target": TARGET, "message": "known", "uid": "u1"}),
        );
    }

    /// What else an object holds is nobody's business.
    #[test]
    fn an_object_is_named_and_not_shown() {
        use k8s_openapi::{ByteString, api::core::v1::Secret};
        let mut secret = Secret::default();
        secret.metadata.namespace = Some("shop".into());
        secret.metadata.name = Some("db".into());
        secret.data = Some([("password".to_owned(), ByteString(b"hunter2".to_vec()))].into());
        let named = json!({"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "name": "db"});
        check(
            || tracing::info!(secret = ?object::object(&secret), "rotated"),
            &json!({"level": "INFO", "target": TARGET, "message": "rotated", "secret": named}),
        );
    }

    #[test]
    fn values_keep_their_types_and_errors_their_causes() {
        let error = io::Error::other("port 1");
        check(
            || {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    ok = false,
                    ratio = 0.5,
                    below = -1,
                    level = 3,
                    shown = %"it",
                    "failed"
                );
            },
            &json!({"level": "ERROR", "target": TARGET, "message": "failed", "error": "port 1", "ok": false, "ratio": 0.5,
                "below": -1, "level_": 3, "shown": "it"}),
        );
    }
}
