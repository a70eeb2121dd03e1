//! The files that the pages are built from.

use std::path::Path;
use std::{fs, io};

/// The working document. Paths are relative to the root of the repository.
pub const DOCUMENT: &str = "openapi/animal-store.yaml";
/// The directory of the releases.
pub const RELEASED: &str = "openapi/released";
/// The instructions for clients.
pub const CLIENTS: &str = "openapi/clients.md";
/// The directory of the example programs.
pub const EXAMPLES: &str = "openapi/examples";

/// The working document, the released documents, the instructions for clients, and example programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The working document in YAML or JSON.
    pub working: String,
    /// The releases, the newest first.
    pub released: Vec<Released>,
    /// The SHA-256 checksums of the files of releases, as sha256sum prints them.
    pub sums: String,
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
    /// The document in JSON.
    pub json: String,
    /// The changes, as [`document::release::Release`] in JSON.
    pub changes: String,
}

impl Released {
    /// The files of the release by their names.
    pub(crate) fn files(&self) -> [(String, &str); 3] {
        let file = |(extension, text)| (format!("{}.{extension}", self.version), text);
        [("yaml", &*self.yaml), ("json", &self.json), ("changes.json", &self.changes)].map(file)
    }
}

impl Sources {
    /// Reads the files of the repository at `root`.
    ///
    /// # Errors
    /// A message with the path of the file that cannot be read.
    pub fn read(root: &Path) -> Result<Self, String> {
        let (directory, examples) = (root.join(RELEASED), root.join(EXAMPLES));
        let files = names(&directory)?;
        let mut versions: Vec<&str> = files.iter().filter_map(|name| name.strip_suffix(".yaml")).collect();
        versions.sort_by_cached_key(|version| std::cmp::Reverse(numbers(version)));
        let release = |version: &&str| {
            let text = |extension: &str| text(&directory.join(format!("{version}.{extension}")));
            let (yaml, json, changes) = (text("yaml")?, text("json")?, text("changes.json")?);
            Ok(Released { version: (*version).to_owned(), yaml, json, changes })
        };
        let example = |name: String| text(&examples.join(&name)).map(|content| (name, content));
        Ok(Self {
            working: text(&root.join(DOCUMENT))?,
            released: versions.iter().map(release).collect::<Result<_, String>>()?,
            sums: if versions.is_empty() { String::new() } else { text(&directory.join("SHA256SUMS"))? },
            clients: text(&root.join(CLIENTS))?,
            examples: names(&examples)?.into_iter().map(example).collect::<Result<_, _>>()?,
        })
    }
}

/// Returns the checksum of a file from the lines of sha256sum, or nothing.
pub(crate) fn sum<'s>(sums: &'s str, file: &str) -> &'s str {
    let mut lines = sums.lines().filter_map(|line| line.split_once("  "));
    lines.find(|(_, name)| *name == file).map_or("", |(sum, _)| sum)
}

/// Returns the names of the files in a directory, sorted. There are none if it does not exist.
fn names(directory: &Path) -> Result<Vec<String>, String> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let entries = entries.map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut names: Vec<String> = entries.iter().filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Returns the numbers of a version, by which versions are compared.
fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or_default()).collect()
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
