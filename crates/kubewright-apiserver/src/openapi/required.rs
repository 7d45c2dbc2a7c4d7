//! Which fields of built-in kinds have to be there.
//!
//! `required.txt` is made by `tools/protobuf`. A line is a type and its fields.

use std::{collections::HashMap, sync::LazyLock};

/// The fields that a type has to have: `core/v1.Container`.
pub(super) fn of(full_name: &str) -> &'static [&'static str] {
    REQUIRED.get(full_name).map(Vec::as_slice).unwrap_or_default()
}

static REQUIRED: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let lines = include_str!("required.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(name, fields)| (name, fields.split(' ').collect()))
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_a_name() {
        assert_eq!(of("core/v1.Container"), ["name"]);
        assert_eq!(of("core/v1.PodSpec"), ["containers"]);
        assert!(of("meta/v1.ObjectMeta").is_empty());
    }
}
