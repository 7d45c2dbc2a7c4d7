//! `ARCHITECTURE.md` moves with the code.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
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
    let missing: Vec<_> = ["crates", "examples", "bench"]
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
