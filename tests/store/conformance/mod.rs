//! The conformance tests of all engines: one for each guarantee of `Store`.
//!
//! Each is a function that takes an empty database of any [`Engine`]. `on_each_engine` makes the tests `NAME::sqlite` and
//! `NAME::postgres` of it.

use std::sync::Arc;

use animal_store::schemas::{NewPet, Pet, PetName, PetStatus};
use animal_store::storage::{IdempotencyKey, KeyRecord, Store};
use jiff::Timestamp;

/// Declares for each function the tests `NAME::sqlite` and `NAME::postgres`. Without PostgreSQL the second is skipped.
macro_rules! on_each_engine {
    ($($name:ident)*) => {$(
        mod $name {
            use crate::conformance::Engine as _;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                super::$name(crate::sqlite::Sqlite::fresh().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                if kit::postgres::shared().is_some() {
                    super::$name(crate::postgres::Postgres::fresh().await).await;
                }
            }
        }
    )*};
}

mod animals;
mod idempotency;
mod keys;
mod lifecycle;
mod pages;

/// An empty database of an engine, removed when dropped.
pub(crate) trait Engine: Sized + Sync {
    /// Creates an empty database.
    fn fresh() -> impl Future<Output = Self> + Send;

    /// Opens the database. Handles share nothing in this process, as if they belonged to different processes.
    fn open(&self) -> impl Future<Output = Arc<Store>> + Send;

    /// Executes SQL as another program.
    fn execute(&self, sql: &str) -> impl Future<Output = ()> + Send;

    /// Returns the number of rows in a table.
    fn rows(&self, table: &str) -> impl Future<Output = i64> + Send;
}

pub(crate) fn new_pet(name: &str, category_id: i64, status: Option<PetStatus>) -> NewPet {
    NewPet { name: PetName::try_from(name.to_owned()).unwrap(), category_id, status }
}

pub(crate) async fn add(store: &Store, name: &str) -> Pet {
    store.add_pet(new_pet(name, 1, None)).await.unwrap()
}

pub(crate) fn second(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Returns a key whose identifier, hash and time of creation follow from `number`.
pub(crate) fn key(number: u8) -> KeyRecord {
    KeyRecord {
        id: format!("key{number}"),
        name: "a key".to_owned(),
        hash: [number; 32],
        created: second(i64::from(number)),
        expires: None,
        revoked: None,
        note: None,
        last_used: None,
    }
}

/// Returns an idempotency key of the client `key1`.
pub(crate) fn idempotency_key(value: &str) -> IdempotencyKey {
    IdempotencyKey { client: "key1".to_owned(), value: value.to_owned() }
}
