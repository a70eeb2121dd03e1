//! The files that the pages are built from.

use std::cmp::Reverse;
use std::collections::BTreeMap;
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

/// The checksums of the files of releases.
pub(crate) const SUMS: &str = "SHA256SUMS";

/// The working document, the files of releases, the instructions for clients, and example programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The working document in YAML or JSON.
    pub working: String,
    /// The files of releases by their names: for each version the document as `1.0.0.yaml` and `1.0.0.json`, and the changes
    /// as `1.0.0.changes.json`, a [`changes::Release`]; and `SHA256SUMS`, as sha256sum prints it.
    pub released: BTreeMap<String, String>,
    /// The instructions for clients, in Markdown, whose placeholders are replaced: `https://SITE` by the URL of the site,
    /// `https://HOST/v1` by the URL of the first server of the document, and `VERSION` by the newest version.
    pub clients: String,
    /// The example programs by the names of their files.
    pub examples: BTreeMap<String, String>,
}

impl Sources {
    /// Reads the files of the repository at `root`.
    ///
    /// # Errors
    /// A message with the path of the file that cannot be read.
    pub fn read(root: &Path) -> Result<Self, String> {
        let text =
            |path: &Path| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        let texts = |directory: &Path| -> Result<BTreeMap<_, _>, String> {
            let files = names(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
            files
                .into_iter()
                .map(|name| text(&directory.join(&name)).map(|content| (name, content)))
                .collect()
        };
        Ok(Self {
            working: text(&root.join(DOCUMENT))?,
            released: texts(&root.join(RELEASED))?,
            clients: text(&root.join(CLIENTS))?,
            examples: texts(&root.join(EXAMPLES))?,
        })
    }

    /// Returns the versions of the releases, the newest first.
    pub(crate) fn versions(&self) -> Vec<&str> {
        let mut versions: Vec<&str> =
            self.released.keys().filter_map(|name| name.strip_suffix(".yaml")).collect();
        let number = |part: &str| part.parse::<u64>().unwrap_or_default();
        versions.sort_by_cached_key(|version| Reverse(version.split('.').map(number).collect::<Vec<_>>()));
        versions
    }

    /// Returns the checksum of a file of a release, or nothing.
    pub(crate) fn sum(&self, file: &str) -> &str {
        let mut lines = self.released.get(SUMS).into_iter().flat_map(|sums| sums.lines());
        lines
            .find_map(|line| line.split_once("  ").filter(|(_, name)| *name == file))
            .map_or("", |(sum, _)| sum)
    }
}

/// Returns the names of the files in a directory. There are none if it does not exist.
fn names(directory: &Path) -> io::Result<Vec<String>> {
    match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        // Editors leave files that are hidden or end with `~`.
        entries => entries?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .filter(|name| !name.as_ref().is_ok_and(|name| name.starts_with('.') || name.ends_with('~')))
            .collect(),
    }
}
