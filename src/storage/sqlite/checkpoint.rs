//! Checkpoints a long log on another thread, while writes continue.
//!
//! A log is long after another process, such as a backup, has read one snapshot for a while. To copy it
//! between two batches would delay writes by as long as the copy takes. During the copy the log grows, so the
//! rest is left to the writer thread: the log can restart only when no write is added to it.

use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, Error, ErrorCode, MAIN_DB, ffi};

use super::{connection, failure};
use crate::storage::metrics::Operation;
use crate::storage::options::StoreOptions;

/// Copies up to the oldest snapshot that is read, without waiting for readers or writers.
pub(super) const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";
/// The maximum number of pages that are left to the writer thread.
pub(super) const MAX_REST: u32 = 2000;
/// The time between two syncs of the database.
const SYNC_INTERVAL: Duration = Duration::from_millis(10);

/// The state of the log, in pages.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Log {
    pub(super) pages: u32,
    /// The pages that are in the database.
    copied: u32,
}

impl Log {
    /// Returns the state; `None` while a commit of another connection changes it.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::NOOP) {
            // Both are -1 without write-ahead logging.
            Ok((pages, copied)) => {
                Ok(Some(Self { pages: pages.max(0).unsigned_abs(), copied: copied.max(0).unsigned_abs() }))
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the number of pages that are not in the database.
    pub(super) fn rest(&self) -> u32 {
        self.pages.saturating_sub(self.copied)
    }
}

/// Starts a thread that checkpoints until at most [`MAX_REST`] pages remain, or until writes are faster than it.
/// Then it returns `true`: the writer thread must do the rest. It returns `false` if a reader prevents it.
pub(super) fn start(path: PathBuf, options: StoreOptions) -> std::io::Result<JoinHandle<bool>> {
    let run = move || {
        run(&path).unwrap_or_else(|error| {
            failure::report(&options, Operation::Write, &error);
            false
        })
    };
    thread::Builder::new().name("sqlite-checkpoint".to_owned()).spawn(run)
}

fn run(path: &Path) -> rusqlite::Result<bool> {
    let connection = connection::open_for_writing(path, Duration::ZERO)?;
    let copied = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| sync_until(&copied, path));
        let result = copy(&connection);
        copied.store(true, Ordering::Relaxed);
        result
    })
}

fn copy(connection: &Connection) -> rusqlite::Result<bool> {
    let mut before: Option<Log> = None;
    loop {
        connection.query_row(PASSIVE, [], |_| Ok(()))?;
        let Some(after) = Log::of(connection)? else { continue };
        if after.rest() <= MAX_REST {
            return Ok(true);
        }
        if let Some(before) = before {
            if after.copied <= before.copied {
                return Ok(false);
            }
            if after.rest() >= before.rest() {
                return Ok(true);
            }
        }
        before = Some(after);
    }
}

/// Syncs the database regularly: one sync of all copied pages would delay the syncs of the writer thread.
fn sync_until(copied: &AtomicBool, path: &Path) -> rusqlite::Result<()> {
    let connection = connection::open_for_writing(path, Duration::ZERO)?;
    loop {
        let is_last = copied.load(Ordering::Relaxed);
        sync(&connection)?;
        if is_last {
            return Ok(());
        }
        thread::sleep(SYNC_INTERVAL);
    }
}

/// Writes the database file to the disk. Uses SQLite's own handle of the file: closing another one would release
/// the POSIX locks that this process has on the file.
#[allow(unsafe_code)] // SQLite's C interface has no safe form of these calls.
fn sync(connection: &Connection) -> rusqlite::Result<()> {
    let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
    // SAFETY: the connection is open. SQLite returns a pointer to its file object, which stays where it is while
    // the connection is open, and the methods are constant.
    let code = unsafe {
        let (main, pointer) = (MAIN_DB.as_ptr(), ptr::from_mut(&mut file).cast());
        ffi::sqlite3_file_control(connection.handle(), main, ffi::SQLITE_FCNTL_FILE_POINTER, pointer);
        let methods = file.as_ref().and_then(|file| file.pMethods.as_ref());
        let Some(sync) = methods.and_then(|methods| methods.xSync) else { return Ok(()) };
        sync(file, ffi::SQLITE_SYNC_NORMAL)
    };
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_the_log_is_known_without_a_checkpoint() {
        let place = tempfile::tempdir().unwrap();
        let [ours, theirs] = [(); 2].map(|()| Connection::open(place.path().join("some.db")).unwrap());
        let state = |pages, copied| Some(Log { pages, copied });
        assert_eq!(Log::of(&ours).unwrap(), state(0, 0));
        ours.pragma_update(None, "journal_mode", "WAL").unwrap();
        assert_eq!(Log::of(&ours).unwrap(), state(0, 0));
        theirs.execute_batch("CREATE TABLE some (thing)").unwrap();
        let pages = Log::of(&ours).unwrap().unwrap().pages;
        assert!(pages > 0);
        assert_eq!(Log::of(&ours).unwrap(), state(pages, 0));
        theirs.query_row(PASSIVE, [], |_| Ok(())).unwrap();
        assert_eq!(Log::of(&ours).unwrap(), state(pages, pages));
        // This write restarts the log.
        theirs.execute_batch("INSERT INTO some VALUES (1)").unwrap();
        assert_eq!(Log::of(&ours).unwrap(), state(1, 0));
    }
}
