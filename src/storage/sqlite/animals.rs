//! The animals: statements, and [`Animals`] made of them.

use async_trait::async_trait;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row, params};

use super::SqliteStore;
use super::writer::{Attempt, whole};
use crate::schemas::{NewPet, Pet, PetName, PetStatus};
use crate::storage::{Animals, PetsFound, PetsQuery, StoreError};

const INSERT: &str = "INSERT INTO animal (name, category_id, status) VALUES (?1, ?2, ?3)";

const GET: &str = "SELECT id, name, category_id, status FROM animal WHERE id = ?1";

const PAGE: &str = "SELECT id, name, category_id, status FROM animal WHERE id >= ?1 ORDER BY id LIMIT ?2";

// Names the index, so that no statistics can talk SQLite into walking the whole table.
const PAGE_OF_STATUS: &str = "SELECT id, name, category_id, status \
     FROM animal INDEXED BY animal_by_status WHERE status = ?3 AND id >= ?1 ORDER BY id LIMIT ?2";

// AUTOINCREMENT goes on from the highest identifier, also from one that was given.
const TAKE: &str = "INSERT INTO animal (id, name, category_id, status) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (id) DO NOTHING";

const LAST: &str = "SELECT id, name, category_id, status FROM animal ORDER BY id DESC LIMIT 1";

#[async_trait]
impl Animals for SqliteStore {
    async fn add_pet(&self, new: NewPet) -> Result<Pet, StoreError> {
        self.write(move |connection| insert(connection, new)).await
    }

    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(|connection| get(connection, id))
    }

    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        query.check()?;
        self.read(|connection| page(connection, query))
    }
}

fn insert(connection: &Connection, new: NewPet) -> Attempt<Pet> {
    let NewPet { name, category_id, status } = new;
    connection.prepare_cached(INSERT)?.execute(params![
        name.as_str(),
        category_id,
        status.map(PetStatus::as_str)
    ])?;
    Ok(Ok(Pet { id: connection.last_insert_rowid(), name, category_id, status }))
}

fn get(connection: &Connection, id: i64) -> rusqlite::Result<Option<Pet>> {
    connection.prepare_cached(GET)?.query_row([id], pet).optional()
}

/// Stores animals under the identifiers that they have, unless these are taken.
pub(super) fn take(connection: &Connection, pets: &[Pet]) -> Attempt<()> {
    whole(connection, || {
        let mut statement = connection.prepare_cached(TAKE)?;
        for pet in pets {
            let status = pet.status.map(PetStatus::as_str);
            statement.execute(params![pet.id, pet.name.as_str(), pet.category_id, status])?;
        }
        Ok(Ok(()))
    })
}

/// The animal with the highest identifier.
pub(super) fn last(connection: &Connection) -> rusqlite::Result<Option<Pet>> {
    connection.prepare_cached(LAST)?.query_row([], pet).optional()
}

/// One animal more than asked for is read: it says whether there are more, and is not returned.
fn page(connection: &Connection, query: PetsQuery) -> rusqlite::Result<PetsFound> {
    let from = match query.after {
        None => i64::MIN,
        Some(i64::MAX) => return Ok(PetsFound { pets: Vec::new(), more: false }),
        Some(after) => after + 1,
    };
    let limit = query.limit as usize;
    let mut statement;
    let mut rows = match query.status {
        None => {
            statement = connection.prepare_cached(PAGE)?;
            statement.query(params![from, i64::from(query.limit) + 1])?
        }
        Some(status) => {
            statement = connection.prepare_cached(PAGE_OF_STATUS)?;
            statement.query(params![from, i64::from(query.limit) + 1, status.as_str()])?
        }
    };
    let mut pets = Vec::with_capacity(limit);
    while let Some(row) = rows.next()? {
        if pets.len() == limit {
            return Ok(PetsFound { pets, more: true });
        }
        pets.push(pet(row)?);
    }
    Ok(PetsFound { pets, more: false })
}

fn pet(row: &Row<'_>) -> rusqlite::Result<Pet> {
    let name = PetName::new(row.get(1)?).map_err(|why| not_ours(1, why))?;
    let status = match row.get_ref(3)?.as_str_or_null()? {
        None => None,
        Some(word) => Some(PetStatus::from_word(word).ok_or_else(|| not_ours(3, "is no status".to_owned()))?),
    };
    Ok(Pet { id: row.get(0)?, name, category_id: row.get(2)?, status })
}

/// The value in `column` is none that this program would have stored.
fn not_ours(column: usize, why: String) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{GET, PAGE, PAGE_OF_STATUS};
    use crate::storage::sqlite::migrations::migrate;

    fn plan(statement: &str, parameters: &[&dyn rusqlite::ToSql]) -> String {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        connection
            .query_row(&format!("EXPLAIN QUERY PLAN {statement}"), parameters, |row| row.get("detail"))
            .unwrap()
    }

    #[test]
    fn an_animal_is_found_by_its_key() {
        assert_eq!(plan(GET, &[&1]), "SEARCH animal USING INTEGER PRIMARY KEY (rowid=?)");
    }

    #[test]
    fn a_page_is_a_range_of_the_primary_key() {
        assert_eq!(plan(PAGE, &[&1, &2]), "SEARCH animal USING INTEGER PRIMARY KEY (rowid>?)");
    }

    #[test]
    fn a_page_of_one_status_is_a_range_of_the_index() {
        assert_eq!(
            plan(PAGE_OF_STATUS, &[&1, &2, &"sold"]),
            "SEARCH animal USING INDEX animal_by_status (status=? AND id>?)"
        );
    }
}
