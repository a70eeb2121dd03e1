//! Backs up a database that is in use.
//!
//! `VACUUM INTO` reads the whole database in one transaction: the copy contains what was committed at its
//! start, writers continue, and the result is one file without a WAL. It is written under a temporary name in
//! the same directory, synced, and then renamed, so that a file with the final name is complete. The copy is
//! a database: it can be used, or put in the place of another one (`restore.rs`).
//!
//! A sync of the whole copy would delay the syncs of a service's commits, so the copy is synced while it grows.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rusqlite::Connection;
use tempfile::{Builder, NamedTempFile};

use super::connection::set_up_writing;
use super::file::directory;
use super::opening::{AT_START, open_existing};
use crate::storage::options::OpenError;

/// The end of the temporary name.
const UNFINISHED: &str = ".unfinished";
/// The number of random characters in the temporary name.
const RANDOM: usize = 6;
/// The copy is synced when it has grown by this many bytes.
const SYNC_BYTES: u64 = 1024 * 1024;
/// The number of steps of SQLite's virtual machine between two looks at the size of the copy.
const STEPS: i32 = 10_000;

const EXISTS: &str = "exists; choose another path, or move the file away";

/// Copies the database in the file `from` to a new file `to` with permissions for its owner only, until `interrupted`
/// is true.
///
/// # Errors
/// One line, when `from` is not a database of this program, `to` exists or cannot be written, or the copy was
/// interrupted. Then no file `to` is created.
pub fn backup(
    from: &Path,
    to: &Path,
    lock_timeout: Duration,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), OpenError> {
    // A connection for writing removes the files of the WAL, if it is the last one.
    let mut source = open_existing(from, 1, AT_START, |it| set_up_writing(it, lock_timeout))?;
    write(&mut source, to, to, interrupted)
}

/// Copies the database of a connection to a new file, which is complete when it has its name. The temporary file is named
/// after `database`, in the same directory.
pub(super) fn write(
    source: &mut Connection,
    database: &Path,
    to: &Path,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), OpenError> {
    let refused = |why: &str| OpenError::of_file(to, why);
    if fs::symlink_metadata(to).is_ok() {
        return Err(refused(EXISTS));
    }
    let written = copy(source, database, interrupted).and_then(|copy| name(copy, to));
    written.map_err(|error| match error.kind() {
        _ if interrupted.load(Relaxed) => refused("was not written: the backup was interrupted"),
        io::ErrorKind::AlreadyExists => refused(EXISTS),
        io::ErrorKind::NotFound => refused("is in a directory that does not exist"),
        _ => refused(&format!("cannot be written: {error}")),
    })
}

/// Copies the database of a connection to a temporary file beside `path` that is named after it, and syncs the copy.
/// Removes those that a killed process has left.
pub(super) fn copy(
    source: &mut Connection,
    path: &Path,
    interrupted: &Arc<AtomicBool>,
) -> io::Result<NamedTempFile> {
    let prefix = format!("{}.", path.file_name().unwrap_or(OsStr::new("backup")).to_string_lossy());
    remove_unfinished(directory(path), &prefix);
    // Only its owner may read it. SQLite accepts an empty file, and would create one with other permissions.
    let copy =
        Builder::new().prefix(&prefix).suffix(UNFINISHED).rand_bytes(RANDOM).tempfile_in(directory(path))?;
    let path = copy.path().to_str().ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
    sync_while_it_grows(source, copy.as_file().try_clone()?, interrupted.clone())
        .map_err(io::Error::other)?;
    source.execute("VACUUM INTO ?1", [path]).map_err(io::Error::other)?;
    // SQLite does not sync the file.
    copy.as_file().sync_all()?;
    if interrupted.load(Relaxed) {
        return Err(io::ErrorKind::Interrupted.into());
    }
    Ok(copy)
}

/// Gives a copy its name, unless a file has it.
fn name(copy: NamedTempFile, to: &Path) -> io::Result<()> {
    let named = copy.persist_noclobber(to).or_else(|failed| match failed.error.kind() {
        io::ErrorKind::AlreadyExists => Err(failed),
        // The file system has no call for this. The name was free when the backup began.
        _ => failed.file.persist(to),
    });
    named?;
    match File::open(directory(to))?.sync_all() {
        // Some network file systems cannot sync a directory.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Removes the temporary files of killed processes that are named after the same file.
fn remove_unfinished(directory: &Path, prefix: &str) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| {
            // SQLite writes the journal of a copy beside it.
            let name = name.strip_suffix("-journal").unwrap_or(name);
            name.strip_prefix(prefix)?.strip_suffix(UNFINISHED)
        });
        if random.is_some_and(|random| random.len() == RANDOM) {
            // If that fails, the backup works too.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Syncs `file` during the statements of `connection`, each time it has grown by [`SYNC_BYTES`], and ends them when
/// `interrupted` is true.
fn sync_while_it_grows(
    connection: &mut Connection,
    file: File,
    interrupted: Arc<AtomicBool>,
) -> rusqlite::Result<()> {
    let mut synced = 0;
    let sync = move || {
        let length = file.metadata().map_or(synced, |found| found.len());
        if length >= synced + SYNC_BYTES {
            synced = length;
            // An error is reported by the last sync.
            let _ = file.sync_data();
        }
        interrupted.load(Relaxed)
    };
    connection.progress_handler(STEPS, Some(sync))
}
