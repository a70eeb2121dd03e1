//! Where things are in this repository.

use std::path::{Path, PathBuf};

/// The document, from the root of the repository.
pub const SPEC: &str = "openapi/animal-store.yaml";
/// The released documents, from the root of the repository.
pub const RELEASED: &str = "openapi/released";

/// The root of the repository.
pub fn workspace() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = manifest.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned());
    manifest.parent().unwrap_or(&manifest).to_owned()
}

/// The document of this repository.
pub fn own_spec() -> PathBuf {
    from_here(workspace().join(SPEC))
}

/// A path as one would write it from the current directory.
pub fn from_here(path: PathBuf) -> PathBuf {
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    relative.unwrap_or(path)
}
