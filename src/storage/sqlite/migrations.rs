//! Migrations: applies the numbered SQL files that a database lacks.
//!
//! `user_version` in the header of the database is the number of the last applied file. Each file and its
//! number are committed together, so a crash leaves no partial migration. A released file is never edited; a
//! change is a new file. The table `migration` has the version of the program that applied a file, which an
//! older program names when it refuses the database.
//! Crates that were left: `src/DECISIONS.md`, Storage.

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Error, OptionalExtension, TransactionBehavior};

use crate::storage::idempotency::fingerprint_of_addition;

/// Identifies the databases of this program, in the header of the file ("Anml").
pub(super) const APPLICATION_ID: i32 = 0x416e_6d6c;

const MIGRATIONS: [&str; 9] = [
    include_str!("0001_animals.sql"),
    include_str!("0002_api_keys.sql"),
    include_str!("0003_secret.sql"),
    include_str!("0004_key_use.sql"),
    include_str!("0005_status_check.sql"),
    include_str!("0006_idempotency_keys.sql"),
    include_str!("0007_idempotency_hash.sql"),
    include_str!("0008_status_page.sql"),
    include_str!("0009_responses.sql"),
];

const TABLE: &str = "CREATE TABLE IF NOT EXISTS migration (
    number  INTEGER PRIMARY KEY,
    program TEXT    NOT NULL
) STRICT";

/// The number of the newest migration.
pub(super) const NEWEST: i32 = MIGRATIONS.len() as i32;

/// Migrates the database to [`NEWEST`], as the version `program` of this program. Takes no lock when it is up
/// to date.
pub(super) fn migrate(connection: &mut Connection, program: &str) -> rusqlite::Result<()> {
    for (number, sql) in (1..).zip(MIGRATIONS) {
        if version(connection)? >= number {
            continue;
        }
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have applied it during the wait for the lock.
        if version(&step)? < number {
            define_functions(&step)?;
            step.execute_batch(sql)?;
            step.execute_batch(TABLE)?;
            step.execute("INSERT INTO migration (number, program) VALUES (?1, ?2)", (number, program))?;
            step.pragma_update(None, "application_id", APPLICATION_ID)?;
            step.pragma_update(None, "user_version", number)?;
        }
        step.commit()?;
    }
    Ok(())
}

/// Applies the migrations up to the number `version` to an empty database.
pub(super) fn apply(connection: &Connection, version: i32) -> rusqlite::Result<()> {
    define_functions(connection)?;
    MIGRATIONS.iter().zip(0..version).try_for_each(|(sql, _)| connection.execute_batch(sql))
}

/// Defines the functions that migrations call.
fn define_functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    // Migration 9 drops what migration 7 computes with it.
    connection.create_scalar_function("idempotency_hash", 2, flags, |_| Ok(0))?;
    connection.create_scalar_function("fingerprint_of_addition", 3, flags, |arguments| {
        let (category, status) = (arguments.get(0)?, arguments.get_raw(1).as_str_or_null()?);
        let fingerprint = fingerprint_of_addition(category, status, arguments.get_raw(2).as_str()?);
        Ok::<_, Error>(fingerprint.to_vec())
    })
}

/// Returns the secret of the store, if there is one.
pub(super) fn find_secret(connection: &Connection) -> rusqlite::Result<Option<[u8; 32]>> {
    connection.query_row("SELECT bytes FROM secret", [], |row| row.get(0)).optional()
}

/// Writes the number of the last applied migration again, within a transaction: a write of one page.
pub(super) fn rewrite_version(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "user_version", version(connection)?)
}

/// Returns the number of the last applied migration.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Returns the version of the program that applied the last migration after [`NEWEST`], if it is known.
pub(super) fn newer_program(connection: &Connection) -> Option<String> {
    let sql = "SELECT program FROM migration WHERE number > ?1 ORDER BY number DESC LIMIT 1";
    // The table may have changed, or may not exist.
    connection.query_row(sql, [NEWEST], |row| row.get(0)).optional().ok().flatten()
}
