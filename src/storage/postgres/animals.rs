//! The SQL of animals.

use tokio::try_join;
use tokio_postgres::{Client, Error, Row, Statement};

use super::error::PgError;
use crate::schemas::{Pet, PetName, PetStatus};
use crate::storage::types::PetsQuery;

const GET: &str = "SELECT id, name, category_id, status FROM animal WHERE id = $1";

const PAGE: &str = "SELECT id, name, category_id, status FROM animal WHERE id >= $1 ORDER BY id LIMIT $2";

// Equivalent to `status = $3 AND id >= $1 ORDER BY id`, but only the index on (status, id) provides this
// order. With the plain form, the primary key provides it too, and a generic plan, which assumes a common
// status, may scan the primary key through all other animals.
const PAGE_OF_STATUS: &str = "SELECT id, name, category_id, status FROM animal \
     WHERE (status, id) >= ($3, $1) AND status <= $3 ORDER BY status, id LIMIT $2";

// The highest identifier up to $1 up to which no marked transaction can add an animal. A mark is the tag 24942 in the
// upper 16 bits of the lock's key and the end of an identifier in the lower 48; `classid` is the key's upper half. A
// mark less than 2^47 below $1 is of a lower identifier, any other one of a higher identifier.
const SETTLED: &str = "SELECT $1::bigint - coalesce(max(behind), 0) FROM ( \
         SELECT ($1 - ((classid::bigint << 32) | objid::bigint)) & ((1::bigint << 48) - 1) AS behind \
         FROM pg_locks \
         WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 16 = 24942 \
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
     ) AS marks WHERE behind BETWEEN 1 AND 1::bigint << 47";

/// The prepared queries of a connection for reading.
pub(super) struct Queries {
    get: Statement,
    page: Statement,
    page_of_status: Statement,
    settled: Statement,
}

impl Queries {
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        let (get, page, page_of_status, settled) = try_join!(
            client.prepare(GET),
            client.prepare(PAGE),
            client.prepare(PAGE_OF_STATUS),
            client.prepare(SETTLED)
        )?;
        Ok(Self { get, page, page_of_status, settled })
    }

    pub(super) async fn get(&self, client: &Client, id: i64) -> Result<Option<Pet>, PgError> {
        client.query_opt(&self.get, &[&id]).await?.as_ref().map(pet).transpose()
    }

    /// Returns the animals of a page and the one after it, which shows whether there are more.
    pub(super) async fn page(&self, client: &Client, query: PetsQuery) -> Result<Vec<Pet>, PgError> {
        let from = match query.after {
            None => i64::MIN,
            Some(i64::MAX) => return Ok(Vec::new()),
            Some(after) => after + 1,
        };
        let rows = i64::from(query.limit) + 1;
        let rows = match query.status {
            None => client.query(&self.page, &[&from, &rows]).await?,
            Some(status) => client.query(&self.page_of_status, &[&from, &rows, &status.as_str()]).await?,
        };
        rows.iter().map(pet).collect()
    }

    /// Returns the highest identifier, at most `id`, up to which no animal can be added any more. `id` must have been
    /// assigned.
    pub(super) async fn settled(&self, client: &Client, id: i64) -> Result<i64, PgError> {
        Ok(client.query_one(&self.settled, &[&id]).await?.try_get(0)?)
    }
}

/// Reads an animal from the first four columns.
pub(super) fn pet(row: &Row) -> Result<Pet, PgError> {
    let name = PetName::try_from(row.try_get::<_, String>(1)?)
        .map_err(|why| PgError::UnexpectedValue(format!("a name {why}")))?;
    let unknown = || PgError::UnexpectedValue("an unknown status".to_owned());
    let status: Option<&str> = row.try_get(3)?;
    let status = status.map(|word| PetStatus::from_word(word).ok_or_else(unknown)).transpose()?;
    Ok(Pet { id: row.try_get(0)?, name, category_id: row.try_get(2)?, status })
}
