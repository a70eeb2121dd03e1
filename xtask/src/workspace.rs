//! Paths in this repository.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The path of the document, relative to the root of the repository.
pub const SPEC: &str = "openapi/animal-store.yaml";
/// The directory of the released documents, relative to the root of the repository.
pub const RELEASED: &str = "openapi/released";
/// The path of the instructions for clients, relative to the root of the repository.
pub const CLIENTS: &str = "openapi/clients.md";

/// The root of the repository.
pub fn workspace() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = manifest.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned());
    manifest.parent().unwrap_or(&manifest).to_owned()
}

/// The path of this repository's document.
pub fn own_spec() -> PathBuf {
    from_here(workspace().join(SPEC))
}

/// Makes a path relative to the current directory, if it is below it.
pub fn from_here(path: PathBuf) -> PathBuf {
    let current = std::env::current_dir().ok();
    let relative = current.and_then(|current| path.strip_prefix(current).ok().map(Path::to_owned));
    relative.unwrap_or(path)
}

/// Returns the target directory of a program that cargo built.
pub(crate) fn target(program: &Path) -> Result<PathBuf, String> {
    let target = program.ancestors().nth(2).map(Path::to_owned);
    target.ok_or_else(|| format!("{} is not in a target directory", program.display()))
}

/// Returns a function that adds the path of a file to an error message.
pub(crate) fn in_file<E: Display>(path: &Path) -> impl Fn(E) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}

/// Creates an empty directory. Deletes the content of an existing one.
pub(crate) fn empty_directory(path: &Path) -> Result<(), String> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(path),
    }
    .map_err(in_file(path))
}
