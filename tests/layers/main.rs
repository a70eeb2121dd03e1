//! The layers of `src`: a module imports only from modules below it in the list in `src/lib.rs`, and no files import
//! each other in a cycle.
//!
//! Paths are read as text: those that begin with `crate`, `super` or `animal_store`, outside of comments.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Files by their path in `src`, and the files that each imports from.
type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn imports_point_downwards() {
    let layers = layers();
    for (file, targets) in imports(&files()) {
        for target in targets {
            let (from, to) = (layer(&layers, &file), layer(&layers, &target));
            assert!(from <= to, "src/{file} imports from src/{target}, which is in a layer above");
        }
    }
}

#[test]
fn no_files_import_each_other() {
    let mut imports = imports(&files());
    // Removes files that import from no remaining file, until only those of cycles and above them are left.
    loop {
        let remaining: BTreeSet<String> = imports.keys().cloned().collect();
        imports.retain(|_, targets| {
            targets.retain(|target| remaining.contains(target));
            !targets.is_empty()
        });
        if imports.len() == remaining.len() {
            break;
        }
    }
    assert!(imports.is_empty(), "these files import each other, or from such files: {imports:#?}");
}

#[test]
fn imports_are_found() {
    let text = "use crate::a::{self, b::{C, d}};\nuse super::e;\n// crate::not\nfn f() { crate::g::h(); }\n\
                #[cfg(test)]\nmod tests { use crate::not; }";
    let found = paths(text);
    assert_eq!(found, ["crate::a::self", "crate::a::b::C", "crate::a::b::d", "super::e", "crate::g::h"]);
    let files = ["main", "cli/mod", "cli/key", "lib", "http/mod", "http/call", "keys"];
    let files: BTreeMap<String, String> = files.map(|name| (format!("{name}.rs"), String::new())).into();
    for (from, path, to) in [
        ("http/call.rs", "crate::keys::KeyId", Some("keys.rs")),
        ("http/call.rs", "super::BASE_PATH", Some("http/mod.rs")),
        ("http/mod.rs", "crate::http::call::Call", Some("http/call.rs")),
        ("cli/key.rs", "animal_store::keys::create", Some("keys.rs")),
        ("cli/key.rs", "super::mod::run", Some("cli/mod.rs")),
        ("keys.rs", "super::http::call::Call", Some("http/call.rs")),
        ("keys.rs", "crate::keys::KeyId", None),
    ] {
        assert_eq!(target(&files, from, path).as_deref(), to, "{path} in {from}");
    }
    // What every other check relies on: the real sources import something.
    assert!(imports(&self::files()).values().map(BTreeSet::len).sum::<usize>() > 100);
}

/// Returns the names in the list of `src/lib.rs`, from the top.
fn layers() -> Vec<String> {
    let list = include_str!("../../src/lib.rs").lines().filter_map(|line| line.strip_prefix("//! - "));
    list.map(|line| line.split('`').nth(1).expect("a name in backticks").to_owned()).collect()
}

/// Returns the position of a file's layer; 0 is the top.
fn layer(layers: &[String], file: &str) -> usize {
    let name = file.split(['/', '.']).next().unwrap_or_default();
    let found = layers.iter().position(|layer| layer == name);
    found.unwrap_or_else(|| panic!("`{name}` is not in the list of layers in src/lib.rs"))
}

/// Reads the sources, without `lib.rs`, which imports nothing.
fn files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut open, mut files) = (vec![root.clone()], BTreeMap::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("src/lib.rs")
        {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    files
}

fn imports(files: &BTreeMap<String, String>) -> Imports {
    let imports = files.iter().map(|(file, text)| {
        let targets = paths(text).into_iter().filter_map(|path| target(files, file, &path));
        (file.clone(), targets.collect())
    });
    imports.collect()
}

/// Returns the paths of a file, groups expanded, without those of its unit tests.
fn paths(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let text: String = lines.collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for (at, _) in text.match_indices("::") {
        let before = &text[..at];
        let root = before.rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        let is_first = !before[..before.len() - root.len()].ends_with("::");
        if is_first && ["crate", "super", "animal_store"].contains(&root) {
            expand(root, &text[at + 2..], &mut found);
        }
    }
    found
}

/// Adds the paths that continue `prefix::` with `rest`. Returns what follows them.
fn expand<'t>(prefix: &str, rest: &'t str, found: &mut Vec<String>) -> &'t str {
    if let Some(group) = rest.strip_prefix('{') {
        let mut rest = group.trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            let end = expand(prefix, rest, found).trim_start_matches([',', ' ']);
            assert!(end.len() < rest.len(), "cannot read `{rest}`");
            rest = end;
        }
        return rest.strip_prefix('}').unwrap_or(rest);
    }
    let (name, rest) = rest.split_at(rest.find(|c: char| !is_name(c)).unwrap_or(rest.len()));
    let path = format!("{prefix}::{name}");
    if let Some(rest) = rest.strip_prefix("::") {
        return expand(&path, rest, found);
    }
    found.push(path);
    rest
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the file of the deepest module of a path; `None` for the file itself.
fn target(files: &BTreeMap<String, String>, file: &str, path: &str) -> Option<String> {
    let mut module: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    module.retain(|name| *name != "mod");
    let mut found = None;
    for name in path.split("::") {
        match name {
            "crate" | "animal_store" => module.clear(),
            "super" => drop(module.pop()),
            name => module.push(name),
        }
        let path = module.join("/");
        let candidates = [format!("{path}.rs"), format!("{path}/mod.rs")];
        found = candidates.into_iter().find(|file| files.contains_key(file)).or(found);
    }
    found.filter(|found| found != file)
}
