//! The SQL of API keys.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row, ToSql, params};

use super::engine::Sqlite;
use crate::storage::types::{KeyRecord, StoreError};
use crate::storage::write::{KeyChange, stored};

const INSERT: &str = "INSERT INTO api_key (id, name, hash, created, expires, revoked, note, last_used) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";

const ALL: &str = "SELECT id, name, hash, created, expires, revoked, note, last_used \
     FROM api_key ORDER BY created, position";

const BY_HASH: &str = "SELECT id, name, hash, created, expires, revoked, note, last_used \
     FROM api_key WHERE hash = ?1";

const USE: &str = "UPDATE api_key SET last_used = ?2 WHERE id = ?1 AND coalesce(last_used < ?2, true)";

const REVOKE: &str = "UPDATE api_key SET revoked = coalesce(revoked, ?2) WHERE id = ?1";

const ROTATABLE: &str = "SELECT 1 FROM api_key WHERE id = ?1 AND revoked IS NULL";

const EXPIRE: &str = "UPDATE api_key SET expires = min(coalesce(expires, ?2), ?2) WHERE id = ?1";

impl Sqlite {
    /// Returns all keys, oldest first.
    pub(in crate::storage) async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(&self.keys, |connection| connection.prepare_cached(ALL)?.query_map([], key)?.collect())
            .await
    }

    /// Returns the key with this SHA-256.
    pub(in crate::storage) async fn key_by_hash(
        &self,
        hash: [u8; 32],
    ) -> Result<Option<KeyRecord>, StoreError> {
        let file = self.file.clone();
        let find = move |connection: &Connection| {
            // The key may be revoked in a file that replaced this one.
            file.check()?;
            connection.prepare_cached(BY_HASH)?.query_row([hash], key).optional()
        };
        self.read(&self.keys, find).await
    }
}

/// Executes a change. The inner error rejects a key that exists.
pub(super) fn execute(
    connection: &Connection,
    change: &KeyChange,
) -> rusqlite::Result<Result<bool, StoreError>> {
    let found = |sql, values: &[&dyn ToSql]| Ok(Ok(connection.prepare_cached(sql)?.execute(values)? > 0));
    match change {
        KeyChange::Add(key) => insert(connection, key).map(stored),
        KeyChange::NoteUse { id, at } => found(USE, &[id, at]),
        KeyChange::Revoke { id, at } => found(REVOKE, &[id, &at.as_second()]),
        KeyChange::Rotate { old, old_expires, new } => rotate(connection, old, *old_expires, new),
    }
}

/// Returns whether the key was stored: none with its identifier or hash exists.
fn insert(connection: &Connection, key: &KeyRecord) -> rusqlite::Result<bool> {
    let inserted = connection.prepare_cached(INSERT)?.execute(params![
        key.id,
        key.name,
        key.hash,
        key.created.as_second(),
        key.expires.map(Timestamp::as_second),
        key.revoked.map(Timestamp::as_second),
        key.note,
        key.last_used.map(Timestamp::as_second),
    ]);
    inserted.map(|rows| rows > 0)
}

fn rotate(
    connection: &Connection,
    old: &str,
    old_expires: Timestamp,
    new: &KeyRecord,
) -> rusqlite::Result<Result<bool, StoreError>> {
    if !connection.prepare_cached(ROTATABLE)?.exists([old])? {
        return Ok(Ok(false));
    }
    let is_stored = insert(connection, new)?;
    if is_stored {
        connection.prepare_cached(EXPIRE)?.execute(params![old, old_expires.as_second()])?;
    }
    Ok(stored(is_stored))
}

fn key(row: &Row<'_>) -> rusqlite::Result<KeyRecord> {
    let time = |column: usize| -> rusqlite::Result<Option<Timestamp>> {
        let seconds: Option<i64> = row.get(column)?;
        let time = seconds.map(Timestamp::from_second).transpose();
        time.map_err(|error| Error::FromSqlConversionFailure(column, Type::Integer, error.into()))
    };
    Ok(KeyRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        hash: row.get(2)?,
        created: time(3)?.ok_or(Error::InvalidColumnType(3, "created".to_owned(), Type::Null))?,
        expires: time(4)?,
        revoked: time(5)?,
        note: row.get(6)?,
        last_used: time(7)?,
    })
}
