//! Removing expired idempotency keys.

use std::sync::Arc;
use std::time::{Duration, Instant};

use animal_store::storage::{AddedOnce, Store};
use jiff::Timestamp;
use tokio::task::yield_now;

use crate::conformance::{Engine, idempotency_key, new_pet};
use crate::postgres::{self, Postgres};
use crate::sqlite::Sqlite;
use kit::clock::Clock;

/// More than the lifetime of a key, in seconds.
const EXPIRED: i64 = 25 * 3600;
/// The time limit of each wait, in real time.
const TIMEOUT: Duration = Duration::from_secs(60);
/// A time in this century, in seconds.
const FUTURE: i64 = 3_000_000_000;
/// More than one chunk.
const MANY: usize = 300;

/// A store and the number of keys that were added.
struct Keys<D> {
    database: D,
    store: Arc<Store>,
    added: usize,
}

impl<D: Engine> Keys<D> {
    fn of(database: D, store: Arc<Store>) -> Self {
        Self { database, store, added: 0 }
    }

    /// Adds animals with new keys.
    async fn add(&mut self, count: usize) {
        for _ in 0..count {
            let key = idempotency_key(&self.added.to_string());
            let added = self.store.add_pet_once(new_pet("Rex", 1, None), key).await.unwrap();
            assert!(matches!(added, AddedOnce::Now(_)));
            self.added += 1;
        }
    }

    /// Makes all keys that were stored in this century older, as if they had been added so many seconds before.
    async fn age(&self, seconds: i64) {
        let age = format!("UPDATE idempotency_key SET added = added - {seconds} WHERE added < {FUTURE}");
        self.database.execute(&age).await;
    }

    /// Waits for a removal in progress, because there is one writer.
    async fn until_removed(&self) {
        assert!(!self.store.revoke_key("none", Timestamp::UNIX_EPOCH).await.unwrap());
    }

    /// Adds an animal with a new key, a minute after the previous additions.
    async fn add_a_minute_later(&mut self, clock: &Clock) {
        // Its time limit would be over a minute later.
        self.until_removed().await;
        clock.advance(Duration::from_secs(61)).await;
        self.add(1).await;
    }

    /// Waits until the store has this many keys.
    async fn until_left(&self, count: i64) {
        let start = Instant::now();
        loop {
            let left = self.database.rows("idempotency_key").await;
            if left == count {
                return;
            }
            assert!(start.elapsed() < TIMEOUT, "{left} keys are left, expected {count}");
            yield_now().await;
        }
    }
}

async fn expired_keys_are_removed<D: Engine>(database: D, store: Arc<Store>) {
    let clock = Clock::stopped();
    let mut keys = Keys::of(database, store);
    keys.add(MANY).await;
    keys.age(EXPIRED).await;
    keys.add_a_minute_later(&clock).await;
    keys.until_left(MANY as i64 + 1 - 256).await;
    // The rest is due at once. The key of this addition has not expired, and stays.
    keys.add(1).await;
    keys.until_left(2).await;
}

/// Keys that were stored while the wall clock was ahead stay as they are, and do not delay the removal of those after them.
async fn keys_of_the_future_stay<D: Engine>(database: D, store: Arc<Store>) {
    let clock = Clock::stopped();
    let mut keys = Keys::of(database, store);
    keys.add(MANY).await;
    keys.age(-FUTURE).await;
    keys.add(MANY).await;
    keys.age(EXPIRED).await;
    keys.add_a_minute_later(&clock).await;
    keys.until_left(2 * MANY as i64 + 1 - 256).await;
    keys.add(1).await;
    keys.until_left(MANY as i64 + 2).await;
    let future = format!("idempotency_key WHERE added > {FUTURE}");
    assert_eq!(keys.database.rows(&future).await, MANY as i64);
    let repeated = keys.store.add_pet_once(new_pet("Rex", 1, None), idempotency_key("0")).await.unwrap();
    assert!(matches!(repeated, AddedOnce::Before(_)), "a key of the future was forgotten: {repeated:?}");
}

async fn sqlite() -> (Sqlite, Arc<Store>) {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    (database, store)
}

async fn postgresql() -> Option<(Postgres, Arc<Store>)> {
    let database = Postgres::try_fresh().await?;
    let store = database.with(&postgres::options()).await;
    Some((database, store))
}

#[tokio::test]
async fn on_sqlite() {
    let (database, store) = sqlite().await;
    expired_keys_are_removed(database, store).await;
}

#[tokio::test]
async fn on_postgresql() {
    let Some((database, store)) = postgresql().await else { return };
    expired_keys_are_removed(database, store).await;
}

#[tokio::test]
async fn of_the_future_on_sqlite() {
    let (database, store) = sqlite().await;
    keys_of_the_future_stay(database, store).await;
}

#[tokio::test]
async fn of_the_future_on_postgresql() {
    let Some((database, store)) = postgresql().await else { return };
    keys_of_the_future_stay(database, store).await;
}
