//! The transaction of a copy, on a connection of its own. It blocks the thread that copies, which has nothing else to do.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;

use super::error::store_error;
use super::idempotency::{self, KeyHasher};
use super::{animals, batch, connection, keys};
use crate::storage::copy::{Chunk, Import};
use crate::storage::store::{PetsQuery, StoreError};

const IS_EMPTY: &str = "SELECT NOT EXISTS (SELECT 1 FROM animal) AND NOT EXISTS (SELECT 1 FROM api_key) \
     AND NOT EXISTS (SELECT 1 FROM idempotency_key)";

pub(in crate::storage) struct CopyTransaction {
    connection: Connection,
    hasher: KeyHasher,
}

impl CopyTransaction {
    /// Begins the transaction in the file `path`, if it has neither animals nor keys.
    pub(super) fn begin(
        path: &Path,
        secret: &[u8; 32],
        lock_timeout: Duration,
    ) -> rusqlite::Result<Option<Self>> {
        let connection = connection::open_for_writing(path, lock_timeout)?;
        batch::execute(&connection, "BEGIN IMMEDIATE")?;
        let is_empty: bool = connection.query_row(IS_EMPTY, [], |row| row.get(0))?;
        Ok(is_empty.then(|| Self { connection, hasher: KeyHasher::new(secret) }))
    }

    fn import(&self, chunk: &Chunk) -> rusqlite::Result<bool> {
        let to = &self.connection;
        match chunk {
            Chunk::Pets(pets) => {
                animals::import(to, pets)?;
                let after = pets.first().and_then(|pet| pet.id.checked_sub(1));
                let query = PetsQuery { status: None, after, limit: pets.len() as u32 };
                Ok(animals::page(to, query)?.pets == *pets)
            }
            Chunk::IdempotencyKeys(keys) => {
                idempotency::import(to, &self.hasher, keys)?;
                let after = keys.first().map_or(i64::MIN, |key| key.animal_id.saturating_sub(1));
                Ok(idempotency::after(to, after, keys.len() as u32)? == *keys)
            }
            Chunk::Keys(keys) => {
                for key in keys {
                    keys::insert(to, key)?;
                }
                Ok(keys::all(to)? == *keys)
            }
        }
    }
}

#[async_trait]
impl Import for CopyTransaction {
    async fn import(&mut self, chunk: &Chunk) -> Result<bool, StoreError> {
        Self::import(self, chunk).map_err(|error| store_error(&error))
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        batch::execute(&self.connection, "COMMIT").map_err(|error| store_error(&error))
    }
}
