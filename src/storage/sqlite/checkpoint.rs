//! Checkpoints a long log on another thread, while writes continue.
//!
//! A log is long after another process, such as a backup, has read one snapshot for a while. To copy it
//! between two batches would delay writes by as long as the copy takes. During the copy the log grows, so the
//! rest is left to the writer thread: the log can restart only when no write is added to it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use super::{connection, failure, file, wal_index};
use crate::storage::metrics::Operation;
use crate::storage::options::StoreOptions;

/// Copies up to the oldest snapshot that is read, without waiting for readers or writers.
pub(super) const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";
/// The maximum number of pages that are left to the writer thread.
pub(super) const MAX_REST: u32 = 2000;
/// The time between two syncs of the database.
const SYNC_INTERVAL: Duration = Duration::from_millis(10);

/// The state of the log, in pages.
pub(super) struct Log {
    /// The pages that are in the database.
    copied: u32,
    /// The pages that are not.
    pub(super) rest: u32,
}

impl Log {
    /// Returns the state; `None` before the first read of the connection, and while a commit changes it.
    pub(super) fn of(connection: &Connection) -> Option<Self> {
        let copied = wal_index::checkpointed_frames(connection)?;
        let pages = wal_index::header(connection)?.frames();
        Some(Self { copied, rest: pages.saturating_sub(copied) })
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
        let Some(after) = Log::of(connection) else { continue };
        if after.rest <= MAX_REST {
            return Ok(true);
        }
        if let Some(before) = before {
            if after.copied <= before.copied {
                return Ok(false);
            }
            if after.rest >= before.rest {
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
        file::sync(&connection)?;
        if is_last {
            return Ok(());
        }
        thread::sleep(SYNC_INTERVAL);
    }
}
