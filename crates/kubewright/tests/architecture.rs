//! `ARCHITECTURE.md` moves with the code.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders under `folder`, relative to it, that hold code of ours.
fn folders(folder: &Path) -> Vec<String> {
    fn collect(base: &Path, folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                let path = entry.path();
                found.push(path.strip_prefix(base).unwrap().to_str().unwrap().replace('\\', "/"));
                collect(base, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(folder, folder, &mut found);
    found.sort();
    found
}

#[test]
fn every_crate_has_one_sentence() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let missing: Vec<_> = ["crates", "examples", "bench", "conformance", "tools"]
        .iter()
        .flat_map(|group| {
            let entries = fs::read_dir(root().join(group)).unwrap().map(Result::unwrap);
            entries
                .filter(|entry| entry.file_type().unwrap().is_dir())
                .map(move |entry| format!("`{group}/{}`", entry.file_name().to_str().unwrap()))
        })
        .filter(|name| text.matches(&format!("\n| {name} |")).count() != 1)
        .collect();
    assert_eq!(missing, [""; 0], "folders that ARCHITECTURE.md does not know, or names twice");
}

#[test]
fn every_room_has_one_sentence() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for name in ["kubewright", "kubewright-apiserver"] {
        let (_, section) =
            text.split_once(&format!("## {name}, in the order")).expect("each crate has its section");
        let section = section.split("\n## ").next().unwrap();
        let missing: Vec<_> = folders(&root().join("crates").join(name).join("src"))
            .into_iter()
            .filter(|room| section.matches(&format!("\n| `{room}` |")).count() != 1)
            .collect();
        assert_eq!(missing, [""; 0], "rooms of {name} that ARCHITECTURE.md does not know, or names twice");
    }
}

#[test]
fn every_room_and_file_that_is_named_exists() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for name in ["kubewright", "kubewright-apiserver"] {
        let section =
            text.split_once(&format!("## {name}, in the order")).unwrap().1.split("\n## ").next().unwrap();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        for room in rows.flat_map(|row| row.split('|').nth(1).unwrap().split(", ")) {
            let room = room.trim().trim_matches('`');
            let path = root().join("crates").join(name).join("src").join(room);
            assert!(path.exists(), "{} of {name} does not exist", path.display());
        }
    }
}

/// Rooms of one crate that use each other, however long the way round. Tests may use what they like.
#[test]
fn rooms_have_no_circles() {
    for name in ["kubewright", "kubewright-apiserver"] {
        let uses = uses_of_rooms(&root().join("crates").join(name).join("src"));
        let circles: Vec<_> = uses.keys().filter(|room| reachable(&uses, room).contains(*room)).collect();
        assert_eq!(circles, [""; 0], "rooms of {name} that use themselves by way of others: {uses:#?}");
    }
}

/// What some rooms of the API server are there to be without.
#[test]
fn rooms_have_not_heard_of_what_is_above_them() {
    let uses = uses_of_rooms(&root().join("crates/kubewright-apiserver/src"));
    let knows = |room: &str, other: &str| reachable(&uses, room).contains(other);
    for (room, others) in [
        ("value", &["error", "object", "kind"][..]),
        ("error", &["object", "kind", "context"]),
        ("object", &["kind", "storage", "wire"]),
        ("storage", &["kind", "context", "wire"]),
        ("convert", &["kind", "storage"]),
        ("schema", &["object", "kind", "storage", "wire"]),
        ("patch", &["kind", "storage", "wire"]),
        ("kind", &["context", "registry", "wire"]),
        ("auth", &["wire", "registry", "endpoint"]),
        ("registry", &["wire", "endpoint", "auth", "door"]),
        ("endpoint", &["door", "auth", "server"]),
        ("controllers", &["registry", "storage"]),
    ] {
        assert!(uses.contains_key(room), "{room} is a room");
        let known: Vec<_> = others.iter().filter(|other| knows(room, other)).collect();
        assert_eq!(known, [&""; 0], "what {room} has heard of: {uses:#?}");
    }
}

#[test]
fn a_circle_is_seen() {
    let uses = |pairs: &[(&str, &str)]| {
        let mut uses = Uses::new();
        for (room, used) in pairs {
            uses.entry((*room).to_owned()).or_default().insert((*used).to_owned());
        }
        uses
    };
    assert!(reachable(&uses(&[("a", "b"), ("b", "c"), ("c", "a")]), "a").contains("a"));
    assert!(!reachable(&uses(&[("a", "b"), ("a", "c"), ("b", "c")]), "a").contains("a"));
}

#[test]
fn every_way_to_name_a_room_is_read() {
    let text = [
        "//! [`crate::prose::Item`] is no use.",
        "use crate::{alpha::{One, Two}, beta, gamma::Three};",
        "use crate::delta::Four;",
        "fn five() -> crate::epsilon::Five { six() }",
        "#[cfg(test)]",
        "mod tests { use crate::only_in_tests; }",
    ];
    let text = text.join("\n");
    let rooms: Vec<_> = rooms_in(&text).into_iter().collect();
    assert_eq!(rooms, ["alpha", "beta", "delta", "epsilon", "gamma"]);
}

/// The rooms that each room uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

fn uses_of_rooms(src: &Path) -> Uses {
    let mut uses = Uses::new();
    for file in rust_files(src) {
        let room = file.strip_prefix(src).unwrap().components().next().unwrap();
        let room = room.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        // What a program is made of is a crate of its own.
        if !matches!(&*room, "lib" | "prelude" | "program") {
            let mut used = rooms_in(&fs::read_to_string(&file).unwrap());
            used.remove(&room);
            uses.entry(room).or_default().extend(used);
        }
    }
    // What the root re-exports under a name of its own belongs to the room that defines it.
    for used in uses.values_mut() {
        if used.remove("BoxError") {
            used.insert("error".to_owned());
        }
    }
    uses
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files.extend(rust_files(&entry));
        } else if entry.extension().is_some_and(|it| it == "rs") && entry.file_stem().unwrap() != "tests" {
            files.push(entry);
        }
    }
    files
}

/// What follows `crate::` outside of prose and tests, at the first level of braces.
fn rooms_in(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap().lines();
    let code: Vec<_> = code.filter(|line| !line.trim_start().starts_with("//")).collect();
    code.join("\n").split("crate::").skip(1).flat_map(first_names).collect()
}

fn first_names(path: &str) -> Vec<String> {
    let name =
        |text: &str| text.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect::<String>();
    let Some(list) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            ',' if depth == 0 => {
                names.push(name(list[start..at].trim_start()));
                start = at + 1;
            }
            '}' if depth == 0 => {
                names.push(name(list[start..at].trim_start()));
                break;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn reachable(uses: &Uses, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<_> = uses.get(from).into_iter().flatten().collect();
    while let Some(room) = next.pop() {
        if reached.insert(room.clone()) {
            next.extend(uses.get(room).into_iter().flatten());
        }
    }
    reached
}
