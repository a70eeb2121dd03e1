//! The API keys: statements, and [`Keys`] made of them.

use async_trait::async_trait;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::try_join;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::PostgresStore;
use super::failure::Failure;
use super::writer::Attempt;
use crate::storage::{KeyRecord, Keys, StoreError};

const INSERT: &str = "INSERT INTO api_key (id, name, hash, created, expires, revoked) \
     VALUES ($1, $2, $3, $4, $5, $6)";

const ALL: &str = "SELECT id, name, hash, created, expires, revoked FROM api_key ORDER BY created, position";

const BY_HASH: &str = "SELECT id, name, hash, created, expires, revoked FROM api_key WHERE hash = $1";

const REVOKE: &str = "UPDATE api_key SET revoked = coalesce(revoked, $2) WHERE id = $1";

// One statement, so that a refused new key leaves the old one as it was.
const ROTATE: &str = "WITH old AS ( \
         UPDATE api_key SET expires = least(coalesce(expires, $8), $8) \
         WHERE id = $7 AND revoked IS NULL RETURNING id \
     ) \
     INSERT INTO api_key (id, name, hash, created, expires, revoked) \
     SELECT $1::text, $2::text, $3::bytea, $4::bigint, $5::bigint, $6::bigint FROM old";

const TAKE: &str = "INSERT INTO api_key (id, name, hash, created, expires, revoked) \
     VALUES ($1, $2, $3, $4, $5, $6) \
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, hash = excluded.hash, \
         created = excluded.created, expires = excluded.expires, revoked = excluded.revoked";

#[async_trait]
impl Keys for PostgresStore {
    async fn add_key(&self, key: KeyRecord) -> Result<(), StoreError> {
        self.change_key(move |client| Box::pin(async move { insert(client, &key).await })).await.map(drop)
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(|reader| async move { reader.keys.all(reader.client()).await }).await
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        let hash = *hash;
        self.read(|reader| async move { reader.keys.by_hash(reader.client(), &hash).await }).await
    }

    async fn key_for_authentication(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.known_keys.get_or_find(hash, || self.key_by_hash(hash)).await
    }

    async fn revoke_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.change_key(move |client| Box::pin(async move { revoke(client, &id, at).await })).await
    }

    async fn rotate_key(
        &self,
        old: &str,
        old_expires: Timestamp,
        new: KeyRecord,
    ) -> Result<bool, StoreError> {
        let old = old.to_owned();
        self.change_key(move |client| Box::pin(async move { rotate(client, &old, old_expires, &new).await }))
            .await
    }
}

impl PostgresStore {
    pub(super) async fn change_key(
        &self,
        work: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, Attempt<bool>> + Send + 'static,
    ) -> Result<bool, StoreError> {
        let answer = self.write(work).await;
        // Whatever the answer is: the change may have been made.
        self.known_keys.forget();
        answer
    }
}

/// The prepared queries of a connection that reads.
pub(super) struct Queries {
    all: Statement,
    by_hash: Statement,
}

impl Queries {
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        let (all, by_hash) = try_join!(client.prepare(ALL), client.prepare(BY_HASH))?;
        Ok(Self { all, by_hash })
    }

    pub(super) async fn all(&self, client: &Client) -> Result<Vec<KeyRecord>, Failure> {
        client.query(&self.all, &[]).await?.iter().map(key).collect()
    }

    pub(super) async fn by_hash(
        &self,
        client: &Client,
        hash: &[u8; 32],
    ) -> Result<Option<KeyRecord>, Failure> {
        client.query_opt(&self.by_hash, &[&hash.as_slice()]).await?.as_ref().map(key).transpose()
    }
}

async fn insert(client: &Client, key: &KeyRecord) -> Attempt<bool> {
    execute(client, INSERT, key, &[]).await
}

/// Stores a key in place of the one with the same identifier, if there is one.
pub(super) async fn take(client: &Client, key: &KeyRecord) -> Attempt<bool> {
    execute(client, TAKE, key, &[]).await
}

/// `false` when there is no such key.
async fn revoke(client: &Client, id: &str, at: Timestamp) -> Attempt<bool> {
    Ok(Ok(client.execute(REVOKE, &[&id, &at.as_second()]).await? > 0))
}

/// `false` when there is no key `old` that is not revoked.
async fn rotate(client: &Client, old: &str, old_expires: Timestamp, new: &KeyRecord) -> Attempt<bool> {
    execute(client, ROTATE, new, &[&old, &old_expires.as_second()]).await
}

/// Executes a statement whose first six parameters are a key. Returns whether it changed a row; refuses a key
/// whose identifier or hash is taken.
async fn execute(
    client: &Client,
    statement: &str,
    key: &KeyRecord,
    more: &[&(dyn ToSql + Sync)],
) -> Attempt<bool> {
    let (created, hash) = (key.created.as_second(), key.hash.as_slice());
    let (expires, revoked) = (key.expires.map(Timestamp::as_second), key.revoked.map(Timestamp::as_second));
    let mut parameters: Vec<&(dyn ToSql + Sync)> =
        vec![&key.id, &key.name, &hash, &created, &expires, &revoked];
    parameters.extend_from_slice(more);
    match client.execute(statement, &parameters).await {
        Ok(rows) => Ok(Ok(rows > 0)),
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            Ok(Err(StoreError::Broken("there is a key with this id or this hash already".to_owned())))
        }
        Err(error) => Err(error.into()),
    }
}

fn key(row: &Row) -> Result<KeyRecord, Failure> {
    let time = |seconds: i64| {
        Timestamp::from_second(seconds).map_err(|error| Failure::NotOurs(format!("a time of a key: {error}")))
    };
    let hash: &[u8] = row.try_get(2)?;
    Ok(KeyRecord {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        hash: hash.try_into().map_err(|_| Failure::NotOurs("a hash has the wrong length".to_owned()))?,
        created: time(row.try_get(3)?)?,
        expires: row.try_get::<_, Option<i64>>(4)?.map(time).transpose()?,
        revoked: row.try_get::<_, Option<i64>>(5)?.map(time).transpose()?,
    })
}
