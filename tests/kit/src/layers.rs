//! Reads what the files of a crate import from each other, and checks the layers that its `src/lib.rs` lists.
//!
//! Paths are read as text: those that begin with `crate`, `super` or the name of the crate, outside of comments.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Files by their path in `src`, and the files that each imports from.
pub type Imports = BTreeMap<String, BTreeSet<String>>;

/// A crate.
#[derive(Clone, Copy)]
pub struct Crate {
    /// The directory of its manifest.
    pub directory: &'static str,
    /// Its name in paths.
    pub name: &'static str,
}

impl Crate {
    /// Fails if a module imports from one that is not below it in the list.
    pub fn assert_imports_point_downwards(self) {
        let (layers, imports) = (self.layers(), self.imports());
        assert!(imports.values().any(|targets| !targets.is_empty()), "nothing is imported");
        for (file, targets) in imports {
            for target in targets {
                let (from, to) = (layer(&layers, &file), layer(&layers, &target));
                assert!(from <= to, "src/{file} imports from src/{target}, which is in a layer above");
            }
        }
    }

    /// Returns the names in the list of `src/lib.rs`, from the top.
    fn layers(self) -> Vec<String> {
        let text = fs::read_to_string(Path::new(self.directory).join("src/lib.rs")).unwrap();
        let list = text.lines().filter_map(|line| line.strip_prefix("//! - "));
        list.map(|line| line.split('`').nth(1).expect("a name in backticks").to_owned()).collect()
    }

    /// Returns the files that import from themselves through others.
    pub fn files_in_cycles(self) -> BTreeSet<String> {
        let imports = self.imports();
        let reaches_itself = |file: &String| {
            let (mut open, mut seen) = (vec![file], BTreeSet::new());
            while let Some(next) = open.pop() {
                open.extend(imports.get(next).into_iter().flatten().filter(|target| seen.insert(*target)));
            }
            seen.contains(file)
        };
        imports.keys().filter(|file| reaches_itself(file)).cloned().collect()
    }

    /// Returns what the files import, without `lib.rs`, which imports nothing.
    pub fn imports(self) -> Imports {
        let files = files(&Path::new(self.directory).join("src"));
        let imports = files.iter().map(|(file, text)| {
            let targets =
                paths(text, self.name).into_iter().filter_map(|path| target(&files, self.name, file, &path));
            (file.clone(), targets.collect())
        });
        imports.collect()
    }
}

/// Returns the position of a file's layer; 0 is the top.
fn layer(layers: &[String], file: &str) -> usize {
    let name = file.split(['/', '.']).next().unwrap_or_default();
    let found = layers.iter().position(|layer| layer == name);
    found.unwrap_or_else(|| panic!("`{name}` is not in the list of layers in src/lib.rs"))
}

/// Reads the sources.
fn files(root: &Path) -> BTreeMap<String, String> {
    let (mut open, mut files) = (vec![root.to_owned()], BTreeMap::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("src/lib.rs")
        {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    files
}

/// Returns the paths of a file, groups expanded, without those of its unit tests.
pub fn paths(text: &str, name: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let text: String = lines.collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for (at, _) in text.match_indices("::") {
        let before = &text[..at];
        let root = before.rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        let is_first = !before[..before.len() - root.len()].ends_with("::");
        if is_first && ["crate", "super", name].contains(&root) {
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
pub fn target(files: &BTreeMap<String, String>, name: &str, file: &str, path: &str) -> Option<String> {
    let mut module: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    module.retain(|name| *name != "mod");
    let mut found = None;
    for part in path.split("::") {
        match part {
            "crate" => module.clear(),
            part if part == name => module.clear(),
            "super" => drop(module.pop()),
            part => module.push(part),
        }
        let path = module.join("/");
        let candidates = [format!("{path}.rs"), format!("{path}/mod.rs")];
        found = candidates.into_iter().find(|file| files.contains_key(file)).or(found);
    }
    found.filter(|found| found != file)
}
