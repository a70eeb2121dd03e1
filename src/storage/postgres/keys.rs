//! The SQL of API keys.

use std::sync::Arc;

use jiff::Timestamp;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::engine::{Postgres, Reader};
use super::error::PgError;
use crate::storage::types::{KeyRecord, StoreError};
use crate::storage::write::{KeyChange, stored};

// Only this program stores keys, under the lock of all writers, so a conflict is a key that exists.
const INSERT: &str = "INSERT INTO api_key (id, name, hash, created, expires, revoked, note, last_used) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";

const ALL: &str = "SELECT id, name, hash, created, expires, revoked, note, last_used \
     FROM api_key ORDER BY created, position";

const BY_HASH: &str = "SELECT id, name, hash, created, expires, revoked, note, last_used \
     FROM api_key WHERE hash = $1";

const USE: &str = "UPDATE api_key SET last_used = $2 WHERE id = $1 AND coalesce(last_used < $2, true)";

const REVOKE: &str = "UPDATE api_key SET revoked = coalesce(revoked, $2) WHERE id = $1";

// A new key that is rejected leaves the old one unchanged.
const ROTATE: &str = "WITH old AS ( \
         SELECT id FROM api_key WHERE id = $9 AND revoked IS NULL \
     ), stored AS ( \
         INSERT INTO api_key (id, name, hash, created, expires, revoked, note, last_used) \
         SELECT $1::text, $2::text, $3::bytea, $4::bigint, $5::bigint, $6::bigint, $7::text, $8::bigint FROM old \
         ON CONFLICT DO NOTHING RETURNING id \
     ), changed AS ( \
         UPDATE api_key SET expires = least(expires, $10) WHERE id = (SELECT id FROM old) AND EXISTS (SELECT FROM stored) \
     ) \
     SELECT EXISTS (SELECT FROM old), EXISTS (SELECT FROM stored)";

impl Postgres {
    /// Returns all keys, oldest first.
    pub(in crate::storage) async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(|reader| async move { reader.query(ALL, &[]).await?.iter().map(key).collect() }).await
    }

    /// Returns the key with this SHA-256.
    pub(in crate::storage) async fn key_by_hash(
        &self,
        hash: [u8; 32],
    ) -> Result<Option<KeyRecord>, StoreError> {
        let find = |reader: Arc<Reader>| async move {
            reader.query(BY_HASH, &[&hash.as_slice()]).await?.first().map(key).transpose()
        };
        self.read(find).await
    }
}

/// Executes a change. The inner error rejects a key that exists.
pub(super) async fn execute(
    client: &Client,
    change: &KeyChange,
) -> Result<Result<bool, StoreError>, PgError> {
    let rows = match change {
        KeyChange::Add(key) => return insert(client, key).await,
        KeyChange::NoteUse { id, at } => client.execute(USE, &[id, at]).await?,
        KeyChange::Revoke { id, at } => client.execute(REVOKE, &[id, &at.as_second()]).await?,
        KeyChange::Rotate { old, old_expires, new } => return rotate(client, old, *old_expires, new).await,
    };
    Ok(Ok(rows > 0))
}

/// Stores a key. The inner error rejects one whose identifier or hash exists.
async fn insert(client: &Client, key: &KeyRecord) -> Result<Result<bool, StoreError>, PgError> {
    let Values { hash, times } = Values::of(key);
    let [created, expires, revoked, last_used] = &times;
    let values: [&(dyn ToSql + Sync); 8] =
        [&key.id, &key.name, &hash, created, expires, revoked, &key.note, last_used];
    Ok(stored(client.execute(INSERT, &values).await? > 0))
}

/// Returns `false` when there is no key `old`, or it is revoked.
async fn rotate(
    client: &Client,
    old: &str,
    old_expires: Timestamp,
    new: &KeyRecord,
) -> Result<Result<bool, StoreError>, PgError> {
    let Values { hash, times } = Values::of(new);
    let ([created, expires, revoked, last_used], old_expires) = (&times, old_expires.as_second());
    let values: [&(dyn ToSql + Sync); 10] =
        [&new.id, &new.name, &hash, created, expires, revoked, &new.note, last_used, &old, &old_expires];
    let row = client.query_one(ROTATE, &values).await?;
    Ok(if row.try_get(0)? { stored(row.try_get(1)?) } else { Ok(false) })
}

/// The columns of a key that are not text.
struct Values<'a> {
    hash: &'a [u8],
    /// When it was created, expires, was revoked and last used, in seconds.
    times: [Option<i64>; 4],
}

impl<'a> Values<'a> {
    fn of(key: &'a KeyRecord) -> Self {
        let times = [Some(key.created), key.expires, key.revoked, key.last_used];
        Self { hash: &key.hash, times: times.map(|time| time.map(Timestamp::as_second)) }
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
