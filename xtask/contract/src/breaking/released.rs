//! Released documents: `openapi/released/1.0.0.yaml` and so on.

use std::io;
use std::path::{Path, PathBuf};

use semver::Version;

/// The newest released document in a directory, by its version; `None` if there is none.
///
/// # Errors
/// When the directory is there and cannot be read.
pub fn newest(directory: &Path) -> io::Result<Option<(Version, PathBuf)>> {
    let entries = match directory.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut newest: Option<(Version, PathBuf)> = None;
    for entry in entries {
        let path = entry?.path();
        let is_yaml = path.extension().is_some_and(|extension| extension == "yaml");
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let Some(version) = stem.filter(|_| is_yaml).and_then(|stem| Version::parse(stem).ok()) else {
            continue;
        };
        if newest.as_ref().is_none_or(|(best, _)| version > *best) {
            newest = Some((version, path));
        }
    }
    Ok(newest)
}
