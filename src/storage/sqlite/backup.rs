//! A copy of a store that is in use.
//!
//! `VACUUM INTO` reads the whole database in one transaction: the copy is what was committed when it began,
//! writers go on meanwhile, and the result is one file without a log. It is written under another name
//! beside its place, put on disk, and only then given its name, so that what has the name is whole. The copy
//! is a store; to restore it is to use it, or to put it in the place of the old file and of its log.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::opening;
use crate::storage::OpenError;

/// Copies the store in the file `from` into a new file `to`, readable by its owner alone.
///
/// # Errors
/// One line, when `from` is no store, `to` exists or cannot be written. There is no file `to` then, unless
/// there was one.
pub fn backup(from: &Path, to: &Path, lock_timeout: Duration) -> Result<(), OpenError> {
    let source = opening::open_for_backup(from, lock_timeout)?;
    let refused = |why: String| OpenError(format!("{} {why}", to.display()).replace(char::is_control, "?"));
    if fs::symlink_metadata(to).is_ok() {
        return Err(refused("exists already; give another path, or move it away".to_owned()));
    }
    let unfinished = unfinished(to);
    let copied = copy(&source, &unfinished).and_then(|()| name(&unfinished, to));
    // Has its own name by now, or is of no use.
    let _ = fs::remove_file(&unfinished);
    copied.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => refused("exists already; give another path".to_owned()),
        io::ErrorKind::NotFound => refused("is in a directory that does not exist".to_owned()),
        _ => refused(format!("cannot be written: {error}")),
    })
}

/// Beside `to`, so that it is on the same file system, and of this process alone.
fn unfinished(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(format!(".unfinished-{}", std::process::id()));
    name.into()
}

fn copy(source: &Connection, to: &Path) -> io::Result<()> {
    let mut create = File::options();
    create.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut create, 0o600);
    // Into an empty file SQLite writes as into none, but it would not choose these permissions.
    create.open(to)?;
    let path = to.to_str().ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
    source.execute("VACUUM INTO ?1", [path]).map_err(io::Error::other)?;
    // SQLite leaves that to us.
    File::open(to)?.sync_all()
}

/// Gives a finished copy its name, unless something else has it by now.
fn name(unfinished: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(unfinished, to)?;
    let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}
