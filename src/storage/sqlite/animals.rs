//! The SQL of animals.

use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row, params};

use super::engine::Sqlite;
use crate::schemas::{NewPet, Pet, PetName, PetStatus};
use crate::storage::error::StoreError;
use crate::storage::types::{PetsFound, PetsQuery};

const INSERT: &str = "INSERT INTO animal (name, category, status) VALUES (?1, ?2, ?3)";

const GET: &str = "SELECT id, name, category, status FROM animal WHERE id = ?1";

const PAGE: &str = "SELECT id, name, category, status FROM animal WHERE id >= ?1 ORDER BY id LIMIT ?2";

// Names the index, so that SQLite never scans the table, whatever the statistics are.
const PAGE_OF_STATUS: &str = "SELECT id, name, category, status \
     FROM animal INDEXED BY animal_by_status WHERE status = ?3 AND id >= ?1 ORDER BY id LIMIT ?2";

impl Sqlite {
    /// Returns the animal with this identifier.
    pub(in crate::storage) async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(move |connection| connection.prepare_cached(GET)?.query_row([id], pet).optional()).await
    }

    /// Returns a page of animals.
    pub(in crate::storage) async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.read(move |connection| page(connection, query)).await
    }
}

pub(super) fn insert(connection: &Connection, new: &NewPet) -> rusqlite::Result<Pet> {
    let NewPet { name, category_id, status } = new.clone();
    let values = params![name.as_str(), category_id, status.map(PetStatus::as_str)];
    connection.prepare_cached(INSERT)?.execute(values)?;
    Ok(Pet { id: connection.last_insert_rowid(), name, category_id, status })
}

/// Reads one animal more than the limit, which shows whether there are more and is not returned.
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
    // By reference (xtask/RECORDS.md, "What made requests cheaper", rows read by reference).
    let name = row.get_ref(1)?.as_str()?.to_owned();
    let name = PetName::try_from(name).map_err(|why| unexpected(1, why))?;
    let status = match row.get_ref(3)?.as_str_or_null()? {
        None => None,
        Some(word) => {
            Some(PetStatus::from_word(word).ok_or_else(|| unexpected(3, "is not a status".to_owned()))?)
        }
    };
    Ok(Pet { id: row.get_ref(0)?.as_i64()?, name, category_id: row.get_ref(2)?.as_i64()?, status })
}

/// Returns the error for a value in `column` that this program does not store.
fn unexpected(column: usize, why: String) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{GET, INSERT, PAGE, PAGE_OF_STATUS};
    use crate::storage::sqlite::migrations::migrate;

    fn migrated() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, "1.2.3").unwrap();
        connection
    }

    #[test]
    fn an_insert_checks_the_status_without_a_temporary_index() {
        let connection = migrated();
        let mut program = connection.prepare(&format!("EXPLAIN {INSERT}")).unwrap();
        let opcodes: Vec<String> = program
            .query_map(("Rex", 7, "sold"), |row| row.get("opcode"))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert!(opcodes.iter().any(|opcode| opcode == "Insert"));
        assert!(!opcodes.iter().any(|opcode| opcode == "OpenEphemeral"));
        let mut insert = connection.prepare(INSERT).unwrap();
        for status in [None, Some("available"), Some("pending"), Some("sold")] {
            assert_eq!(insert.execute(("Rex", 7, status)).unwrap(), 1);
        }
        for status in ["", "Sold", "lost"] {
            assert!(insert.execute(("Rex", 7, status)).unwrap_err().to_string().contains("CHECK"));
        }
    }

    fn plan(statement: &str, parameters: &[&dyn rusqlite::ToSql]) -> String {
        migrated()
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
    fn a_page_of_one_status_is_a_range_of_the_index_alone() {
        assert_eq!(
            plan(PAGE_OF_STATUS, &[&1, &2, &"sold"]),
            "SEARCH animal USING COVERING INDEX animal_by_status (status=? AND id>?)"
        );
    }
}
