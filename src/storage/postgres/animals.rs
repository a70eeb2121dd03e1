//! The SQL of animals.

use tokio::try_join;
use tokio_postgres::{Client, Error, Row, Statement};

use super::error::PgError;
use crate::schemas::{Pet, PetName, PetStatus};
use crate::storage::types::{PetsFound, PetsQuery};

const GET: &str = "SELECT id, name, category, status FROM animal WHERE id = $1";

const PAGE: &str = "SELECT id, name, category, status FROM animal WHERE id >= $1 ORDER BY id LIMIT $2";

// Equivalent to `status = $3 AND id >= $1 ORDER BY id`, but only the index on (status, id) provides this
// order. With the plain form, the primary key provides it too, and a generic plan, which assumes a common
// status, may scan the primary key through all other animals.
const PAGE_OF_STATUS: &str = "SELECT id, name, category, status FROM animal \
     WHERE (status, id) >= ($3, $1) AND status <= $3 ORDER BY status, id LIMIT $2";

/// The prepared queries of a connection for reading.
pub(super) struct Queries {
    get: Statement,
    page: Statement,
    page_of_status: Statement,
}

impl Queries {
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        let (get, page, page_of_status) =
            try_join!(client.prepare(GET), client.prepare(PAGE), client.prepare(PAGE_OF_STATUS))?;
        Ok(Self { get, page, page_of_status })
    }

    pub(super) async fn get(&self, client: &Client, id: i64) -> Result<Option<Pet>, PgError> {
        client.query_opt(&self.get, &[&id]).await?.as_ref().map(pet).transpose()
    }

    pub(super) async fn page(&self, client: &Client, query: PetsQuery) -> Result<PetsFound, PgError> {
        let from = match query.after {
            None => i64::MIN,
            Some(i64::MAX) => return Ok(PetsFound { pets: Vec::new(), more: false }),
            Some(after) => after + 1,
        };
        // One more than the page has, which shows whether there are more.
        let limit = i64::from(query.limit) + 1;
        let rows = match query.status {
            None => client.query(&self.page, &[&from, &limit]).await?,
            Some(status) => client.query(&self.page_of_status, &[&from, &limit, &status.as_str()]).await?,
        };
        let mut pets = rows.iter().map(pet).collect::<Result<Vec<_>, _>>()?;
        let more = pets.len() > query.limit as usize;
        pets.truncate(query.limit as usize);
        Ok(PetsFound { pets, more })
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
