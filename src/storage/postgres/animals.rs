//! The SQL of animals.

use tokio::try_join;
use tokio_postgres::{Client, Error, Row, Statement};

use super::failure::{Failure, WriteResult};
use crate::schemas::{NewPet, Pet, PetName, PetStatus};
use crate::storage::store::{PetsFound, PetsQuery};

const GET: &str = "SELECT id, name, category_id, status FROM animal WHERE id = $1";

const PAGE: &str = "SELECT id, name, category_id, status FROM animal WHERE id >= $1 ORDER BY id LIMIT $2";

// Equivalent to `status = $3 AND id >= $1 ORDER BY id`, but only the index on (status, id) provides this
// order. With the plain form, the primary key provides it too, and a generic plan, which assumes a common
// status, may scan the primary key through all other animals.
const PAGE_OF_STATUS: &str = "SELECT id, name, category_id, status FROM animal \
     WHERE (status, id) >= ($3, $1) AND status <= $3 ORDER BY status, id LIMIT $2";

// Assigns the identifiers together with the position in the batch before the INSERT, because neither the
// order of its rows nor that of RETURNING is defined. A volatile expression that is used twice is evaluated
// once.
const INSERT: &str = "WITH numbered AS ( \
         SELECT nextval('animal_id') AS id, name, category_id, status, position \
         FROM unnest($1::text[], $2::bigint[], $3::text[]) \
             WITH ORDINALITY AS given (name, category_id, status, position) \
     ), stored AS ( \
         INSERT INTO animal (id, name, category_id, status) \
         SELECT id, name, category_id, status FROM numbered \
     ) \
     SELECT id FROM numbered ORDER BY position";

const IMPORT: &str = "INSERT INTO animal (id, name, category_id, status) \
     SELECT id, name, category_id, status \
     FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) AS given (id, name, category_id, status) \
     ON CONFLICT (id) DO NOTHING";

// A new sequence has the last value 1, which was not assigned yet.
const ADVANCE_SEQUENCE: &str = "SELECT setval('animal_id', $1) FROM animal_id \
     WHERE last_value < $1 OR (last_value = $1 AND NOT is_called)";

const LAST: &str = "SELECT id, name, category_id, status FROM animal ORDER BY id DESC LIMIT 1";

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

    pub(super) async fn get(&self, client: &Client, id: i64) -> Result<Option<Pet>, Failure> {
        client.query_opt(&self.get, &[&id]).await?.as_ref().map(pet).transpose()
    }

    /// Reads one animal more than the limit, which shows whether there are more and is not returned.
    pub(super) async fn page(&self, client: &Client, query: PetsQuery) -> Result<PetsFound, Failure> {
        let from = match query.after {
            None => i64::MIN,
            Some(i64::MAX) => return Ok(PetsFound { pets: Vec::new(), more: false }),
            Some(after) => after + 1,
        };
        let rows = i64::from(query.limit) + 1;
        let mut rows = match query.status {
            None => client.query(&self.page, &[&from, &rows]).await?,
            Some(status) => client.query(&self.page_of_status, &[&from, &rows, &status.as_str()]).await?,
        };
        let more = rows.len() > query.limit as usize;
        rows.truncate(query.limit as usize);
        Ok(PetsFound { pets: rows.iter().map(pet).collect::<Result<_, _>>()?, more })
    }
}

pub(super) async fn prepare_insert(client: &Client) -> Result<Statement, Error> {
    client.prepare(INSERT).await
}

/// Atomically stores animals and returns their identifiers in the same order.
pub(super) async fn insert(
    client: &Client,
    statement: &Statement,
    animals: &[&NewPet],
) -> Result<Vec<i64>, Failure> {
    let names: Vec<&str> = animals.iter().map(|new| new.name.as_str()).collect();
    let categories: Vec<i64> = animals.iter().map(|new| new.category_id).collect();
    let statuses: Vec<Option<&str>> = animals.iter().map(|new| new.status.map(PetStatus::as_str)).collect();
    // Complete when the server is ready for the next query, that is, after the commit.
    let rows = client.query(statement, &[&names, &categories, &statuses]).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    if ids.len() == animals.len() {
        Ok(ids)
    } else {
        Err(Failure::UnexpectedValue(format!(
            "{} identifiers were assigned to {} animals",
            ids.len(),
            animals.len()
        )))
    }
}

/// Stores animals with their identifiers, skips those whose identifier exists, and advances the sequence.
pub(super) async fn import(client: &Client, animals: &[Pet]) -> WriteResult<()> {
    let ids: Vec<i64> = animals.iter().map(|pet| pet.id).collect();
    let names: Vec<&str> = animals.iter().map(|pet| pet.name.as_str()).collect();
    let categories: Vec<i64> = animals.iter().map(|pet| pet.category_id).collect();
    let statuses: Vec<Option<&str>> = animals.iter().map(|pet| pet.status.map(PetStatus::as_str)).collect();
    // First, so that after a crash no stored identifier is assigned again.
    if let Some(highest) = ids.iter().max().filter(|highest| **highest >= 1) {
        client.query(ADVANCE_SEQUENCE, &[highest]).await?;
    }
    client.execute(IMPORT, &[&ids, &names, &categories, &statuses]).await?;
    Ok(Ok(()))
}

/// Returns the animal with the highest identifier.
pub(super) async fn last(client: &Client) -> Result<Option<Pet>, Failure> {
    client.query_opt(LAST, &[]).await?.as_ref().map(pet).transpose()
}

fn pet(row: &Row) -> Result<Pet, Failure> {
    let name =
        PetName::new(row.try_get(1)?).map_err(|why| Failure::UnexpectedValue(format!("a name {why}")))?;
    let status = match row.try_get::<_, Option<&str>>(3)? {
        None => None,
        Some(word) => Some(
            PetStatus::from_word(word)
                .ok_or_else(|| Failure::UnexpectedValue("an unknown status".to_owned()))?,
        ),
    };
    Ok(Pet { id: row.try_get(0)?, name, category_id: row.try_get(2)?, status })
}
