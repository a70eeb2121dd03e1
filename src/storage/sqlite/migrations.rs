//! The numbered SQL files, and applying those that a database lacks.
//!
//! `user_version` in the header of the file is the number of the last one applied. Each runs in a
//! transaction of its own together with the change of that number, so that a crash leaves a whole step.
//! A file that was released is never edited; what changes comes as the next number.

use rusqlite::{Connection, TransactionBehavior};

/// What tells our files from those of other programs ("Anml"), in the header of the file.
pub(super) const APPLICATION_ID: i32 = 0x416e_6d6c;

const MIGRATIONS: [&str; 3] =
    [include_str!("0001_animals.sql"), include_str!("0002_api_keys.sql"), include_str!("0003_secret.sql")];

/// The number of the newest file.
pub(super) const NEWEST: i32 = MIGRATIONS.len() as i32;

/// Brings the database to [`NEWEST`]. Takes no lock when it is there already.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    for (number, sql) in (1..).zip(MIGRATIONS) {
        if version(connection)? >= number {
            continue;
        }
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have applied it while we waited for the lock.
        if version(&step)? < number {
            step.execute_batch(sql)?;
            step.pragma_update(None, "application_id", APPLICATION_ID)?;
            step.pragma_update(None, "user_version", number)?;
        }
        step.commit()?;
    }
    Ok(())
}

/// The number of the last file that was applied.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
