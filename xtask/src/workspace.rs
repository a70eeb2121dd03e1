//! Where things are in this repository.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

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

/// The target directory that a program was built into.
pub(crate) fn target(program: &Path) -> Result<PathBuf, String> {
    let target = program.ancestors().nth(2).map(Path::to_owned);
    target.ok_or_else(|| format!("{} is not in a target directory", program.display()))
}

/// Makes an error message that names the file.
pub(crate) fn in_file<E: Display>(path: &Path) -> impl Fn(E) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}

/// Creates a directory, or empties the one that is there.
pub(crate) fn empty_directory(path: &Path) -> Result<(), String> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(path),
    }
    .map_err(in_file(path))
}
