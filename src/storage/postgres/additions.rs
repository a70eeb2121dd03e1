//! The SQL of additions.

use std::collections::HashMap;

use tokio::try_join;
use tokio_postgres::{Client, Error, Statement};

use super::animals;
use super::error::PgError;
use crate::schemas::{Pet, PetStatus};
use crate::storage::types::IdempotencyKey;
use crate::storage::write::Addition;

// Assigns the identifiers together with the position in the batch before the INSERT, because neither the order of its rows
// nor that of RETURNING is defined. A volatile expression that is used twice is evaluated once.
const INSERT: &str = "WITH numbered AS ( \
         SELECT nextval('animal_id') AS id, name, category_id, status, position \
         FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS given (name, category_id, status, position) \
     ), stored AS ( \
         INSERT INTO animal (id, name, category_id, status) SELECT id, name, category_id, status FROM numbered \
     ) \
     SELECT id FROM numbered ORDER BY position";

// Stores keys too. One that exists has expired.
const INSERT_ONCE: &str = "WITH numbered AS ( \
         SELECT nextval('animal_id') AS id, name, category_id, status, client, value, added, position \
         FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[]) \
             WITH ORDINALITY AS given (name, category_id, status, client, value, added, position) \
     ), stored AS ( \
         INSERT INTO animal (id, name, category_id, status) SELECT id, name, category_id, status FROM numbered \
     ), keys AS ( \
         INSERT INTO idempotency_key (animal_id, client, value, added) \
         SELECT id, client, value, added FROM numbered WHERE client IS NOT NULL \
         ON CONFLICT (client, value) DO UPDATE SET animal_id = excluded.animal_id, added = excluded.added \
     ) \
     SELECT id FROM numbered ORDER BY position";

// With LIMIT, a subquery is run for each key, whatever the statistics are. `id` is null if the animal was removed.
const FIND: &str = "SELECT id, name, category_id, status, position \
     FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS given (client, value, at, position), \
     LATERAL (SELECT animal_id FROM idempotency_key AS known \
         WHERE known.client = given.client AND known.value = given.value AND known.added > at - $4 LIMIT 1) AS found \
     LEFT JOIN LATERAL (SELECT id, name, category_id, status FROM animal WHERE id = animal_id LIMIT 1) AS stored ON true";

/// The prepared statements of a connection for writing.
pub(super) struct Statements {
    insert: Statement,
    insert_once: Statement,
    find: Statement,
}

impl Statements {
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        let (insert, insert_once, find) =
            try_join!(client.prepare(INSERT), client.prepare(INSERT_ONCE), client.prepare(FIND))?;
        Ok(Self { insert, insert_once, find })
    }

    /// Stores animals and their keys. Returns the identifiers in the same order.
    pub(super) async fn insert(&self, client: &Client, additions: &[&Addition]) -> Result<Vec<i64>, PgError> {
        if additions.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = additions.iter().map(|it| it.new.name.as_str()).collect();
        let categories: Vec<i64> = additions.iter().map(|it| it.new.category_id).collect();
        let statuses: Vec<Option<&str>> =
            additions.iter().map(|it| it.new.status.map(PetStatus::as_str)).collect();
        let rows = if additions.iter().all(|it| it.key.is_none()) {
            client.query(&self.insert, &[&names, &categories, &statuses]).await?
        } else {
            let Keys { clients, values, times } = Keys::of(additions);
            client
                .query(&self.insert_once, &[&names, &categories, &statuses, &clients, &values, &times])
                .await?
        };
        let ids: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        if ids.len() == additions.len() {
            return Ok(ids);
        }
        let (assigned, count) = (ids.len(), additions.len());
        Err(PgError::UnexpectedValue(format!("{assigned} identifiers were assigned to {count} animals")))
    }

    /// Returns the keys of these additions that are stored and have not expired, each with its animal; `None` if that was
    /// removed.
    pub(super) async fn find<'a>(
        &self,
        client: &Client,
        additions: &[&'a Addition],
    ) -> Result<HashMap<&'a IdempotencyKey, Option<Pet>>, PgError> {
        let Keys { clients, values, times } = Keys::of(additions);
        let lifetime = IdempotencyKey::LIFETIME.as_secs();
        let mut found = HashMap::new();
        for row in &client.query(&self.find, &[&clients, &values, &times, &lifetime]).await? {
            let position: i64 = row.try_get(4)?;
            let addition = usize::try_from(position - 1).ok().and_then(|index| additions.get(index));
            let key = addition.and_then(|addition| addition.key());
            let key =
                key.ok_or_else(|| PgError::UnexpectedValue(format!("the position {position} of a key")))?;
            let is_removed = row.try_get::<_, Option<i64>>(0)?.is_none();
            found.insert(key, if is_removed { None } else { Some(animals::pet(row)?) });
        }
        Ok(found)
    }
}

/// The keys of additions, as columns. NULL for an addition without a key.
struct Keys<'a> {
    clients: Vec<Option<&'a str>>,
    values: Vec<Option<&'a str>>,
    /// In seconds.
    times: Vec<Option<i64>>,
}

impl<'a> Keys<'a> {
    fn of(additions: &[&'a Addition]) -> Self {
        let keys = || additions.iter().map(|it| it.key());
        Self {
            clients: keys().map(|key| key.map(|key| key.client.as_str())).collect(),
            values: keys().map(|key| key.map(|key| key.value.as_str())).collect(),
            times: additions.iter().map(|it| it.key.as_ref().map(|(_, at)| at.as_second())).collect(),
        }
    }
}
