//! A copy of this repository, together with what cargo compiled of it, so that the copy can be changed and built without
//! compiling everything again and without an effect on this repository.
//!
//! Cargo identifies the packages of a workspace by their paths from its root, and recognises changes by the time of the
//! last modification. So a copy with the same times is up to date.

use std::fs::{self, File, FileTimes};
use std::io;
use std::path::Path;

use launcher::workspace::{in_file, workspace};

use super::empty_directory;

/// The parts of a target directory that cargo needs to see that nothing changed.
const COMPILED: [&str; 3] = [".fingerprint", "build", "deps"];

/// Copies this repository. `target` is the target directory of the running program.
pub(super) fn copy(target: &Path, to: &Path) -> Result<(), String> {
    empty_directory(to)?;
    let from = workspace();
    for entry in fs::read_dir(&from).map_err(in_file(&from))? {
        let name = entry.map_err(in_file(&from))?.file_name();
        if name != ".git" && name != "target" {
            copy_all(&from.join(&name), &to.join(&name)).map_err(in_file(&from))?;
        }
    }
    let (from, to) = (target.join("debug"), to.join("target/debug"));
    for part in COMPILED {
        copy_all(&from.join(part), &to.join(part)).map_err(in_file(&from))?;
    }
    Ok(())
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        return fs::read_dir(from)?.try_for_each(|entry| {
            let entry = entry?;
            copy_all(&entry.path(), &to.join(entry.file_name()))
        });
    }
    // Compilers write libraries and programs to new files, so a link is enough for these; they are gigabytes. They
    // overwrite the lists of sources.
    let is_compiled = from.parent().is_some_and(|parent| parent.ends_with("debug/deps"));
    let is_list = from.extension().is_some_and(|extension| extension == "d");
    if is_compiled && !is_list && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    let times = FileTimes::new().set_modified(fs::metadata(from)?.modified()?);
    File::open(to)?.set_times(times)
}
