//! What is known of the fields of built-in kinds: how they are patched, and what their items are.
//!
//! `facts.txt` is made by `tools/protobuf`. A type has the fields that are patched in a way of their own, and those that
//! lead to such fields. A line is the JSON name, then the type that the field or its items have (`-`: one without facts),
//! then the strategies and the key. All other fields are what merge patch takes them for.

use std::{collections::HashMap, sync::LazyLock};

/// What is known of one type. `None` inside knows nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts(Option<TypeId>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TypeId(usize);

/// How a field is patched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Strategy {
    /// A list is merged with the one in the patch.
    pub(super) merges: bool,
    /// An object gives way to the one in the patch.
    pub(super) replaces: bool,
    /// The field that tells the items of a list apart; empty where they are compared as wholes.
    pub(crate) key: &'static str,
    /// All of it, as documents say it: `merge,retainKeys`.
    pub(crate) words: &'static str,
}

impl Facts {
    /// What is known of a kind.
    pub(crate) fn of(api_version: &str, kind: &str) -> Self {
        Self(TABLE.kinds.get(&(api_version, kind)).copied())
    }

    /// How a field is patched, and what is known of its value, or of its items.
    pub(crate) fn field(self, name: &str) -> (Strategy, Self) {
        let found = self.0.and_then(|id| TABLE.types.get(id.0)).and_then(|fields| fields.get(name));
        found.map_or((Strategy::default(), Self(None)), |field| (field.strategy, Self(field.leads_to)))
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("facts.txt")));

#[derive(Debug, Default)]
struct Table {
    types: Vec<HashMap<&'static str, Field>>,
    /// By `apiVersion` and kind.
    kinds: HashMap<(&'static str, &'static str), TypeId>,
}

#[derive(Debug)]
struct Field {
    leads_to: Option<TypeId>,
    strategy: Strategy,
}

impl Table {
    /// Reads the text in two rounds, since types name each other.
    fn parse(text: &'static str) -> Self {
        let mut table = Self::default();
        let mut ids = HashMap::new();
        for line in text.lines() {
            if let ["type", name] = line.split(' ').collect::<Vec<_>>()[..] {
                ids.insert(name, TypeId(ids.len()));
                table.types.push(HashMap::new());
            }
        }
        let mut current = None;
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["#", ..] => {}
                ["type", name] => current = ids.get(name).copied(),
                ["kind", api_version, kind, name] => {
                    table.kinds.extend(ids.get(name).map(|id| ((api_version, kind), *id)));
                }
                [name, leads_to, ref rest @ ..] => {
                    let strategies = rest.first().copied().unwrap_or_default();
                    let strategy = Strategy {
                        merges: strategies.split(',').any(|one| one == "merge"),
                        replaces: strategies.split(',').any(|one| one == "replace"),
                        key: rest.get(1).copied().unwrap_or_default(),
                        words: strategies,
                    };
                    let field = Field { leads_to: ids.get(leads_to).copied(), strategy };
                    if let Some(fields) = current.and_then(|id: TypeId| table.types.get_mut(id.0)) {
                        fields.insert(name, field);
                    }
                }
                _ => {}
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_along_the_path_of_a_field() {
        let follow = |mut facts: Facts, path: &[&str]| {
            let mut strategy = Strategy::default();
            for name in path {
                (strategy, facts) = facts.field(name);
            }
            strategy
        };
        let merge = |key| Strategy { merges: true, replaces: false, key, words: "merge" };
        let deployment = Facts::of("apps/v1", "Deployment");
        for (path, strategy) in [
            (&["spec", "template", "spec", "containers"][..], merge("name")),
            (&["spec", "template", "spec", "containers", "ports"], merge("containerPort")),
            (&["spec", "template", "spec", "containers", "env"], merge("name")),
            (&["spec", "template", "spec", "containers", "command"], Strategy::default()),
            (
                &["spec", "template", "spec", "volumes"],
                Strategy { words: "merge,retainKeys", ..merge("name") },
            ),
            (&["spec", "template", "metadata", "finalizers"], merge("")),
            (&["metadata", "ownerReferences"], merge("uid")),
            (&["metadata", "labels"], Strategy::default()),
            (&["spec", "selector"], Strategy::default()),
            (&["status", "conditions"], merge("type")),
            (&["nothing", "at", "all"], Strategy::default()),
        ] {
            assert_eq!(follow(deployment, path), strategy, "{path:?}");
        }
        assert_eq!(follow(Facts::of("v1", "Service"), &["spec", "ports"]), merge("port"));
        assert_eq!(
            follow(Facts::of("example.com/v1", "Widget"), &["metadata", "finalizers"]),
            Strategy::default()
        );
    }

    #[test]
    fn every_type_that_is_named_is_there() {
        for fields in &TABLE.types {
            assert!(!fields.is_empty());
        }
        let text = include_str!("facts.txt");
        let named = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["kind", _, _, name] => Some(name),
                [first, name, ..] if first != "type" && name != "-" => Some(name),
                _ => None,
            }
        });
        for name in named {
            assert!(text.contains(&format!("type {name}\n")), "{name}");
        }
    }
}
