//! The SQL of additions.

use tokio::try_join;
use tokio_postgres::{Client, Error, Statement};

use super::animals;
use super::error::PgError;
use crate::schemas::PetStatus;
use crate::storage::types::{AddedOnce, IdempotencyKey};
use crate::storage::write::Addition;

// `mark` announces that animals above the last identifier of the sequence may appear until this transaction ends
// (`pages.rs`). It is evaluated before the identifiers are assigned, because they are selected from it.
//
// Assigns the identifiers together with the position in the batch before the INSERT, because neither the
// order of its rows nor that of RETURNING is defined. A volatile expression that is used twice is evaluated
// once.
//
// `given` are the columns of the arrays.
fn numbered(given: &str, arrays: &str) -> String {
    format!(
        "WITH mark AS MATERIALIZED ( \
             SELECT pg_advisory_xact_lock_shared((24942::bigint << 48) \
                 | (coalesce(pg_sequence_last_value('animal_id'), 0) & ((1::bigint << 48) - 1))) \
         ), numbered AS ( \
             SELECT nextval('animal_id') AS id, {given}, position \
             FROM mark, unnest({arrays}) WITH ORDINALITY AS given ({given}, position) \
         )"
    )
}

/// Stores animals without keys.
fn insert_sql() -> String {
    let numbered = numbered("name, category_id, status", "$1::text[], $2::bigint[], $3::text[]");
    format!(
        "{numbered}, stored AS ( \
             INSERT INTO animal (id, name, category_id, status) SELECT id, name, category_id, status FROM numbered \
         ) \
         SELECT id FROM numbered ORDER BY position"
    )
}

/// Stores animals with and without keys. A batch without keys takes 17 to 30% less CPU time of the server by
/// [`insert_sql`]: "Throughput" in `xtask/src/bench/README.md`.
// An animal with a key is stored only if its key was. The INSERT of a key waits for a transaction that inserts the same
// key; rows are inserted in the order of the subquery, so two statements with sorted keys cannot wait for each other.
fn insert_once_sql() -> String {
    let numbered = numbered(
        "name, category_id, status, client, value, added",
        "$1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[]",
    );
    format!(
        "{numbered}, claimed AS ( \
             INSERT INTO idempotency_key AS known (animal_id, client, value, added) \
             SELECT id, client, value, added FROM numbered WHERE client IS NOT NULL ORDER BY position \
             ON CONFLICT (client, value) DO UPDATE SET animal_id = excluded.animal_id, added = excluded.added \
                 WHERE known.added <= excluded.added - {lifetime} \
             RETURNING animal_id \
         ), stored AS ( \
             INSERT INTO animal (id, name, category_id, status) \
             SELECT id, name, category_id, status FROM numbered LEFT JOIN claimed ON id = animal_id \
             WHERE client IS NULL OR animal_id IS NOT NULL \
         ) \
         SELECT CASE WHEN client IS NULL THEN id ELSE animal_id END \
         FROM numbered LEFT JOIN claimed ON id = animal_id ORDER BY position",
        lifetime = IdempotencyKey::LIFETIME.as_secs(),
    )
}

// With LIMIT, a subquery is run for each key, whatever the statistics are. `id` is null if the animal was removed.
const FIND: &str = "SELECT id, name, category_id, status, position \
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (client, value, position), \
     LATERAL (SELECT animal_id FROM idempotency_key AS known \
         WHERE known.client = given.client AND known.value = given.value LIMIT 1) AS found \
     LEFT JOIN LATERAL (SELECT id, name, category_id, status FROM animal WHERE id = animal_id LIMIT 1) AS stored ON true";

/// The prepared statements of a connection for writing.
pub(super) struct Statements {
    insert: Statement,
    insert_once: Statement,
    find: Statement,
}

impl Statements {
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        let (insert, insert_once) = (insert_sql(), insert_once_sql());
        let (insert, insert_once, find) =
            try_join!(client.prepare(&insert), client.prepare(&insert_once), client.prepare(FIND))?;
        Ok(Self { insert, insert_once, find })
    }

    /// Atomically stores animals, whose keys must be sorted and all different. Returns the identifiers in the same order;
    /// `None` for a key that exists and has not expired.
    pub(super) async fn insert(
        &self,
        client: &Client,
        additions: &[&Addition],
    ) -> Result<Vec<Option<i64>>, PgError> {
        let names: Vec<&str> = additions.iter().map(|it| it.new.name.as_str()).collect();
        let categories: Vec<i64> = additions.iter().map(|it| it.new.category_id).collect();
        let statuses: Vec<Option<&str>> =
            additions.iter().map(|it| it.new.status.map(PetStatus::as_str)).collect();
        // Complete when the server is ready for the next query, that is, after the commit.
        let rows = if additions.iter().all(|it| it.key.is_none()) {
            client.query(&self.insert, &[&names, &categories, &statuses]).await?
        } else {
            let (clients, values) = keys(additions);
            let times: Vec<Option<i64>> =
                additions.iter().map(|it| it.key.as_ref().map(|(_, at)| at.as_second())).collect();
            client
                .query(&self.insert_once, &[&names, &categories, &statuses, &clients, &values, &times])
                .await?
        };
        let ids: Vec<Option<i64>> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        if ids.len() == additions.len() {
            return Ok(ids);
        }
        let (assigned, count) = (ids.len(), additions.len());
        Err(PgError::UnexpectedValue(format!("{assigned} identifiers were assigned to {count} animals")))
    }

    /// Returns the results of additions that are repeated, in the same order; `None` for a key that does not exist.
    pub(super) async fn find(
        &self,
        client: &Client,
        additions: &[&Addition],
    ) -> Result<Vec<Option<AddedOnce>>, PgError> {
        let (clients, values) = keys(additions);
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

/// Returns the clients and the values of the keys.
fn keys<'a>(additions: &[&'a Addition]) -> (Vec<Option<&'a str>>, Vec<Option<&'a str>>) {
    let keys = additions.iter().map(|it| it.key());
    keys.map(|key| (key.map(|key| key.client.as_str()), key.map(|key| key.value.as_str()))).unzip()
}
