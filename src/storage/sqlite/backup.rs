//! Backs up a database that is in use, and restores a backup.
//!
//! `VACUUM INTO` reads the whole database in one transaction: the copy contains what was committed at its
//! start, writers continue, and the result is one file without a WAL. It is written under a temporary name in
//! the same directory, synced, and then renamed, so that a file with the final name is complete. The copy is
//! a database: it can be used, or put in the place of another one.
//!
//! A sync of the whole copy would delay the syncs of a service's commits, so the copy is synced while it grows.
//!
//! Replacing the file by hand is risky: if the WAL of the replaced database is left beside the backup, SQLite applies it
//! to the backup. To restore it, SQLite writes the pages of the backup into the database in one transaction. If the
//! process is killed, the database is unchanged.

use std::error::Error;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use tempfile::{Builder, NamedTempFile};

use super::connection::{set_up_exclusive, set_up_writing};
use super::file::{directory, length, wal};
use super::opening::{ALL, AT_START, open_existing};
use crate::storage::options::OpenError;

/// The end of the temporary name.
const UNFINISHED: &str = ".unfinished-backup";
/// The copy is synced when it has grown by this many bytes.
const SYNC_BYTES: u64 = 1024 * 1024;
/// The number of steps of SQLite's virtual machine between two looks at the size of the copy.
const STEPS: i32 = 10_000;

const EXISTS: &str = "exists; choose another path, or move the file away";
/// The number of pages in a step of the copy.
const ALL_PAGES: i32 = -1;

/// Applied to a copy of the backup before it replaces the database `replaced`. A key never becomes valid again, and an
/// identifier is never used for two animals.
const CARRY_OVER: &str = "
    UPDATE api_key SET revoked = old.revoked FROM replaced.api_key AS old
    WHERE old.id = api_key.id AND old.revoked < coalesce(api_key.revoked, 9e15);
    UPDATE api_key SET expires = old.expires FROM replaced.api_key AS old
    WHERE old.id = api_key.id AND old.expires < coalesce(api_key.expires, 9e15);
    DELETE FROM sqlite_sequence WHERE name = 'animal'
    AND seq < (SELECT old.seq FROM replaced.sqlite_sequence AS old WHERE old.name = 'animal');
    INSERT INTO sqlite_sequence (name, seq)
    SELECT old.name, old.seq FROM replaced.sqlite_sequence AS old
    WHERE old.name = 'animal' AND NOT EXISTS (SELECT 1 FROM main.sqlite_sequence WHERE name = 'animal');";

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
/// Removes those that killed processes have left in the directory. Each is locked while it is written.
pub(super) fn copy(
    source: &mut Connection,
    path: &Path,
    interrupted: &Arc<AtomicBool>,
) -> io::Result<NamedTempFile> {
    let prefix = format!("{}.", path.file_name().unwrap_or(OsStr::new("backup")).to_string_lossy());
    remove_unfinished(directory(path));
    // Only its owner may read it. SQLite accepts an empty file, and would create one with other permissions.
    let copy = Builder::new().prefix(&prefix).suffix(UNFINISHED).tempfile_in(directory(path))?;
    // On a file system without locks, the files of killed processes stay.
    let _ = copy.as_file().lock();
    if copy.as_file().metadata()?.nlink() == 0 {
        return Err(io::Error::other(
            "another backup removed the temporary file before it was locked; try again",
        ));
    }
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

/// Removes the temporary files that no process writes.
fn remove_unfinished(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        // SQLite writes the journal of a copy beside it.
        let copy = name.to_str().map(|name| name.strip_suffix("-journal").unwrap_or(name));
        let Some(copy) = copy.filter(|copy| copy.ends_with(UNFINISHED)) else { continue };
        // Stays locked until it is removed, so that its process notices.
        let copy = File::open(directory.join(copy));
        if copy.as_ref().map_or(true, |copy| copy.try_lock().is_ok()) {
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

/// What [`restore`] did.
pub struct Restored {
    /// The number of animals in the backup. A file that was copied by hand may lack those of its WAL.
    pub animals: i64,
    /// Whether there was a database before, which is kept.
    pub replaced: bool,
}

/// Replaces the content of the database `to` by the backup `from`. The content before is kept in the new file `keep`.
/// Without a file `to`, the backup is copied there, and no file `keep` is written.
///
/// API keys that were revoked or got an earlier expiry in `to` keep that. New animals get higher identifiers than all
/// animals in `to` had.
///
/// # Errors
/// One line, when `from` is not a complete database of this program, `to` is in use or damaged, or `keep` exists or
/// cannot be written. Then `to` is unchanged.
pub fn restore(from: &Path, to: &Path, keep: &Path, lock_timeout: Duration) -> Result<Restored, OpenError> {
    let never = Arc::default();
    let mut backup = open_existing(from, 1, ALL, |it| set_up_writing(it, lock_timeout))?;
    let animals = backup.query_row("SELECT count(*) FROM animal", [], |row| row.get(0));
    let animals = animals.map_err(|error| OpenError::of_file(from, format!("cannot be read: {error}")))?;
    if fs::symlink_metadata(to).is_err() {
        let wal = wal(to);
        if length(&wal) > 0 {
            let why = "is the WAL of a database that is missing; put that back, or move the WAL away";
            return Err(OpenError::of_file(&wal, why));
        }
        write(&mut backup, to, to, &never)?;
        return Ok(Restored { animals, replaced: false });
    }
    let mut database = open_existing(to, 1, ALL, |it| set_up_exclusive(it, lock_timeout))?;
    // The temporary files are named after the database: the next restore removes what a killed one has left.
    write(&mut database, to, keep, &never)?;
    let replaced = copy(&mut backup, to, &never)
        .map_err(Into::into)
        .and_then(|prepared| replace(prepared.path(), &mut database, keep));
    replaced
        .map(|()| Restored { animals, replaced: true })
        .map_err(|error| OpenError::of_file(to, format!("is unchanged: {error}")))
}

fn replace(prepared: &Path, database: &mut Connection, keep: &Path) -> Result<(), Box<dyn Error>> {
    let prepared = Connection::open(prepared)?;
    // No file beside it, which a killed process would leave.
    prepared.pragma_update(None, "journal_mode", "MEMORY")?;
    prepared.execute("ATTACH ?1 AS replaced", [keep.to_string_lossy()])?;
    prepared.execute_batch(&format!("BEGIN; {CARRY_OVER} COMMIT; DETACH replaced"))?;
    match Backup::new(&prepared, database)?.step(ALL_PAGES)? {
        StepResult::Done => Ok(()),
        // Both databases are locked by this process alone.
        other => Err(format!("the copy ended with {other:?}").into()),
    }
}
