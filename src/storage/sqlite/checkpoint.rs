//! Checkpoints: copies pages from the WAL into the database between two batches.
//!
//! `wal_autocheckpoint` of SQLite does it within a COMMIT, while callers wait, and never waits for reads. While reads
//! overlap, the WAL would not restart and grow without a bound.
//!
//! A backup by another process reads one snapshot for as long as it takes, and the WAL grows meanwhile. The writes after it
//! wait until all of the WAL is copied: `src/storage/README.md`, "Known limits".

use std::time::Duration;

use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, MAIN_DB};
use slog::{Logger, warn};

use super::connection;

/// The growth of the WAL, in pages, that starts a checkpoint. The default of SQLite.
const GROWTH: u32 = 1000;
/// The growth of the WAL, in pages, after which a checkpoint that reads limited is tried again.
const GROWTH_TO_RETRY: u32 = 250;
/// How long a checkpoint waits for reads, in total. Writes wait as long.
const MAX_READ: Duration = Duration::from_millis(100);

/// Decides when to checkpoint.
#[derive(Default)]
pub(super) struct Checkpoints {
    /// The length of the WAL, in pages, from which its growth is counted.
    last: u32,
    /// Whether reads limited the last checkpoint.
    is_limited: bool,
}

impl Checkpoints {
    /// Checkpoints the WAL if it has grown. A read of another process limits how much is copied.
    pub(super) fn after_commit(&mut self, connection: &Connection, log: &Logger) -> rusqlite::Result<()> {
        let pages = match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::NOOP) {
            // -1 without a WAL.
            Ok((pages, _)) => pages.max(0).unsigned_abs(),
            // A commit of another process changes it.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => return Ok(()),
            Err(error) => return Err(error),
        };
        if pages < self.last {
            self.last = 0; // The WAL was restarted.
        }
        if pages - self.last < GROWTH {
            return Ok(());
        }
        // Set first: a checkpoint that fails must not be tried, and logged, after each batch.
        self.last = pages;
        // Waits for reads, so that the next write restarts the WAL.
        connection::set_lock_timeout(connection, MAX_READ)?;
        let is_limited = connection
            .prepare_cached("PRAGMA wal_checkpoint(RESTART)")?
            .query_row([], |row| row.get::<_, bool>(0))?;
        if is_limited && !self.is_limited {
            warn!(log, "a read that takes long lets the WAL grow"; "pages" => pages);
        }
        self.is_limited = is_limited;
        if is_limited {
            self.last -= GROWTH - GROWTH_TO_RETRY;
        }
        Ok(())
    }
}
