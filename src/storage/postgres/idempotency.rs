//! The SQL of idempotency keys.

use tokio_postgres::Client;

use super::error::PgError;
use crate::storage::expiry::{CHUNK, SteadyClock};

const NOW: &str = "SELECT floor(extract(epoch FROM now()))::bigint";

// The oldest first, so that keys with a time in the future do not delay the removal of others.
const REMOVE: &str = "DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY( \
         SELECT ctid FROM idempotency_key WHERE added < $1 ORDER BY added LIMIT $2 \
     ))";

/// Returns the time of the database, in seconds.
pub(super) async fn now(client: &Client) -> Result<i64, PgError> {
    Ok(client.query_one(NOW, &[]).await?.try_get(0)?)
}

/// Removes up to [`CHUNK`] keys that have expired, oldest first. Returns their number.
pub(super) async fn remove_expired(client: &Client, clock: &mut SteadyClock) -> Result<u64, PgError> {
    let before = clock.expired_before(now(client).await?);
    Ok(client.execute(REMOVE, &[&before, &(CHUNK as i64)]).await?)
}
