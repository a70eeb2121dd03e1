//! Checkpoints: copies pages from the WAL into the database between two batches.
//!
//! `wal_autocheckpoint` of SQLite would do it within a COMMIT, while callers wait, and could never restart the WAL while
//! reads overlap: the thread that writes waits a moment for those in progress.
//!
//! The WAL is long after another process, such as a backup, has read one snapshot for a while. To copy it between two
//! batches would delay writes by as long as the copy takes, so another thread copies most of it. Meanwhile the WAL grows,
//! and it can restart only when no write is added to it, so the rest is left to the thread that writes. A third thread
//! syncs the database during the copy: SQLite's one sync of all pages at the end would delay the syncs of commits. After a
//! WAL of 130 MB, the slowest of 30,000 writes took 45 ms with this thread and 120 ms without.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, MAIN_DB};
use slog::warn;

use super::{connection, error};
use crate::storage::metrics::Access;
use crate::storage::options::StoreOptions;

/// Copies up to the oldest snapshot that is read, without waiting for readers or writers.
const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";
/// Copies and waits for reads, so that the next write restarts the WAL.
const RESTART: &str = "PRAGMA wal_checkpoint(RESTART)";
/// The growth of the WAL, in pages, that starts a checkpoint. The default of SQLite.
const GROWTH: u32 = 1000;
/// The growth of the WAL, in pages, after which a checkpoint that reads limited is tried again.
const GROWTH_TO_RETRY: u32 = 250;
/// The maximum number of pages that the thread that writes copies.
const MAX_REST: u32 = 2000;
/// How long a checkpoint waits for reads, in total. Writes wait as long.
const MAX_READ: Duration = Duration::from_millis(100);
/// The time between two syncs of the database during a copy.
const SYNC_INTERVAL: Duration = Duration::from_millis(10);

/// The state of the WAL, in pages.
#[derive(Debug, PartialEq, Eq)]
struct Wal {
    pages: u32,
    /// The pages that are in the database.
    copied: u32,
}

impl Wal {
    /// Returns the state; `None` while a commit of another connection changes it.
    fn of(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::NOOP) {
            // Both are -1 without a WAL.
            Ok((pages, copied)) => {
                Ok(Some(Self { pages: pages.max(0).unsigned_abs(), copied: copied.max(0).unsigned_abs() }))
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the number of pages that are not in the database.
    fn rest(&self) -> u32 {
        self.pages.saturating_sub(self.copied)
    }
}

/// Decides when to checkpoint.
pub(super) struct Checkpoints {
    path: PathBuf,
    options: StoreOptions,
    /// The length of the WAL, in pages, at the last checkpoint.
    last: u32,
    /// The thread that copies most of a long WAL. It returns whether the thread that writes must copy the rest.
    copying: Option<JoinHandle<bool>>,
    /// The database, for syncs. Never closed: that would release the POSIX locks that this process has on the file.
    database: Option<&'static File>,
    /// Whether reads limited the last checkpoint.
    is_limited: bool,
}

impl Checkpoints {
    /// `path` is that of the database.
    pub(super) fn new(path: PathBuf, options: &StoreOptions) -> Self {
        Self { path, options: options.clone(), last: 0, copying: None, database: None, is_limited: false }
    }

    /// Checkpoints the WAL if it has grown, up to the oldest snapshot that another process reads.
    pub(super) fn after_commit(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.copying.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        // A panic was logged.
        let is_copied = self.copying.take().is_some_and(|thread| thread.join().unwrap_or(false));
        if !is_copied {
            let Some(wal) = Wal::of(connection)? else { return Ok(()) };
            if wal.pages < self.last {
                self.last = 0; // The WAL was restarted.
            }
            if wal.pages - self.last < GROWTH {
                return Ok(());
            }
            // Set first: a checkpoint that fails must not be tried, and logged, after each batch.
            self.last = wal.pages;
            if wal.rest() > MAX_REST {
                self.copying = self.copy_on_thread().ok();
                return Ok(());
            }
        }
        // Reads of older snapshots limit the checkpoint, and those that use the WAL prevent its restart.
        connection::set_lock_timeout(connection, MAX_READ)?;
        let is_limited = connection.prepare_cached(RESTART)?.query_row([], |row| row.get::<_, bool>(0))?;
        if is_limited && !self.is_limited {
            warn!(self.options.log, "a read that takes long lets the WAL grow"; "pages" => self.last);
        }
        self.is_limited = is_limited;
        if is_limited {
            self.last = self.last.saturating_sub(GROWTH - GROWTH_TO_RETRY);
        }
        Ok(())
    }

    fn copy_on_thread(&mut self) -> io::Result<JoinHandle<bool>> {
        let database = match self.database {
            Some(database) => database,
            None => self.database.insert(Box::leak(Box::new(File::open(&self.path)?))),
        };
        let (path, options) = (self.path.clone(), self.options.clone());
        let run = move || {
            let copied = connection::open_for_writing(&path, Duration::ZERO)
                .and_then(|connection| while_syncing(database, || copy(&connection)));
            copied.unwrap_or_else(|error| {
                error::report(&options, Access::Write, &error);
                false
            })
        };
        thread::Builder::new().name("sqlite-checkpoint".to_owned()).spawn(run)
    }

    /// Ends after the thread that copies.
    pub(super) fn finish(self) {
        if let Some(thread) = self.copying {
            // A panic was logged.
            let _ = thread.join();
        }
    }
}

/// Copies until at most [`MAX_REST`] pages remain, or until writes are faster. Then it returns `true`. It returns `false`
/// if a reader prevents it.
fn copy(connection: &Connection) -> rusqlite::Result<bool> {
    let mut before = Wal { pages: u32::MAX, copied: 0 };
    loop {
        connection.query_row(PASSIVE, [], |_| Ok(()))?;
        let Some(after) = Wal::of(connection)? else { continue };
        if after.rest() <= MAX_REST {
            return Ok(true);
        }
        if after.copied <= before.copied {
            return Ok(false);
        }
        if after.rest() >= before.rest() {
            return Ok(true);
        }
        before = after;
    }
}

/// Syncs a file regularly during `work`.
fn while_syncing<T>(file: &File, work: impl FnOnce() -> T) -> T {
    let (working, has_ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = has_ended.recv_timeout(SYNC_INTERVAL) {
                // SQLite reports an error with its own sync.
                let _ = file.sync_data();
            }
        });
        let result = work();
        drop(working);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_the_wal_is_known_without_a_checkpoint() {
        let place = tempfile::tempdir().unwrap();
        let [ours, theirs] = [(); 2].map(|()| Connection::open(place.path().join("some.db")).unwrap());
        let state = |pages, copied| Some(Wal { pages, copied });
        assert_eq!(Wal::of(&ours).unwrap(), state(0, 0));
        ours.pragma_update(None, "journal_mode", "WAL").unwrap();
        assert_eq!(Wal::of(&ours).unwrap(), state(0, 0));
        theirs.execute_batch("CREATE TABLE some (thing)").unwrap();
        let pages = Wal::of(&ours).unwrap().unwrap().pages;
        assert!(pages > 0);
        assert_eq!(Wal::of(&ours).unwrap(), state(pages, 0));
        theirs.query_row(PASSIVE, [], |_| Ok(())).unwrap();
        assert_eq!(Wal::of(&ours).unwrap(), state(pages, pages));
        // This write restarts the WAL.
        theirs.execute_batch("INSERT INTO some VALUES (1)").unwrap();
        assert_eq!(Wal::of(&ours).unwrap(), state(1, 0));
    }
}
