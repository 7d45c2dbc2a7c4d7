//! Where a value stands in an object.

use std::fmt;

/// Where a value stands, as a chain up to the root. Nothing is allocated until somebody reads it.
///
/// Source: apimachinery `util/validation/field.Path`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    /// A field of a struct, `.name`.
    Child(&'a Path<'a>, &'a str),
    /// An entry of a map, `[name]`.
    Key(&'a Path<'a>, &'a str),
    /// An item of a list, `[0]`.
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    pub(crate) fn child<'a>(&'a self, name: &'a str) -> Path<'a> {
        Path::Child(self, name)
    }

    pub(crate) fn key<'a>(&'a self, name: &'a str) -> Path<'a> {
        Path::Key(self, name)
    }

    pub(crate) fn index(&self, index: usize) -> Path<'_> {
        Path::Index(self, index)
    }

    /// The path as the name of a field in an error. Go's name of the root is `<nil>`.
    pub(crate) fn field(&self) -> String {
        if matches!(self, Self::Root) { NO_PATH.to_owned() } else { self.to_string() }
    }
}

impl fmt::Display for Path<'_> {
    /// The path; that of the root is empty.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Child(Path::Root, name) => formatter.write_str(name),
            Self::Child(parent, name) => write!(formatter, "{parent}.{name}"),
            Self::Key(parent, name) => write!(formatter, "{parent}[{name}]"),
            Self::Index(parent, index) => write!(formatter, "{parent}[{index}]"),
        }
    }
}

/// How Go prints the path to the root.
pub(crate) const NO_PATH: &str = "<nil>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_upstream_writes_them() {
        let root = Path::Root;
        let (spec, top) = (root.child("spec"), root.index(2));
        let (list, map) = (spec.child("list"), spec.child("map"));
        let item = list.index(3);
        for (path, text) in [
            (spec, "spec"),
            (item.child("name"), "spec.list[3].name"),
            (map.key("a.b"), "spec.map[a.b]"),
            (top, "[2]"),
            (root, "<nil>"),
        ] {
            assert_eq!(path.field(), text);
        }
    }
}
