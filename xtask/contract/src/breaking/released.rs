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

#[cfg(test)]
mod tests {
    use super::newest;

    #[test]
    fn the_newest_is_the_one_with_the_greatest_version() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(newest(&directory.path().join("nothing")).unwrap(), None);
        assert_eq!(newest(directory.path()).unwrap(), None);
        for name in ["1.9.0.yaml", "1.10.0.yaml", "1.10.0-rc.1.yaml", "2.0.0.json", "notes.yaml"] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        let (version, path) = newest(directory.path()).unwrap().unwrap();
        assert_eq!(version.to_string(), "1.10.0");
        assert_eq!(path, directory.path().join("1.10.0.yaml"));
    }
}
