//! The SQL of animals and of the idempotency keys with which they were added, and the execution of every write.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row, params};

use super::engine::Sqlite;
use super::{keys, schema};
use crate::schemas::{NewPet, Pet, PetName, PetStatus};
use crate::storage::idempotency::{CHUNK, RequestKey, SteadyClock, response};
use crate::storage::types::{AddedOnce, PetsFound, PetsQuery, StoreError};
use crate::storage::write::{Addition, Write};

const INSERT: &str = "INSERT INTO animal (name, category, status) VALUES (?1, ?2, ?3)";

const GET: &str = "SELECT id, name, category, status FROM animal WHERE id = ?1";

const PAGE: &str = "SELECT id, name, category, status FROM animal WHERE id > ?1 ORDER BY id LIMIT ?2";

// Names the index, so that SQLite never scans the table, whatever the statistics are.
const PAGE_OF_STATUS: &str = "SELECT id, name, category, status \
     FROM animal INDEXED BY animal_by_status WHERE status = ?3 AND id > ?1 ORDER BY id LIMIT ?2";

// Nearly always the index finds nothing.
const FIND_KEY: &str = "SELECT fingerprint, response FROM idempotency_key WHERE client = ?1 AND value = ?2";

const INSERT_KEY: &str = "INSERT INTO idempotency_key (client, value, fingerprint, response, added) \
     VALUES (?1, ?2, ?3, ?4, ?5)";

// The oldest first, so that keys with a time in the future do not delay the removal of others.
const REMOVE_KEYS: &str = "DELETE FROM idempotency_key WHERE rowid IN \
     (SELECT rowid FROM idempotency_key WHERE added < ?1 ORDER BY added LIMIT ?2)";

impl Sqlite {
    /// Returns the animal with this identifier.
    pub(in crate::storage) async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(&self.animals, move |connection| {
            connection.prepare_cached(GET)?.query_row([id], pet).optional()
        })
        .await
    }

    /// Returns a page of animals.
    pub(in crate::storage) async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.read(&self.animals, move |connection| page(connection, query)).await
    }
}

/// Executes a write within the transaction of its batch, and keeps its result for the caller. An error fails the whole batch.
pub(super) fn execute(
    connection: &Connection,
    clock: &mut SteadyClock,
    write: &mut Write,
) -> rusqlite::Result<()> {
    match write {
        Write::AddPet(addition, caller) => {
            caller.keep(add(connection, addition, now().max(clock.earliest()))?);
        }
        Write::Key(change, caller) => caller.keep(keys::execute(connection, change)?),
        Write::RemoveExpired(expiry, caller) => {
            expiry.removed(remove_expired(connection, clock.expired_before(now()))?);
            caller.keep(());
        }
        Write::Check(caller) => caller.keep(schema::rewrite_version(connection)?),
    }
    Ok(())
}

/// Returns the time of the machine, in seconds.
pub(super) fn now() -> i64 {
    Timestamp::now().as_second()
}

fn insert(connection: &Connection, new: &NewPet) -> rusqlite::Result<Pet> {
    let NewPet { name, category_id, status } = new.clone();
    let values = params![name.as_str(), category_id, status.map(PetStatus::as_str)];
    connection.prepare_cached(INSERT)?.execute(values)?;
    Ok(Pet { id: connection.last_insert_rowid(), name, category_id, status })
}

/// Stores an animal, and its key with the response, unless the key is stored. `now` is in seconds. No other process writes
/// between the statements.
fn add(connection: &Connection, addition: &Addition, now: i64) -> rusqlite::Result<AddedOnce> {
    let Addition { new, key } = addition;
    let Some(request) = key else { return Ok(AddedOnce::Now(insert(connection, new)?)) };
    if let Some(known) = find(connection, request)? {
        return Ok(known);
    }
    let pet = insert(connection, new)?;
    let RequestKey { key, fingerprint } = request;
    connection.prepare_cached(INSERT_KEY)?.execute(params![
        key.client,
        key.value,
        fingerprint,
        response(&pet),
        now
    ])?;
    Ok(AddedOnce::Now(pet))
}

