//! The SQL of additions.

use std::collections::HashMap;

use tokio::try_join;
use tokio_postgres::{Client, Error, Statement};

use super::error::PgError;
use crate::schemas::PetStatus;
use crate::storage::types::IdempotencyKey;
use crate::storage::write::Addition;

// Assigns the identifiers together with the position in the batch before the INSERT, because neither the order of its rows
// nor that of RETURNING is defined. A volatile expression that is used twice is evaluated once.
const INSERT: &str = "WITH numbered AS ( \
         SELECT nextval('animal_id') AS id, name, category, status, position \
         FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS given (name, category, status, position) \
     ), stored AS ( \
         INSERT INTO animal (id, name, category, status) SELECT id, name, category, status FROM numbered \
     ) \
     SELECT id FROM numbered ORDER BY position";

// Stores keys too, which do not exist. The response is the JSON text of the animal.
const INSERT_ONCE: &str = "WITH numbered AS ( \
         SELECT nextval('animal_id') AS id, name, category, status, client, value, fingerprint, position \
         FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bytea[]) \
             WITH ORDINALITY AS given (name, category, status, client, value, fingerprint, position) \
     ), stored AS ( \
         INSERT INTO animal (id, name, category, status) SELECT id, name, category, status FROM numbered \
     ), keys AS ( \
         INSERT INTO idempotency_key (client, value, fingerprint, response, added) \
         SELECT client, value, fingerprint, \
             CASE WHEN status IS NULL \
                 THEN json_build_object('id', id, 'name', name, 'categoryId', category) \
                 ELSE json_build_object('id', id, 'name', name, 'categoryId', category, 'status', status) \
             END::text, \
             floor(extract(epoch FROM now()))::bigint \
         FROM numbered WHERE client IS NOT NULL \
     ) \
     SELECT id FROM numbered ORDER BY position";

// With LIMIT, a subquery is run for each key, whatever the statistics are.
const FIND: &str = "SELECT fingerprint, response, position \
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (client, value, position), \
     LATERAL (SELECT fingerprint, response FROM idempotency_key AS known \
         WHERE known.client = given.client AND known.value = given.value LIMIT 1) AS found";

/// What is stored with a key: the fingerprint of the request, and the response.
pub(super) type Known<'a> = HashMap<&'a IdempotencyKey, (Vec<u8>, String)>;

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
            let (clients, values) = keys(additions);
            let fingerprints: Vec<Option<&[u8]>> =
                additions.iter().map(|it| it.key.as_ref().map(|it| &it.fingerprint[..])).collect();
            client
                .query(&self.insert_once, &[&names, &categories, &statuses, &clients, &values, &fingerprints])
                .await?
        };
        let ids: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        if ids.len() == additions.len() {
            return Ok(ids);
        }
        let (assigned, count) = (ids.len(), additions.len());
        Err(PgError::UnexpectedValue(format!("{assigned} identifiers were assigned to {count} animals")))
    }

    /// Returns what is stored with the keys of these additions.
    pub(super) async fn find<'a>(
        &self,
        client: &Client,
        additions: &[&'a Addition],
    ) -> Result<Known<'a>, PgError> {
        let (clients, values) = keys(additions);
        let mut found = HashMap::new();
        for row in &client.query(&self.find, &[&clients, &values]).await? {
            let position: i64 = row.try_get(2)?;
            let addition = usize::try_from(position - 1).ok().and_then(|index| additions.get(index));
            let key = addition.and_then(|addition| addition.key.as_ref());
            let key =
                key.ok_or_else(|| PgError::UnexpectedValue(format!("the position {position} of a key")))?;
            found.insert(&key.key, (row.try_get(0)?, row.try_get(1)?));
        }
        Ok(found)
    }
}

/// Returns the clients and the values of the keys, as columns. NULL for an addition without a key.
fn keys<'a>(additions: &[&'a Addition]) -> (Vec<Option<&'a str>>, Vec<Option<&'a str>>) {
    let keys = additions.iter().map(|it| it.key.as_ref().map(|it| &it.key));
    keys.map(|key| (key.map(|key| key.client.as_str()), key.map(|key| key.value.as_str()))).unzip()
}
