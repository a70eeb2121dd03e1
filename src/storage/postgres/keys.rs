//! Reads and changes API keys. Both engines run the same SQL (`../key_sql.rs`).

use std::sync::Arc;

use jiff::Timestamp;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row};

use super::engine::{Postgres, Reader};
use super::error::PgError;
use crate::storage::key_sql::{ALL, BY_HASH, EXPIRE, INSERT, REVOKE, USE};
use crate::storage::types::{KeyRecord, StoreError};
use crate::storage::write::KeyChange;

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

/// Executes a change. Returns whether it found what it changes.
pub(super) async fn execute(client: &Client, change: &KeyChange) -> Result<bool, Error> {
    let rows = match change {
        KeyChange::Add(key) => insert(client, key).await?,
        KeyChange::NoteUse { id, at } => client.execute(USE, &[at, id]).await?,
        KeyChange::Revoke { id, at } => client.execute(REVOKE, &[&at.as_second(), id]).await?,
        KeyChange::Rotate { old, old_expires, new } => {
            match client.execute(EXPIRE, &[&old_expires.as_second(), old]).await? {
                0 => 0,
                _ => insert(client, new).await?,
            }
        }
    };
    Ok(rows > 0)
}

async fn insert(client: &Client, key: &KeyRecord) -> Result<u64, Error> {
    let (hash, created) = (key.hash.as_slice(), key.created.as_second());
    let times = [key.expires, key.revoked, key.last_used];
    let [expires, revoked, last_used] = times.map(|time| time.map(Timestamp::as_second));
    let values: [&(dyn ToSql + Sync); 8] =
        [&key.id, &key.name, &hash, &created, &expires, &revoked, &key.note, &last_used];
    client.execute(INSERT, &values).await
}

fn key(row: &Row) -> Result<KeyRecord, PgError> {
    let times = [row.try_get(3)?, row.try_get(4)?, row.try_get(5)?, row.try_get(7)?];
    let key = KeyRecord::stored(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(6)?, times);
    key.map_err(PgError::UnexpectedValue)
}
