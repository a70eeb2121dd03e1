//! Backs up a database that is in use.
//!
//! `VACUUM INTO` reads the whole database in one transaction: the copy contains what was committed at its
//! start, writers continue, and the result is one file without a log. It is written under a temporary name in
//! the same directory, synced, and then renamed, so that a file with the final name is complete. The copy is
//! a database: to restore it, use it, or replace the old file and remove its log.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::opening;
use crate::storage::options::OpenError;

/// Copies the database in the file `from` to a new file `to` with permissions for its owner only.
///
/// # Errors
/// One line, when `from` is not a database of this program, or `to` exists or cannot be written. Then no file
/// `to` is created.
pub fn backup(from: &Path, to: &Path, lock_timeout: Duration) -> Result<(), OpenError> {
    let source = opening::open_for_backup(from, lock_timeout)?;
    let refused = |why: String| OpenError(format!("{} {why}", to.display()).replace(char::is_control, "?"));
    if fs::symlink_metadata(to).is_ok() {
        return Err(refused("exists; choose another path, or move the file away".to_owned()));
    }
    let temporary = temporary_name(to);
    let copied = copy(&source, &temporary).and_then(|()| publish(&temporary, to));
    // It has its final name by now, or is incomplete.
    let _ = fs::remove_file(&temporary);
    copied.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => refused("exists; choose another path".to_owned()),
        io::ErrorKind::NotFound => refused("is in a directory that does not exist".to_owned()),
        _ => refused(format!("cannot be written: {error}")),
    })
}

/// Returns a name in the directory of `to`, which is on the same file system, unique to this process.
fn temporary_name(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(format!(".unfinished-{}", std::process::id()));
    name.into()
}

fn copy(source: &Connection, to: &Path) -> io::Result<()> {
    let mut create = File::options();
    create.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut create, 0o600);
    // SQLite accepts an empty file, and would create one with other permissions.
    create.open(to)?;
    let path = to.to_str().ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
    source.execute("VACUUM INTO ?1", [path]).map_err(io::Error::other)?;
    // SQLite does not sync the file.
    File::open(to)?.sync_all()
}

/// Gives a complete copy its name, unless another file has it.
fn publish(temporary: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(temporary, to)?;
    let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}
