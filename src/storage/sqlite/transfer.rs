//! The mark of the target of a copy, which is removed when the copy is complete.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::batch::{Batch, WriteResult, in_savepoint};
use super::idempotency::KeyHasher;
use super::migrations::{APPLICATION_ID, COPYING};
use super::open_failure::OpenFailure;
use super::opening::open_interrupted_copy;
use super::{animals, idempotency, keys};
use crate::storage::copy::Chunk;
use crate::storage::options::OpenError;

const IS_EMPTY: &str = "SELECT NOT EXISTS (SELECT 1 FROM animal) AND NOT EXISTS (SELECT 1 FROM api_key) \
     AND NOT EXISTS (SELECT 1 FROM idempotency_key)";

const EMPTY: &str =
    "DELETE FROM idempotency_key; DELETE FROM api_key; DELETE FROM animal; DELETE FROM sqlite_sequence";

/// Marks an empty database. Returns `false` if it is not empty, or is marked.
pub(super) fn begin(connection: &Connection) -> WriteResult<bool> {
    let is_empty = connection.query_row(IS_EMPTY, [], |row| row.get(0))?;
    Ok(Ok(is_empty && change_mark(connection, APPLICATION_ID, COPYING)?))
}

/// Stores a chunk of a copy, or nothing if the database is not marked. Returns whether it is.
pub(super) fn import(batch: &Batch<'_>, hasher: &KeyHasher, chunk: &Chunk) -> WriteResult<bool> {
    if mark(batch)? != COPYING {
        return Ok(Ok(false));
    }
    let imported = in_savepoint(batch, || match chunk {
        Chunk::Pets(pets) => animals::import(batch, pets),
        Chunk::IdempotencyKeys(keys) => idempotency::import(batch, hasher, keys),
        Chunk::Keys(keys) => keys::import(batch, keys),
    });
    Ok(imported?.map(|()| true))
}

/// Removes the mark. Returns `false` if there is none.
pub(super) fn finish(connection: &Connection) -> WriteResult<bool> {
    Ok(Ok(change_mark(connection, COPYING, APPLICATION_ID)?))
}

/// Replaces the identifier in the header. Returns `false` if it is not `from`.
fn change_mark(connection: &Connection, from: i32, to: i32) -> rusqlite::Result<bool> {
    let found = mark(connection)?;
    if found == from {
        connection.pragma_update(None, "application_id", to)?;
    }
    Ok(found == from)
}

fn mark(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
}

/// Empties the target of an interrupted copy, and removes the mark.
///
/// # Errors
/// One line, when the file is in use or is not such a target. Then it is unchanged.
pub fn discard_copy(path: &Path, lock_timeout: Duration) -> Result<(), OpenError> {
    let mut connection = open_interrupted_copy(path, lock_timeout)?;
    let mut discard = || {
        let emptying = connection.transaction()?;
        emptying.execute_batch(EMPTY)?;
        change_mark(&emptying, COPYING, APPLICATION_ID)?;
        emptying.commit()
    };
    discard().map_err(|error| OpenFailure::from(error).of(path))
}
