//! The SQL of idempotency keys.

use aws_lc_rs::digest;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use siphasher::sip::SipHasher13;

use super::animals;
use super::batch::Batch;
use crate::storage::expiry::{CHUNK, Removed, expired_until};
use crate::storage::types::{AddedOnce, IdempotencyKey};
use crate::storage::write::Addition;

// Nearly always the index finds nothing.
const FIND: &str =
    "SELECT animal_id, added FROM idempotency_key WHERE hash = ?1 AND client = ?2 AND value = ?3";

// An expired key is deleted first, so that a key has one row.
const DELETE: &str = "DELETE FROM idempotency_key WHERE animal_id = ?1";

const INSERT: &str =
    "INSERT INTO idempotency_key (animal_id, client, value, added, hash) VALUES (?1, ?2, ?3, ?4, ?5)";

const REMOVE: &str = "DELETE FROM idempotency_key WHERE added <= ?1 \
     AND animal_id IN (SELECT animal_id FROM idempotency_key WHERE animal_id > ?2 ORDER BY animal_id LIMIT ?3)";

// Of the same keys, those with a time in the future, which would never be removed.
const CORRECT: &str = "UPDATE idempotency_key SET added = ?1 WHERE added > ?1 \
     AND animal_id IN (SELECT animal_id FROM idempotency_key WHERE animal_id > ?2 ORDER BY animal_id LIMIT ?3) \
     RETURNING animal_id";

/// Hashes keys for their index. The hash depends on the secret of the store, so that no client can choose keys that all
/// have the same one, and is stored: it must never change.
#[derive(Clone)]
pub(super) struct KeyHasher(SipHasher13);

impl KeyHasher {
    pub(super) fn new(secret: &[u8; 32]) -> Self {
        let digest = digest::digest(&digest::SHA256, &[b"idempotency key", &secret[..]].concat());
        let mut key = [0; 16];
        key.copy_from_slice(&digest.as_ref()[..16]);
        Self(SipHasher13::new_with_key(&key))
    }

    /// Returns the SipHash-1-3 of a key.
    pub(super) fn hash(&self, client: &str, value: &str) -> i64 {
        // Neither of the two contains a newline. One text, because `write` takes more for each call than for a byte.
        self.0.hash([client, "\n", value].concat().as_bytes()).cast_signed()
    }
}

/// Stores an animal, and its key unless an animal has that. No other process writes between the statements.
pub(super) fn add(batch: &Batch<'_>, hasher: &KeyHasher, addition: &Addition) -> rusqlite::Result<AddedOnce> {
    let Addition { new, key } = addition;
    let Some((key, at)) = key else { return Ok(AddedOnce::Now(animals::insert(batch, new)?)) };
    let hash = hasher.hash(&key.client, &key.value);
    match find(batch, key, hash)? {
        Some((id, added)) if added > expired_until(*at) => {
            return Ok(AddedOnce::repeated(animals::get(batch, id)?, new));
        }
        Some((expired, _)) => {
            batch.with(DELETE, |delete| delete.execute([expired]))?;
        }
        None => {}
    }
    let pet = animals::insert(batch, new)?;
    store(batch, pet.id, key, at.as_second(), hash)?;
    Ok(AddedOnce::Now(pet))
}

/// Returns the identifier of the animal that has a key, and when it was added, in seconds.
fn find(batch: &Batch<'_>, key: &IdempotencyKey, hash: i64) -> rusqlite::Result<Option<(i64, i64)>> {
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    batch.with(FIND, |find| find.query_row(params![hash, key.client, key.value], row).optional())
}

fn store(
    batch: &Batch<'_>,
    animal: i64,
    key: &IdempotencyKey,
    added: i64,
    hash: i64,
) -> rusqlite::Result<()> {
    let IdempotencyKey { client, value } = key;
    batch.with(INSERT, |insert| insert.execute(params![animal, client, value, added, hash])).map(drop)
}

