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

/// Returns the number of pages of the log that are not in the database yet.
pub(super) fn remaining(connection: &Connection) -> u32 {
    let copied = wal_index::checkpointed_frames(connection).unwrap_or(0);
    wal_index::header(connection).map_or(0, |header| header.frames().saturating_sub(copied))
}

/// Starts a thread that checkpoints until at most [`MAX_REST`] pages remain, or until a checkpoint does not
/// reduce their number: a reader prevents it, or writes are faster.
pub(super) fn start(path: PathBuf, options: StoreOptions) -> std::io::Result<JoinHandle<()>> {
    let run = move || {
        if let Err(error) = run(&path) {
            failure::report(&options, Operation::Write, &error);
        }
    };
    thread::Builder::new().name("sqlite-checkpoint".to_owned()).spawn(run)
}

fn run(path: &Path) -> rusqlite::Result<()> {
    let connection = connection::open_for_writing(path, Duration::ZERO)?;
    let copied = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| sync_until(&copied, path));
        let result = copy(&connection);
        copied.store(true, Ordering::Relaxed);
        result
    })
}

fn copy(connection: &Connection) -> rusqlite::Result<()> {
    let mut before = u32::MAX;
    loop {
        connection.query_row(PASSIVE, [], |_| Ok(()))?;
        let rest = remaining(connection);
        if rest <= MAX_REST || rest >= before {
            return Ok(());
        }
        before = rest;
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
