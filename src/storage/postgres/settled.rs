//! The identifiers of complete pages (`pages.rs`).

use std::sync::atomic::{AtomicI64, Ordering};

use tokio_postgres::{Client, Error};

use super::error::PgError;

/// The last identifier that was assigned.
const LAST: &str = "SELECT coalesce(pg_sequence_last_value('animal_id'), 0)";

/// The last identifier up to $2 such that each one after $1 is that of an animal.
const WITHOUT_GAPS: &str = "SELECT coalesce(max(id), $1) FROM ( \
         SELECT id, row_number() OVER (ORDER BY id) AS position FROM animal WHERE id > $1 AND id <= $2 \
     ) AS numbered WHERE id - position = $1::bigint";
/// The maximum number of identifiers to look for gaps in. Far more than are assigned between two checks on the primary.
const MAX_CHECKED: i64 = 100_000;

/// Returns the last identifier that the sequence has assigned.
pub(super) async fn last_assigned(client: &Client) -> Result<i64, Error> {
    client.query_one(LAST, &[]).await?.try_get(0)
}

/// Returns an identifier from `known` to `last` up to which no animal can be added any more, because each one after `known`
/// has its animal. A standby does not have the marks of batches in progress.
pub(super) async fn without_gaps(client: &Client, known: i64, last: i64) -> Result<i64, PgError> {
    // The sequence starts with 1.
    let known = known.max(0);
    if last.saturating_sub(known) > MAX_CHECKED {
        return Ok(known);
    }
    Ok(client.query_one(WITHOUT_GAPS, &[&known, &last]).await?.try_get(0)?)
}

/// The highest identifier up to which no animal can be added any more, as far as this process knows.
pub(super) struct Settled(AtomicI64);

impl Settled {
    pub(super) fn unknown() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }

    /// Forgets the identifier: after a crash or a failover, the sequence may assign the latest ones again.
    pub(super) fn forget(&self) {
        self.0.store(i64::MIN, Ordering::SeqCst);
    }

    pub(super) fn get(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns the identifier after it was raised to `id`.
    pub(super) fn raise(&self, id: i64) -> i64 {
        self.0.fetch_max(id, Ordering::SeqCst).max(id)
    }
}
