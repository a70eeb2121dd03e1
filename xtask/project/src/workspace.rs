//! Paths in this repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use xtask::process::printed;
use xtask::workspace::{in_file, workspace};

/// The paths of the document and of the directory of its releases, relative to the root of the repository.
pub use site::sources::{DOCUMENT as SPEC, RELEASED};

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

/// Copies a file, or a directory with its content. The copies have the times of the files.
pub fn copy(from: &Path, to: &Path) -> Result<(), String> {
    printed(Command::new("cp").args(["--archive", "--no-target-directory"]).args([from, to])).map(drop)
}

/// Copies a file or a directory so that all users can read the copy.
pub fn copy_for_all(from: &Path, to: &Path) -> Result<(), String> {
    copy(from, to)?;
    printed(Command::new("chmod").args(["-R", "a+rX"]).arg(to)).map(drop)
}

/// Creates an empty directory. Deletes the content of an existing one.
pub fn empty_directory(path: &Path) -> Result<(), String> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(path),
    }
    .map_err(in_file(path))
}
