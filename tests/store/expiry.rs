//! Removing expired idempotency keys.

use std::sync::Arc;
use std::time::Duration;

use animal_store::storage::copy::Transfer;
use animal_store::storage::{AddedOnce, IdempotencyKey, open_for_copy};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::conformance::{Engine as _, idempotency_key, new_pet, second};
use crate::postgres::{self, Postgres};
use crate::sqlite::{self, Sqlite};

const NOW: i64 = 1_800_000_000;
/// More than one chunk.
const EXPIRED: usize = 300;

async fn add(store: &dyn Transfer, key: usize, at: i64) {
    let key = idempotency_key(&key.to_string());
    let added = store.add_pet_once(new_pet("Rex", 1, None), key, second(at)).await.unwrap();
    assert!(matches!(added, AddedOnce::Now(_)));
}

/// Waits until the store has this many keys.
async fn until_left(store: &dyn Transfer, count: usize) {
    let reached = async {
        while store.idempotency_keys(i64::MIN, 1_000).await.unwrap().len() != count {
            yield_now().await;
        }
    };
    timeout(Duration::from_secs(120), reached).await.expect("the expired keys were not removed");
}

async fn expired_keys_are_removed(store: Arc<dyn Transfer>) {
    for key in 0..EXPIRED {
        add(&*store, key, NOW).await;
    }
    let later = NOW + IdempotencyKey::LIFETIME.as_secs();
    add(&*store, EXPIRED, later).await;
    until_left(&*store, EXPIRED + 1 - 256).await;
    // The rest is due at once. The key of this addition has not expired, and stays.
    add(&*store, EXPIRED + 1, later).await;
    until_left(&*store, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite() {
    let database = Sqlite::fresh().await;
    expired_keys_are_removed(open_for_copy(&database.url(), &sqlite::options()).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgresql() {
    let Some(database) = Postgres::try_fresh().await else { return };
    expired_keys_are_removed(open_for_copy(&database.url(), &postgres::options()).await.unwrap()).await;
}
