//! The schema: applies the numbered SQL files that a database lacks, and compares a database with them.
//!
//! `user_version` in the header of the database is the number of the last applied file. Each file and its
//! number are committed together, so a crash leaves no partial migration. A released file is never edited; a
//! change is a new file. The table `migration` has the version of the program that applied a file, which an
//! older program names when it refuses the database.
//! Crates that were left: `src/DECISIONS.md`, Crates.
//!
//! A file may come from elsewhere, such as a backup, and its header proves nothing. A trigger could undo a revocation; a
//! missing table would fail requests. Tables and indexes that are added, for example by a tool for replication, have no
//! effect and are accepted.

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Error, OptionalExtension, TransactionBehavior};

use super::error::OpenFailure;
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

/// The tables and indexes. Those that SQLite makes itself have no statement.
const OBJECTS: &str = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL \
     AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY type DESC, name";

const STATEMENT: &str = "SELECT sql FROM sqlite_schema WHERE type = ?1 AND name = ?2";

const TRIGGER: &str = "SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name LIMIT 1";

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

/// Rejects a database in which a table or index is not as the migrations up to the number `version` made it, and one with a
/// trigger.
pub(super) fn check(connection: &Connection, version: i32) -> Result<(), OpenFailure> {
    let refused = |difference: String| {
        Err(OpenFailure(format!(
            "{difference}, so it is not as this program made it; restore a backup, or use another database"
        )))
    };
    let trigger: Option<String> = connection.query_row(TRIGGER, [], |row| row.get(0)).optional()?;
    if let Some(name) = trigger {
        return refused(format!("has a trigger `{name}`"));
    }
    let expected = Connection::open_in_memory()?;
    define_functions(&expected)?;
    MIGRATIONS.iter().zip(0..version).try_for_each(|(sql, _)| expected.execute_batch(sql))?;
    let mut objects = expected.prepare(OBJECTS)?;
    let mut objects = objects.query([])?;
    let mut statement = connection.prepare(STATEMENT)?;
    while let Some(object) = objects.next()? {
        let (kind, name, sql): (String, String, String) = (object.get(0)?, object.get(1)?, object.get(2)?);
        let found: Option<String> = statement.query_row([&kind, &name], |row| row.get(0)).optional()?;
        match found {
            Some(found) if found == sql => {}
            Some(_) => return refused(format!("has another {kind} `{name}`")),
            None => return refused(format!("has no {kind} `{name}`")),
        }
    }
    Ok(())
}

/// Returns the number of the last applied migration.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Writes the number of the last applied migration again, within a transaction: a write of one page.
pub(super) fn rewrite_version(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "user_version", version(connection)?)
}

/// Returns the version of the program that applied the last migration after [`NEWEST`], if it is known.
pub(super) fn newer_program(connection: &Connection) -> Option<String> {
    let sql = "SELECT program FROM migration WHERE number > ?1 ORDER BY number DESC LIMIT 1";
    // The table may have changed, or may not exist.
    connection.query_row(sql, [NEWEST], |row| row.get(0)).optional().ok().flatten()
}

/// Returns the secret of the store, if there is one.
pub(super) fn find_secret(connection: &Connection) -> rusqlite::Result<Option<[u8; 32]>> {
    connection.query_row("SELECT bytes FROM secret", [], |row| row.get(0)).optional()
}
