//! The SQL of idempotency keys.

use jiff::Timestamp;
use tokio::try_join;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::animals::{self, numbered};
use super::error::PgError;
use crate::schemas::PetStatus;
use crate::storage::copy::CopiedKey;
use crate::storage::expiry::{CHUNK, Removed, expired_until};
use crate::storage::store::{AddedOnce, IdempotencyKey};
use crate::storage::write::Addition;

// An animal is stored only if its key was. The INSERT of a key waits for a transaction that inserts the same key; rows
// are inserted in the order of the subquery, so two statements with sorted keys cannot wait for each other.
fn insert_sql() -> String {
    format!(
        "{}, claimed AS ( \
             INSERT INTO idempotency_key AS known (animal_id, client, value, added) \
             SELECT id, client, value, added FROM numbered ORDER BY position \
             ON CONFLICT (client, value) DO UPDATE SET animal_id = excluded.animal_id, added = excluded.added \
                 WHERE known.added <= excluded.added - {lifetime} \
             RETURNING animal_id \
         ), stored AS ( \
             INSERT INTO animal (id, name, category_id, status) \
             SELECT id, name, category_id, status FROM numbered JOIN claimed ON id = animal_id \
         ) \
         SELECT animal_id FROM numbered LEFT JOIN claimed ON id = animal_id ORDER BY position",
        numbered(
            "$1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[]",
            "name, category_id, status, client, value, added"
        ),
        lifetime = IdempotencyKey::LIFETIME.as_secs(),
    )
}

// With LIMIT, a subquery is run for each key, whatever the statistics are. `id` is null if the animal was removed.
const FIND: &str = "SELECT id, name, category_id, status, position \
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (client, value, position), \
     LATERAL (SELECT animal_id FROM idempotency_key AS known \
         WHERE known.client = given.client AND known.value = given.value LIMIT 1) AS found \
     LEFT JOIN LATERAL (SELECT id, name, category_id, status FROM animal WHERE id = animal_id LIMIT 1) AS stored ON true";

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

/// The prepared statements of a connection for writing.
pub(super) struct Statements {
    insert: Statement,
    find: Statement,
}

impl Statements {
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        let insert = insert_sql();
        let (insert, find) = try_join!(client.prepare(&insert), client.prepare(FIND))?;
        Ok(Self { insert, find })
    }

    /// Atomically stores animals with their keys, which must be sorted and all different. Returns the identifiers in
    /// the same order; `None` for a key that exists and has not expired.
    pub(super) async fn insert(
        &self,
        client: &Client,
        additions: &[&Addition],
    ) -> Result<Vec<Option<i64>>, PgError> {
        let names: Vec<&str> = additions.iter().map(|it| it.new.name.as_str()).collect();
        let categories: Vec<i64> = additions.iter().map(|it| it.new.category_id).collect();
        let statuses: Vec<Option<&str>> =
            additions.iter().map(|it| it.new.status.map(PetStatus::as_str)).collect();
        let clients: Vec<&str> = additions.iter().map(|it| it.key.client.as_str()).collect();
        let values: Vec<&str> = additions.iter().map(|it| it.key.value.as_str()).collect();
        let times: Vec<i64> = additions.iter().map(|it| it.at.as_second()).collect();
        // Complete when the server is ready for the next query, that is, after the commit.
        let rows =
            client.query(&self.insert, &[&names, &categories, &statuses, &clients, &values, &times]).await?;
        animals::assigned(&rows, additions.len())
    }

    /// Returns the results of additions that are repeated, in the same order; `None` for a key that does not exist.
    pub(super) async fn find(
        &self,
        client: &Client,
        additions: &[&Addition],
    ) -> Result<Vec<Option<AddedOnce>>, PgError> {
        let clients: Vec<&str> = additions.iter().map(|it| it.key.client.as_str()).collect();
        let values: Vec<&str> = additions.iter().map(|it| it.key.value.as_str()).collect();
        let mut results = vec![None; additions.len()];
        for row in &client.query(&self.find, &[&clients, &values]).await? {
            let position: i64 = row.try_get(4)?;
            let index = usize::try_from(position - 1).ok().filter(|index| *index < additions.len());
            let index =
                index.ok_or_else(|| PgError::UnexpectedValue(format!("the position {position} of a key")))?;
            let is_removed = row.try_get::<_, Option<i64>>(0)?.is_none();
            let pet = if is_removed { None } else { Some(animals::pet(row)?) };
            results[index] = Some(AddedOnce::repeated(pet, &additions[index].new));
        }
        Ok(results)
    }
}

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
