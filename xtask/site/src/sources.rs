//! The files that the pages are built from.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

/// The working document, the released documents, the instructions for clients, and example programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The working document in YAML or JSON.
    pub working: String,
    /// The releases, the newest first.
    pub released: Vec<Released>,
    /// The instructions for clients, in Markdown, whose placeholders are replaced: `https://SITE` by the URL of the site,
    /// `https://HOST/v1` by the URL of the first server of the document, and `VERSION` by the newest version.
    pub clients: String,
    /// The example programs by the names of their files, in their order.
    pub examples: Vec<(String, String)>,
}

/// A released document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// The version: the name of its files.
    pub version: String,
    /// The document in YAML.
    pub yaml: String,
    /// The changes, as [`document::release::Release`] in JSON.
    pub changes: String,
    /// The names of its files, each with its SHA-256 checksum in hexadecimal digits.
    pub files: Vec<(String, String)>,
}

impl Sources {
    /// Reads `animal-store.yaml` or another document, the directory of its releases, the instructions for clients, and the
    /// directory `examples` beside these.
    ///
    /// # Errors
    /// A message with the path of the file that cannot be read.
    pub fn read(document: &Path, released: &Path, clients: &Path) -> Result<Self, String> {
        Ok(Self {
            working: text(document)?,
            released: releases(released)?,
            clients: text(clients)?,
            examples: examples(&clients.with_file_name("examples"))?,
        })
    }
}

/// Reads the files in a directory, in the order of their names. There are none if the directory does not exist.
fn examples(directory: &Path) -> Result<Vec<(String, String)>, String> {
    let mut examples = Vec::new();
    for name in names(directory)? {
        let content = text(&directory.join(&name))?;
        examples.push((name, content));
    }
    examples.sort();
    Ok(examples)
}

/// Reads the releases in a directory, the newest first. There are none if the directory does not exist.
fn releases(directory: &Path) -> Result<Vec<Released>, String> {
    let names = names(directory)?;
    let mut versions: Vec<String> =
        names.iter().filter_map(|name| name.strip_suffix(".yaml")).map(str::to_owned).collect();
    versions.sort_by_cached_key(|version| std::cmp::Reverse(numbers(version)));
    if versions.is_empty() {
        return Ok(Vec::new());
    }
    let sums = text(&directory.join("SHA256SUMS"))?;
    let sums: HashMap<&str, &str> =
        sums.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (name, sum)).collect();
    let read = |version: String| {
        let files = ["yaml", "json", "changes.json"].map(|extension| format!("{version}.{extension}"));
        let files = files.map(|name| {
            let sum = sums.get(&*name).copied().unwrap_or_default().to_owned();
            (name, sum)
        });
        Ok(Released {
            yaml: text(&directory.join(&files[0].0))?,
            changes: text(&directory.join(&files[2].0))?,
            files: files.into(),
            version,
        })
    };
    versions.into_iter().map(read).collect()
}

/// Returns the names of the files in a directory. There are none if it does not exist.
fn names(directory: &Path) -> Result<Vec<String>, String> {
    let failed = |error: io::Error| format!("{}: {error}", directory.display());
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let name = |entry: io::Result<fs::DirEntry>| {
        entry.map(|entry| entry.file_name().into_string().unwrap_or_default())
    };
    entries.map(name).collect::<io::Result<_>>().map_err(failed)
}

/// Returns the numbers of a version, by which versions are compared.
fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or_default()).collect()
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
