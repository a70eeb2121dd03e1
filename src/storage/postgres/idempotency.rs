//! The SQL of idempotency keys.

use jiff::Timestamp;
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use super::error::PgError;
use crate::storage::expiry::{CHUNK, Removed, expired_until};

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

/// Of the next [`CHUNK`] keys by the identifiers of their animals, which are greater than `after`, removes those that
/// have expired at `at`. Those whose time is after `at` get that time.
pub(super) async fn remove_expired(client: &Client, after: i64, at: Timestamp) -> Result<Removed, PgError> {
    let parameters: [&(dyn ToSql + Sync); 4] =
        [&expired_until(at), &i64::from(CHUNK), &at.as_second(), &after];
    let row = client.query_one(REMOVE, &parameters).await?;
    let count: i64 = row.try_get(0)?;
    Ok(Removed { count: count.unsigned_abs(), corrected: row.try_get(1)? })
}
