//! Objects as the rows of a table, for `kubectl get`.

use bytes::{BufMut, Bytes, BytesMut};
use jiff::Timestamp;

use super::{accept::IncludeObject, brief::brief, json_path, reply::put_metadata_only};
use crate::{
    kind::{Cell, Column, Kind, age},
    object::{CodecError, Document, Object},
    value::{Value, json},
};

/// Makes tables of the objects of a kind.
///
/// Source: apiserver `response.asTable`, `rest.NewDefaultTableConvertor`, apiextensions `tableconvertor`.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) include: IncludeObject,
    pub(crate) now: Timestamp,
}

impl Table<'_> {
    /// A table of one row. `with_columns` is false for all but the first event of a watch.
    ///
    /// # Errors
    /// As [`Object::decode`].
    pub(crate) fn of_one(&self, document: &Document, with_columns: bool) -> Result<Bytes, CodecError> {
        let metadata = json!({"resourceVersion": document.revision().to_string()});
        let mut bytes = BytesMut::with_capacity(512);
        bytes.put_slice(self.head(&metadata, with_columns).as_bytes());
        self.row(&mut bytes, document)?;
        bytes.put_slice(Self::TAIL);
        Ok(bytes.freeze())
    }

    /// Everything before the first row.
    pub(crate) fn head(&self, list_metadata: &Value, with_columns: bool) -> String {
        let columns: Vec<Value> =
            if with_columns { self.kind.columns.iter().map(definition).collect() } else { Vec::new() };
        let head = json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": list_metadata,
            "columnDefinitions": columns,
        })
        .to_string();
        format!("{},\"rows\":[", head.strip_suffix('}').unwrap_or(&head))
    }

    /// Everything after the last row.
    pub(crate) const TAIL: &'static [u8] = b"]}";

    /// Writes a row. Only the cells are made of the decoded object, and only of as much of it as they show.
    ///
    /// # Errors
    /// As [`Object::decode`].
    pub(crate) fn row(&self, bytes: &mut BytesMut, document: &Document) -> Result<(), CodecError> {
        let object = self.shown_part(document)?;
        bytes.put_slice(b"{\"cells\":[");
        for (index, column) in self.kind.columns.iter().enumerate() {
            if index > 0 {
                bytes.put_u8(b',');
            }
            // Writing a `Value` to memory cannot fail: its keys are strings and its numbers are finite.
            let _ = serde_json::to_writer((&mut *bytes).writer(), &self.cell(column, &object));
        }
        bytes.put_slice(b"],\"object\":");
        match self.include {
            IncludeObject::None => bytes.put_slice(b"null"),
            IncludeObject::Metadata => put_metadata_only(bytes, document),
            IncludeObject::Object => bytes.put_slice(&self.kind.bytes(document)),
        }
        bytes.put_u8(b'}');
        Ok(())
    }

    /// The object without those parts of its metadata that no column of its kind shows.
    fn shown_part(&self, document: &Document) -> Result<Object, CodecError> {
        let shows_metadata = |column: &Column| match &column.cell {
            Cell::Path(path) => path.contains("metadata") && path != ".metadata.creationTimestamp",
            Cell::Age | Cell::Computed(_) | Cell::Timed(_) => false,
        };
        if self.kind.columns.iter().any(shows_metadata) {
            Object::decode(document)
        } else {
            brief(document, self.kind.is_custom)
        }
    }

    fn cell(&self, column: &Column, object: &Object) -> Value {
        match &column.cell {
            Cell::Computed(compute) => compute(object),
            Cell::Timed(compute) => compute(object, self.now),
            Cell::Age => age(self.now, object.meta("creationTimestamp")).into(),
            Cell::Path(path) => self.custom_cell(&column.kind, json_path::first(&object.0, path)),
        }
    }

    fn custom_cell(&self, kind: &str, value: Option<&Value>) -> Value {
        match (kind, value) {
            (_, None | Some(Value::Null)) => Value::Null,
            ("date", Some(Value::String(time))) => age(self.now, time).into(),
            ("string", Some(Value::String(text))) => (**text).into(),
            ("string", Some(other)) => other.to_string().into(),
            ("integer", Some(number)) => number.as_i64().map_or(Value::Null, Value::from),
            ("number", Some(Value::Number(number))) => number.clone().into(),
            ("boolean", Some(Value::Bool(flag))) => (*flag).into(),
            _ => Value::Null,
        }
    }
}

fn definition(column: &Column) -> Value {
    json!({
        "name": column.name, "type": column.kind, "format": column.format,
        "description": column.description, "priority": column.priority,
    })
}
