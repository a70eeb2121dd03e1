//! Migrations: applies the numbered SQL files that a database lacks.
//!
//! `user_version` in the header of the database is the number of the last applied file. Each file and its
//! number are committed together, so a crash leaves no partial migration. A released file is never edited; a
//! change is a new file.

use rusqlite::{Connection, TransactionBehavior};

/// Identifies the databases of this program, in the header of the file ("Anml").
pub(super) const APPLICATION_ID: i32 = 0x416e_6d6c;

const MIGRATIONS: [&str; 3] =
    [include_str!("0001_animals.sql"), include_str!("0002_api_keys.sql"), include_str!("0003_secret.sql")];

/// The number of the newest migration.
pub(super) const NEWEST: i32 = MIGRATIONS.len() as i32;

/// Migrates the database to [`NEWEST`]. Takes no lock when it is up to date.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    for (number, sql) in (1..).zip(MIGRATIONS) {
        if version(connection)? >= number {
            continue;
        }
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have applied it during the wait for the lock.
        if version(&step)? < number {
            step.execute_batch(sql)?;
            step.pragma_update(None, "application_id", APPLICATION_ID)?;
            step.pragma_update(None, "user_version", number)?;
        }
        step.commit()?;
    }
    Ok(())
}

/// Returns the number of the last applied migration.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
