//! Finds the configuration of a document.

use std::path::{Component, Path, PathBuf};
use std::{env, fs};

/// The name of the file.
const FILE: &str = "contract.toml";

/// Returns the nearest configuration: in the directory of the document or above it, up to the root of the git repository.
pub(super) fn nearest(document: &Path) -> Option<PathBuf> {
    let directory = document.parent().unwrap_or(Path::new(""));
    // The parent of `..` as a text is not the directory above it.
    let has_parent = directory.components().any(|component| component == Component::ParentDir);
    let real = has_parent.then(|| fs::canonicalize(directory).ok()).flatten();
    let directory = real.as_deref().unwrap_or(directory);
    let here = if directory.is_relative() { env::current_dir().unwrap_or_default() } else { PathBuf::new() };
    for above in directory.ancestors().chain(here.ancestors().skip(1)) {
        let file = above.join(FILE);
        // A link to a file that does not exist is an error.
        if file.symlink_metadata().is_ok() {
            return Some(file);
        }
        if above.join(".git").exists() {
            return None;
        }
    }
    None
}
