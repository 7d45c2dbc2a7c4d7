//! What `kubectl get` prints of an object.

use jiff::Timestamp;

use crate::{object::Object, value::Value};

/// One column of the table of a kind.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) description: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub(crate) kind: String,
    pub(crate) format: String,
    /// 0 is always shown; more is shown with `-o wide`.
    pub(crate) priority: i64,
    pub(crate) cell: Cell,
}

/// Where a cell's value comes from.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// A JSON path of the object, as definitions of custom resources give it.
    Path(String),
    /// The age of the object.
    Age,
    /// Worked out from the object.
    Computed(fn(&Object) -> Value),
    /// Worked out from the object and the time.
    Timed(fn(&Object, Timestamp) -> Value),
}

impl Column {
    pub(super) fn new(name: &str, kind: &str, cell: Cell) -> Self {
        let format = if name == "Name" { "name" } else { "" };
        Self {
            name: name.to_owned(),
            description: String::new(),
            kind: kind.to_owned(),
            format: format.to_owned(),
            priority: 0,
            cell,
        }
    }

    /// `Name`, the first column of every table.
    pub(super) fn of_name() -> Self {
        Self::new("Name", "string", Cell::Computed(|object| object.name().into()))
    }

    /// `Age`, the last one of most.
    pub(super) fn of_age() -> Self {
        Self::new("Age", "string", Cell::Age)
    }
}
