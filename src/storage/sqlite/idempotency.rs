//! The SQL of idempotency keys.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row, params};

use super::animals;
use super::writer::{WriteResult, in_savepoint};
use crate::schemas::NewPet;
use crate::storage::copy::CopiedKey;
use crate::storage::expiry::{CHUNK, expired_until};
use crate::storage::store::{AddedOnce, IdempotencyKey, StoreError};

const FIND: &str = "SELECT animal_id, added > ?3 FROM idempotency_key WHERE client = ?1 AND value = ?2";

// An expired key is deleted first, because `INSERT OR REPLACE` does more for each key.
const DELETE: &str = "DELETE FROM idempotency_key WHERE animal_id = ?1";

const INSERT: &str = "INSERT INTO idempotency_key (animal_id, client, value, added) VALUES (?1, ?2, ?3, ?4)";

// Looks only at the oldest keys, so that it never scans the others.
const REMOVE: &str = "DELETE FROM idempotency_key WHERE added <= ?1 \
     AND animal_id IN (SELECT animal_id FROM idempotency_key ORDER BY animal_id LIMIT ?2)";

const AFTER: &str = "SELECT animal_id, client, value, added FROM idempotency_key \
     WHERE animal_id > ?1 ORDER BY animal_id LIMIT ?2";

const IMPORT: &str = "INSERT INTO idempotency_key (animal_id, client, value, added) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT DO NOTHING";

/// Stores an animal with its key, unless an animal has the key. No other process writes between the statements.
pub(super) fn insert(
    connection: &Connection,
    new: NewPet,
    key: &IdempotencyKey,
    at: Timestamp,
) -> WriteResult<AddedOnce> {
    let IdempotencyKey { client, value } = key;
    let mut find = connection.prepare_cached(FIND)?;
    let arguments = params![client, value, expired_until(at)];
    let found: Option<(i64, bool)> =
        find.query_row(arguments, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    match found {
        Some((id, true)) => {
            let missing =
                || StoreError::Broken(format!("animal {id}, which has an idempotency key, is missing"));
            let found = animals::get(connection, id)?.ok_or_else(missing);
            return Ok(found.map(|pet| AddedOnce::repeated(pet, &new)));
        }
        Some((expired, false)) => {
            connection.prepare_cached(DELETE)?.execute([expired])?;
        }
        None => {}
    }
    let pet = match animals::insert(connection, new)? {
        Ok(pet) => pet,
        Err(error) => return Ok(Err(error)),
    };
    connection.prepare_cached(INSERT)?.execute(params![pet.id, client, value, at.as_second()])?;
    Ok(Ok(AddedOnce::Now(pet)))
}

/// Removes at most [`CHUNK`] keys that have expired at `at`. Returns their number.
pub(super) fn remove_expired(connection: &Connection, at: Timestamp) -> WriteResult<u64> {
    Ok(Ok(connection.prepare_cached(REMOVE)?.execute(params![expired_until(at), CHUNK])? as u64))
}

/// Returns the next `limit` keys by the identifiers of their animals.
pub(super) fn after(connection: &Connection, after: i64, limit: u32) -> rusqlite::Result<Vec<CopiedKey>> {
    connection.prepare_cached(AFTER)?.query_map(params![after, limit], copied_key)?.collect()
}

/// Stores keys, and skips those that exist.
pub(super) fn import(connection: &Connection, keys: &[CopiedKey]) -> WriteResult<()> {
    in_savepoint(connection, || {
        let mut statement = connection.prepare_cached(IMPORT)?;
        for CopiedKey { animal_id, key, added } in keys {
            statement.execute(params![animal_id, key.client, key.value, added.as_second()])?;
        }
        Ok(Ok(()))
    })
}

fn copied_key(row: &Row<'_>) -> rusqlite::Result<CopiedKey> {
    let added = Timestamp::from_second(row.get(3)?);
    Ok(CopiedKey {
        animal_id: row.get(0)?,
        key: IdempotencyKey { client: row.get(1)?, value: row.get(2)? },
        added: added.map_err(|error| Error::FromSqlConversionFailure(3, Type::Integer, error.into()))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemas::PetName;
    use crate::storage::sqlite::migrations::migrate;

    fn plan(statement: &str, parameters: &[&dyn rusqlite::ToSql]) -> Vec<String> {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, "1.2.3").unwrap();
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        plan.query_map(parameters, |row| row.get("detail")).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_key_is_found_by_an_index_and_removal_reads_a_range() {
        assert_eq!(
            plan(FIND, &[&"key_1", &"a", &0]),
            ["SEARCH idempotency_key USING INDEX sqlite_autoindex_idempotency_key_1 (client=? AND value=?)"]
        );
        let steps = plan(REMOVE, &[&0, &1]);
        assert_eq!(steps[0], "SEARCH idempotency_key USING INTEGER PRIMARY KEY (rowid=?)");
    }

    #[test]
    fn only_expired_keys_are_removed_in_chunks() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, "1.2.3").unwrap();
        let day = IdempotencyKey::LIFETIME.as_secs();
        let at = |second| Timestamp::from_second(second).unwrap();
        let add = |number: u32, second| {
            let key = IdempotencyKey { client: "key_1".to_owned(), value: number.to_string() };
            let new = NewPet { name: PetName::new("Rex".to_owned()).unwrap(), category_id: 1, status: None };
            insert(&connection, new, &key, at(second)).unwrap().unwrap()
        };
        for number in 0..=CHUNK {
            add(number, 1_000);
        }
        add(CHUNK + 1, 1_001);
        let remove = |second| remove_expired(&connection, at(second)).unwrap().unwrap();
        assert_eq!(remove(1_000 + day - 1), 0);
        assert_eq!([remove(1_000 + day), remove(1_000 + day), remove(1_000 + day)], [CHUNK.into(), 1, 0]);
        assert_eq!(after(&connection, i64::MIN, 10).unwrap().len(), 1);
    }
}
