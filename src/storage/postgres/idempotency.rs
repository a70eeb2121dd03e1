//! The SQL of idempotency keys.

use jiff::Timestamp;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::error::PgError;
use crate::storage::copy::CopiedKey;
use crate::storage::expiry::{CHUNK, Removed, expired_until};
use crate::storage::store::IdempotencyKey;

// Keys with a time in the future would never be removed, so they get the present one. Only one replica removes at a time:
// two that lock the same rows in different orders would wait for each other. The number is the ASCII codes of "once".
const REMOVE: &str = "WITH oldest AS MATERIALIZED ( \
         SELECT animal_id FROM idempotency_key \
         WHERE (SELECT pg_try_advisory_xact_lock(1869505381)) AND animal_id > $4 ORDER BY animal_id LIMIT $2 \
     ), corrected AS ( \
         UPDATE idempotency_key SET added = $3 \
         WHERE added > $3 AND animal_id = ANY (ARRAY(SELECT animal_id FROM oldest)) RETURNING animal_id \
     ), removed AS ( \
         DELETE FROM idempotency_key \
         WHERE added <= $1 AND animal_id = ANY (ARRAY(SELECT animal_id FROM oldest)) RETURNING animal_id \
     ) \
     SELECT (SELECT count(*) FROM removed), (SELECT max(animal_id) FROM corrected)";

const AFTER: &str = "SELECT animal_id, client, value, added FROM idempotency_key \
     WHERE animal_id > $1 ORDER BY animal_id LIMIT $2";

const IMPORT: &str = "INSERT INTO idempotency_key (animal_id, client, value, added) \
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])";

/// Of the next [`CHUNK`] keys by the identifiers of their animals, which are greater than `after`, removes those that
/// have expired at `at`. Those whose time is after `at` get that time.
pub(super) async fn remove_expired(client: &Client, after: i64, at: Timestamp) -> Result<Removed, PgError> {
    let parameters: [&(dyn ToSql + Sync); 4] =
        [&expired_until(at), &i64::from(CHUNK), &at.as_second(), &after];
    let row = client.query_one(REMOVE, &parameters).await?;
    let count: i64 = row.try_get(0)?;
    Ok(Removed { count: count.unsigned_abs(), corrected: row.try_get(1)? })
}

/// Returns the next `limit` keys by the identifiers of their animals.
pub(super) async fn after(client: &Client, after: i64, limit: u32) -> Result<Vec<CopiedKey>, PgError> {
    client.query(AFTER, &[&after, &i64::from(limit)]).await?.iter().map(copied_key).collect()
}

/// Stores keys.
pub(super) async fn import(client: &Client, keys: &[CopiedKey]) -> Result<(), PgError> {
    let ids: Vec<i64> = keys.iter().map(|key| key.animal_id).collect();
    let clients: Vec<&str> = keys.iter().map(|key| key.key.client.as_str()).collect();
    let values: Vec<&str> = keys.iter().map(|key| key.key.value.as_str()).collect();
    let times: Vec<i64> = keys.iter().map(|key| key.added.as_second()).collect();
    client.execute(IMPORT, &[&ids, &clients, &values, &times]).await?;
    Ok(())
}

fn copied_key(row: &Row) -> Result<CopiedKey, PgError> {
    let added = Timestamp::from_second(row.try_get(3)?);
    Ok(CopiedKey {
        animal_id: row.try_get(0)?,
        key: IdempotencyKey { client: row.try_get(1)?, value: row.try_get(2)? },
        added: added.map_err(|_| PgError::UnexpectedValue("a time out of range".to_owned()))?,
    })
}
