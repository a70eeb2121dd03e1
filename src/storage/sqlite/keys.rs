//! The API keys: statements, and [`Keys`] made of them.

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row, params};

use super::writer::{Attempt, whole};
use super::{SqliteStore, failure};
use crate::storage::{KeyRecord, Keys, StoreError};

const INSERT: &str = "INSERT INTO api_key (id, name, hash, created, expires, revoked) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const TAKE: &str = "INSERT INTO api_key (id, name, hash, created, expires, revoked) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, hash = excluded.hash, \
         created = excluded.created, expires = excluded.expires, revoked = excluded.revoked";

const ALL: &str = "SELECT id, name, hash, created, expires, revoked FROM api_key ORDER BY created, position";

const BY_HASH: &str = "SELECT id, name, hash, created, expires, revoked FROM api_key WHERE hash = ?1";

const REVOKE: &str = "UPDATE api_key SET revoked = coalesce(revoked, ?2) WHERE id = ?1";

const EXPIRE: &str = "UPDATE api_key SET expires = min(coalesce(expires, ?2), ?2) \
     WHERE id = ?1 AND revoked IS NULL";

#[async_trait]
impl Keys for SqliteStore {
    async fn add_key(&self, key: KeyRecord) -> Result<(), StoreError> {
        self.write(move |connection| insert(connection, &key)).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(all)
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.read(|connection| by_hash(connection, hash))
    }

    async fn key_for_authentication(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.known_keys.get_or_find(hash, || self.key_by_hash(hash)).await
    }

    async fn revoke_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.change_key(move |connection| revoke(connection, &id, at)).await
    }

    async fn rotate_key(
        &self,
        old: &str,
        old_expires: Timestamp,
        new: KeyRecord,
    ) -> Result<bool, StoreError> {
        let old = old.to_owned();
        self.change_key(move |connection| rotate(connection, &old, old_expires, &new)).await
    }
}

impl SqliteStore {
    async fn change_key(
        &self,
        work: impl FnOnce(&Connection) -> Attempt<bool> + Send + 'static,
    ) -> Result<bool, StoreError> {
        let answer = self.write(work).await;
        // Whatever the answer is: the change may have been made.
        self.known_keys.forget();
        answer
    }
}

fn insert(connection: &Connection, key: &KeyRecord) -> Attempt<()> {
    store(connection, INSERT, key)
}

/// Stores a key in place of the one with the same identifier, if there is one.
pub(super) fn take(connection: &Connection, key: &KeyRecord) -> Attempt<()> {
    store(connection, TAKE, key)
}

fn store(connection: &Connection, statement: &str, key: &KeyRecord) -> Attempt<()> {
    let inserted = connection.prepare_cached(statement)?.execute(params![
        key.id,
        key.name,
        key.hash,
        key.created.as_second(),
        key.expires.map(Timestamp::as_second),
        key.revoked.map(Timestamp::as_second),
    ]);
    match inserted {
        Ok(_) => Ok(Ok(())),
        Err(error) if failure::is_refusal(&error) => {
            Ok(Err(StoreError::Broken("there is a key with this id or this hash already".to_owned())))
        }
        Err(error) => Err(error),
    }
}

fn all(connection: &Connection) -> rusqlite::Result<Vec<KeyRecord>> {
    connection.prepare_cached(ALL)?.query_map([], key)?.collect()
}

fn by_hash(connection: &Connection, hash: &[u8; 32]) -> rusqlite::Result<Option<KeyRecord>> {
    connection.prepare_cached(BY_HASH)?.query_row([hash], key).optional()
}

fn revoke(connection: &Connection, id: &str, at: Timestamp) -> Attempt<bool> {
    Ok(Ok(connection.prepare_cached(REVOKE)?.execute(params![id, at.as_second()])? > 0))
}

/// Expires the old key first: when the new one is refused, that is taken back.
fn rotate(connection: &Connection, old: &str, old_expires: Timestamp, new: &KeyRecord) -> Attempt<bool> {
    whole(connection, || {
        if connection.prepare_cached(EXPIRE)?.execute(params![old, old_expires.as_second()])? == 0 {
            return Ok(Ok(false));
        }
        Ok(insert(connection, new)?.map(|()| true))
    })
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
    })
}
