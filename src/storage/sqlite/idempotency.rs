//! The SQL of idempotency keys.

use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, params};

use super::animals;
use crate::storage::idempotency::{CHUNK, RequestKey, response};
use crate::storage::types::AddedOnce;
use crate::storage::write::Addition;

// Nearly always the index finds nothing.
const FIND: &str = "SELECT fingerprint, response FROM idempotency_key WHERE client = ?1 AND value = ?2";

const INSERT: &str = "INSERT INTO idempotency_key (client, value, fingerprint, response, added) \
     VALUES (?1, ?2, ?3, ?4, ?5)";

// The oldest first, so that keys with a time in the future do not delay the removal of others.
const REMOVE: &str = "DELETE FROM idempotency_key WHERE rowid IN \
     (SELECT rowid FROM idempotency_key WHERE added < ?1 ORDER BY added LIMIT ?2)";

/// Stores an animal, and its key with the response, unless the key is stored. `now` is in seconds. No other process writes
/// between the statements.
pub(super) fn add(connection: &Connection, addition: &Addition, now: i64) -> rusqlite::Result<AddedOnce> {
    let Addition { new, key } = addition;
    let Some(request) = key else { return Ok(AddedOnce::Now(animals::insert(connection, new)?)) };
    if let Some(known) = find(connection, request)? {
        return Ok(known);
    }
    let pet = animals::insert(connection, new)?;
    let RequestKey { key, fingerprint } = request;
    connection.prepare_cached(INSERT)?.execute(params![
        key.client,
        key.value,
        fingerprint,
        response(&pet),
        now
    ])?;
    Ok(AddedOnce::Now(pet))
}

fn find(connection: &Connection, request: &RequestKey) -> rusqlite::Result<Option<AddedOnce>> {
    let mut find = connection.prepare_cached(FIND)?;
    let found = find.query_row([&request.key.client, &request.key.value], |row| {
        let (fingerprint, response) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_str()?);
        let repeated = request.repeated(fingerprint, response);
        repeated.map_err(|error| Error::FromSqlConversionFailure(1, Type::Text, error.into()))
    });
    found.optional()
}

/// Removes up to [`CHUNK`] keys that were stored before this time, in seconds, oldest first. Returns their number.
pub(super) fn remove_expired(connection: &Connection, before: i64) -> rusqlite::Result<u64> {
    let removed = connection.prepare_cached(REMOVE)?.execute(params![before, CHUNK as i64])?;
    Ok(removed as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::sqlite::migrations::migrate;

    fn plan(statement: &str, parameters: &[&dyn rusqlite::ToSql]) -> Vec<String> {
        let connection = migrated();
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        plan.query_map(parameters, |row| row.get("detail")).unwrap().map(Result::unwrap).collect()
    }

    fn migrated() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, "1.2.3").unwrap();
        connection
    }

    #[test]
    fn a_key_is_found_by_an_index_and_removal_reads_a_range() {
        let find = plan(FIND, &[&"key_1", &"a"]);
        assert!(find[0].ends_with("(client=? AND value=?)"), "{find:?}");
        let remove = plan(REMOVE, &[&0, &1]).join("; ");
        assert!(remove.contains("INDEX idempotency_key_by_age (added<?)"), "{remove}");
        assert!(!remove.contains("SCAN idempotency_key"), "{remove}");
    }

    #[test]
    fn only_expired_keys_are_removed_in_chunks_and_those_of_the_future_delay_none() {
        let connection = migrated();
        let add = |number: u64, added: i64| {
            let values = params!["key_1", number.to_string(), [0_u8; 32], "{}", added];
            connection.execute(INSERT, values).unwrap();
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