fn find(connection: &Connection, request: &RequestKey) -> rusqlite::Result<Option<AddedOnce>> {
    let mut find = connection.prepare_cached(FIND_KEY)?;
    let found = find.query_row([&request.key.client, &request.key.value], |row| {
        let (fingerprint, response) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_str()?);
        let repeated = request.repeated(fingerprint, response);
        repeated.map_err(|error| Error::FromSqlConversionFailure(1, Type::Text, error.into()))
    });
    found.optional()
}

/// Removes up to [`CHUNK`] keys that were stored before this time, in seconds, oldest first. Returns their number.
fn remove_expired(connection: &Connection, before: i64) -> rusqlite::Result<u64> {
    let removed = connection.prepare_cached(REMOVE_KEYS)?.execute(params![before, CHUNK as i64])?;
    Ok(removed as u64)
}

/// Reads one animal more than the limit, which shows whether there are more and is not returned.
fn page(connection: &Connection, query: PetsQuery) -> rusqlite::Result<PetsFound> {
    let limit = query.limit as usize;
    let (after, rows) = (query.after.unwrap_or(i64::MIN), i64::from(query.limit) + 1);
    let mut statement = connection.prepare_cached(query.status.map_or(PAGE, |_| PAGE_OF_STATUS))?;
    let mut rows = match query.status {
        None => statement.query(params![after, rows])?,
        Some(status) => statement.query(params![after, rows, status.as_str()])?,
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
    use super::*;
    use crate::storage::sqlite::schema::migrate;

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

    fn plan(statement: &str, parameters: &[&dyn rusqlite::ToSql]) -> Vec<String> {
        let connection = migrated();
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        plan.query_map(parameters, |row| row.get("detail")).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn an_animal_is_found_by_its_key() {
        assert_eq!(plan(GET, &[&1]), ["SEARCH animal USING INTEGER PRIMARY KEY (rowid=?)"]);
    }

    #[test]
    fn a_page_is_a_range_of_the_primary_key() {
        assert_eq!(plan(PAGE, &[&1, &2]), ["SEARCH animal USING INTEGER PRIMARY KEY (rowid>?)"]);
    }

    #[test]
    fn a_page_of_one_status_is_a_range_of_the_index_alone() {
        assert_eq!(
            plan(PAGE_OF_STATUS, &[&1, &2, &"sold"]),
            ["SEARCH animal USING COVERING INDEX animal_by_status (status=? AND id>?)"]
        );
    }

    #[test]
    fn a_key_is_found_by_an_index_and_removal_reads_a_range() {
        let find = plan(FIND_KEY, &[&"key_1", &"a"]);
        assert!(find[0].ends_with("(client=? AND value=?)"), "{find:?}");
        let remove = plan(REMOVE_KEYS, &[&0, &1]).join("; ");
        assert!(remove.contains("INDEX idempotency_key_by_age (added<?)"), "{remove}");
        assert!(!remove.contains("SCAN idempotency_key"), "{remove}");
    }

    #[test]
    fn only_expired_keys_are_removed_in_chunks_and_those_of_the_future_delay_none() {
        let connection = migrated();
        let add = |number: u64, added: i64| {
            let values = params!["key_1", number.to_string(), [0_u8; 32], "{}", added];
            connection.execute(INSERT_KEY, values).unwrap();
        };
        add(1_000, 9_999_999);
        for number in 0..=CHUNK {
            add(number, 1_000);
        }
        add(1_001, 1_001);
        let remove = |before| remove_expired(&connection, before).unwrap();
        assert_eq!(remove(1_000), 0);
        assert_eq!([remove(1_001), remove(1_001), remove(1_001)], [CHUNK, 1, 0]);
    }
}
