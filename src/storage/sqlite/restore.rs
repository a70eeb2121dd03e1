//! Restores a backup.
//!
//! Replacing the file by hand is risky: if the WAL of the replaced database is left beside the backup, SQLite applies it
//! to the backup. Here, SQLite writes the pages of the backup into the database in one transaction. If the process is
//! killed, the database is unchanged.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::backup;
use super::connection::{set_up_exclusive, set_up_writing};
use super::file::wal;
use super::opening::{ALL, open_existing};
use crate::storage::options::OpenError;

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

/// Replaces the content of the database `to` by the backup `from`. The content before is kept in the new file `keep`.
/// Without a file `to`, the backup is copied there, and no file `keep` is written. Returns whether one was.
///
/// API keys that were revoked or got an earlier expiry in `to` keep that. New animals get higher identifiers than all
/// animals in `to` had.
///
/// # Errors
/// One line, when `from` is not a complete database of this program, `to` is in use or damaged, or `keep` exists or
/// cannot be written. Then `to` is unchanged.
pub fn restore(from: &Path, to: &Path, keep: &Path, lock_timeout: Duration) -> Result<bool, OpenError> {
    let never = Arc::default();
    let mut backup = open_existing(from, 1, ALL, |it| set_up_writing(it, lock_timeout))?;
    if fs::symlink_metadata(to).is_err() {
        let wal = wal(to);
        if wal.exists() {
            let why = "is the WAL of another database; move it away, then restore again";
            return Err(OpenError::of_file(&wal, why));
        }
        backup::write(&mut backup, to, to, &never)?;
        return Ok(false);
    }
    let mut database = open_existing(to, 1, ALL, |it| set_up_exclusive(it, lock_timeout))?;
    // The temporary files are named after the database: the next restore removes what a killed one has left.
    backup::write(&mut database, to, keep, &never)?;
    let replaced = backup::copy(&mut backup, to, &never)
        .map_err(Into::into)
        .and_then(|prepared| replace(prepared.path(), &mut database, keep));
    replaced.map(|()| true).map_err(|error| OpenError::of_file(to, format!("is unchanged: {error}")))
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