/// Of the next [`CHUNK`] keys by the identifiers of their animals, which are greater than `after`, removes those that
/// have expired at `at`. Those whose time is after `at` get that time.
pub(super) fn remove_expired(
    connection: &Connection,
    after: i64,
    at: Timestamp,
) -> rusqlite::Result<Removed> {
    let mut correct = connection.prepare_cached(CORRECT)?;
    let corrected = correct.query_map(params![at.as_second(), after, CHUNK], |row| row.get(0))?;
    let corrected: Vec<i64> = corrected.collect::<Result<_, _>>()?;
    let count = connection.prepare_cached(REMOVE)?.execute(params![expired_until(at), after, CHUNK])?;
    Ok(Removed { count: count as u64, corrected: corrected.into_iter().max() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemas::{NewPet, PetName};
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

    fn count(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM idempotency_key", [], |row| row.get(0)).unwrap()
    }

    fn key(client: &str, value: &str) -> IdempotencyKey {
        IdempotencyKey { client: client.to_owned(), value: value.to_owned() }
    }

    fn rex() -> NewPet {
        NewPet { name: PetName::try_from("Rex".to_owned()).unwrap(), category_id: 1, status: None }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_key_is_found_by_an_index_and_removal_reads_a_range() {
        assert_eq!(
            plan(FIND, &[&1, &"key_1", &"a"]),
            ["SEARCH idempotency_key USING INDEX idempotency_key_by_hash (hash=?)"]
        );
        let steps = plan(REMOVE, &[&0, &0, &1]);
        assert_eq!(steps[0], "SEARCH idempotency_key USING INTEGER PRIMARY KEY (rowid=?)");
    }

    /// Databases contain hashes. Computed by another program.
    #[test]
    fn the_hash_of_a_key_never_changes() {
        let hasher = KeyHasher::new(&[7; 32]);
        assert_eq!(hasher.hash("key_1", "a"), -2_600_015_905_054_640_788);
        assert_eq!(
            hasher.hash("key_aB3aB3aB3aB3", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            5_142_477_392_759_148_519
        );
        assert_ne!(hasher.hash("key_1", "a"), hasher.hash("key_", "1a"));
        assert_ne!(hasher.hash("key_1", "a"), KeyHasher::new(&[8; 32]).hash("key_1", "a"));
    }

    #[test]
    fn keys_with_the_same_hash_are_different_keys() {
        let connection = migrated();
        let hasher = KeyHasher::new(&[7; 32]);
        let keys = [key("key_1", "a"), key("key_1", "b"), key("key_2", "a")];
        let add = |key: &IdempotencyKey, second| {
            // As if all keys had this hash.
            connection
                .execute("UPDATE idempotency_key SET hash = ?1", [hasher.hash(&key.client, &key.value)])
                .unwrap();
            let addition = Addition { new: rex(), key: Some((key.clone(), at(second))) };
            add(&Batch::new(&connection), &hasher, &addition).unwrap()
        };
        let added = keys.clone().map(|key| match add(&key, 1_000) {
            AddedOnce::Now(pet) => pet,
            other => panic!("{other:?} for {key:?}"),
        });
        for (key, pet) in keys.iter().zip(&added) {
            assert_eq!(add(key, 1_001), AddedOnce::Before(pet.clone()));
        }
        // One of them expires: the others stay.
        let expired = 1_000 + IdempotencyKey::LIFETIME.as_secs();
        assert!(matches!(add(&keys[1], expired), AddedOnce::Now(_)));
        assert_eq!(add(&keys[2], 1_001), AddedOnce::Before(added[2].clone()));
        assert_eq!(count(&connection), 3);
    }

    #[test]
    fn only_expired_keys_are_removed_in_chunks() {
        let connection = migrated();
        let hasher = KeyHasher::new(&[7; 32]);
        let day = IdempotencyKey::LIFETIME.as_secs();
        let add = |number: u32, second| {
            let key = key("key_1", &number.to_string());
            let addition = Addition { new: rex(), key: Some((key, at(second))) };
            add(&Batch::new(&connection), &hasher, &addition).unwrap()
        };
        for number in 0..=CHUNK {
            add(number, 1_000);
        }
        add(CHUNK + 1, 1_001);
        let remove = |second| remove_expired(&connection, i64::MIN, at(second)).unwrap().count;
        assert_eq!(remove(1_000 + day - 1), 0);
        assert_eq!([remove(1_000 + day), remove(1_000 + day), remove(1_000 + day)], [CHUNK.into(), 1, 0]);
        assert_eq!(count(&connection), 1);
    }
}
