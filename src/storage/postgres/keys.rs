//! The SQL of API keys.

use jiff::Timestamp;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::error::{PgError, WriteResult};
use crate::storage::error::StoreError;
use crate::storage::types::KeyRecord;

const INSERT: &str = "INSERT INTO api_key (id, name, hash, created, expires, revoked, note, last_used) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const ALL: &str = "SELECT id, name, hash, created, expires, revoked, note, last_used \
     FROM api_key ORDER BY created, position";

const BY_HASH: &str = "SELECT id, name, hash, created, expires, revoked, note, last_used \
     FROM api_key WHERE hash = $1";

const USE: &str = "UPDATE api_key SET last_used = $2 WHERE id = $1 AND coalesce(last_used < $2, true)";

const REVOKE: &str = "UPDATE api_key SET revoked = coalesce(revoked, $2) WHERE id = $1";

// One statement, so that a rejected new key leaves the old one unchanged.
const ROTATE: &str = "WITH old AS ( \
         UPDATE api_key SET expires = least(expires, $10) \
         WHERE id = $9 AND revoked IS NULL RETURNING id \
     ) \
     INSERT INTO api_key (id, name, hash, created, expires, revoked, note, last_used) \
     SELECT $1::text, $2::text, $3::bytea, $4::bigint, $5::bigint, $6::bigint, $7::text, $8::bigint FROM old";

/// The prepared queries of a connection for reading.
pub(super) struct Queries {
    by_hash: Statement,
}

impl Queries {
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        Ok(Self { by_hash: client.prepare(BY_HASH).await? })
    }

    pub(super) async fn by_hash(
        &self,
        client: &Client,
        hash: &[u8; 32],
    ) -> Result<Option<KeyRecord>, PgError> {
        client.query_opt(&self.by_hash, &[&hash.as_slice()]).await?.as_ref().map(key).transpose()
    }
}

pub(super) async fn all(client: &Client) -> Result<Vec<KeyRecord>, PgError> {
    client.query(ALL, &[]).await?.iter().map(key).collect()
}

pub(super) async fn insert(client: &Client, key: &KeyRecord) -> WriteResult<bool> {
    execute(client, INSERT, key, &[]).await
}

/// Stores that a key was used, at a time in seconds.
pub(super) async fn note_use(client: &Client, id: &str, at: i64) -> WriteResult<bool> {
    Ok(Ok(client.execute(USE, &[&id, &at]).await? > 0))
}

fn exists() -> StoreError {
    StoreError::Broken("another key with this id or hash exists".to_owned())
}

/// Returns `false` when there is no such key.
pub(super) async fn revoke(client: &Client, id: &str, at: Timestamp) -> WriteResult<bool> {
    Ok(Ok(client.execute(REVOKE, &[&id, &at.as_second()]).await? > 0))
}

/// Returns `false` when there is no key `old`, or it is revoked.
pub(super) async fn rotate(
    client: &Client,
    old: &str,
    old_expires: Timestamp,
    new: &KeyRecord,
) -> WriteResult<bool> {
    execute(client, ROTATE, new, &[&old, &old_expires.as_second()]).await
}

/// Executes a statement whose first eight parameters are a key. Returns whether it changed a row; rejects a key
/// whose identifier or hash exists.
async fn execute(
    client: &Client,
    statement: &str,
    key: &KeyRecord,
    parameters: &[&(dyn ToSql + Sync)],
) -> WriteResult<bool> {
    let (created, hash) = (key.created.as_second(), key.hash.as_slice());
    let (expires, revoked) = (key.expires.map(Timestamp::as_second), key.revoked.map(Timestamp::as_second));
    let last_used = key.last_used.map(Timestamp::as_second);
    let mut all: Vec<&(dyn ToSql + Sync)> =
        vec![&key.id, &key.name, &hash, &created, &expires, &revoked, &key.note, &last_used];
    all.extend_from_slice(parameters);
    match client.execute(statement, &all).await {
        Ok(rows) => Ok(Ok(rows > 0)),
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(Err(exists())),
        Err(error) => Err(error.into()),
    }
}

fn key(row: &Row) -> Result<KeyRecord, PgError> {
    let time = |seconds: i64| {
        Timestamp::from_second(seconds)
            .map_err(|error| PgError::UnexpectedValue(format!("a time of a key: {error}")))
    };
    let hash: &[u8] = row.try_get(2)?;
    Ok(KeyRecord {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        hash: hash
            .try_into()
            .map_err(|_| PgError::UnexpectedValue("a hash has the wrong length".to_owned()))?,
        created: time(row.try_get(3)?)?,
        expires: row.try_get::<_, Option<i64>>(4)?.map(time).transpose()?,
        revoked: row.try_get::<_, Option<i64>>(5)?.map(time).transpose()?,
        note: row.try_get(6)?,
        last_used: row.try_get::<_, Option<i64>>(7)?.map(time).transpose()?,
    })
}
