//! Reads and changes API keys. Both engines run the same SQL (`../key_sql.rs`).

use jiff::Timestamp;
use rusqlite::{Connection, Error, OptionalExtension, Row, ToSql, params};

use super::engine::Sqlite;
use crate::storage::key_sql::{ALL, BY_HASH, EXPIRE, INSERT, REVOKE, USE};
use crate::storage::types::{KeyRecord, StoreError};
use crate::storage::write::KeyChange;

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

/// Executes a change. Returns whether it found what it changes.
pub(super) fn execute(connection: &Connection, change: &KeyChange) -> rusqlite::Result<bool> {
    let run = |sql, values: &[&dyn ToSql]| Ok(connection.prepare_cached(sql)?.execute(values)? > 0);
    match change {
        KeyChange::Add(key) => insert(connection, key),
        KeyChange::NoteUse { id, at } => run(USE, &[at, id]),
        KeyChange::Revoke { id, at } => run(REVOKE, &[&at.as_second(), id]),
        KeyChange::Rotate { old, old_expires, new } => {
            Ok(run(EXPIRE, &[&old_expires.as_second(), old])? && insert(connection, new)?)
        }
    }
}

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

fn key(row: &Row<'_>) -> rusqlite::Result<KeyRecord> {
    let times = [row.get(3)?, row.get(4)?, row.get(5)?, row.get(7)?];
    let hash = row.get_ref(2)?.as_blob()?;
    let key = KeyRecord::stored(row.get(0)?, row.get(1)?, hash, row.get(6)?, times);
    key.map_err(|why| Error::UserFunctionError(why.into()))
}
