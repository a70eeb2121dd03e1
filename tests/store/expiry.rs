//! Removing expired idempotency keys.

use std::sync::Arc;
use std::time::{Duration, Instant};

use animal_store::storage::{AddedOnce, IdempotencyKey, Store};
use tokio::task::yield_now;

use crate::clock::Clock;
use crate::conformance::{Engine, idempotency_key, new_pet, second};
use crate::postgres::{self, Postgres};
use crate::sqlite::Sqlite;

const NOW: i64 = 1_800_000_000;
const DAY: i64 = IdempotencyKey::LIFETIME.as_secs();
/// The time limit of each wait, in real time.
const TIMEOUT: Duration = Duration::from_secs(60);
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

    /// Adds animals with new keys at this second.
    async fn add(&mut self, count: usize, at: i64) {
        for _ in 0..count {
            let key = idempotency_key(&self.added.to_string());
            let added = self.store.add_pet_once(new_pet("Rex", 1, None), key, second(at)).await.unwrap();
            assert!(matches!(added, AddedOnce::Now(_)));
            self.added += 1;
        }
    }

    /// Waits for a removal in progress, because there is one writer.
    async fn until_removed(&self) {
        assert!(!self.store.revoke_key("none", second(NOW)).await.unwrap());
    }

    /// Adds animals with new keys at this second, each after the removal that the previous one caused.
    async fn add_one_by_one(&mut self, count: usize, at: i64) {
        for _ in 0..count {
            self.until_removed().await;
            self.add(1, at).await;
        }
    }

    /// Adds an animal with a new key at this second, a minute after the previous additions.
    async fn add_a_minute_later(&mut self, clock: &Clock, at: i64) {
        // Its time limit would be over a minute later.
        self.until_removed().await;
        clock.advance(Duration::from_secs(61)).await;
        self.add(1, at).await;
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
    keys.add(MANY, NOW).await;
    keys.add_a_minute_later(&clock, NOW + DAY).await;
    keys.until_left(MANY as i64 + 1 - 256).await;
    // The rest is due at once. The key of this addition has not expired, and stays.
    keys.add(1, NOW + DAY).await;
    keys.until_left(2).await;
}

/// The wall clock jumps ahead for some additions, and back: their keys are kept for a day, and then removed.
async fn keys_of_the_future_are_removed<D: Engine>(database: D, store: Arc<Store>) {
    let clock = Clock::stopped();
    let mut keys = Keys::of(database, store);
    keys.add(MANY, NOW + 3_650 * DAY).await;
    keys.add(MANY, NOW).await;
    let found = keys.store.clone();
    let known = idempotency_key("0");
    keys.add_a_minute_later(&clock, NOW + 60).await;
    keys.until_removed().await;
    let repeated = found.add_pet_once(new_pet("Rex", 1, None), known, second(NOW + DAY)).await.unwrap();
    assert!(
        matches!(repeated, AddedOnce::Before(_)),
        "a key of the future was forgotten early: {repeated:?}"
    );
    for minute in 1..=6 {
        keys.add_a_minute_later(&clock, NOW + 2 * DAY + 60 * minute).await;
    }
    // The six additions: the keys of the future have expired, too.
    keys.until_left(6).await;
    keys.add_a_minute_later(&clock, NOW + 4 * DAY).await;
    keys.until_left(1).await;
}

/// Keys that were added while the wall clock was ahead do not delay the removal of those after them.
async fn keys_after_those_of_the_future_are_removed<D: Engine>(database: D, store: Arc<Store>) {
    let clock = Clock::stopped();
    let mut keys = Keys::of(database, store);
    keys.add(MANY, NOW + 3_650 * DAY).await;
    keys.add(2 * MANY, NOW).await;
    keys.add_a_minute_later(&clock, NOW + DAY).await;
    // The rest is due at once.
    keys.add_one_by_one(4, NOW + DAY).await;
    keys.until_left(MANY as i64 + 5).await;
    // Now those of the future have expired, too.
    keys.add_a_minute_later(&clock, NOW + 2 * DAY).await;
    keys.add_one_by_one(4, NOW + 2 * DAY).await;
    keys.until_left(5).await;
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
    keys_of_the_future_are_removed(database, store).await;
}

#[tokio::test]
async fn of_the_future_on_postgresql() {
    let Some((database, store)) = postgresql().await else { return };
    keys_of_the_future_are_removed(database, store).await;
}

#[tokio::test]
async fn after_those_of_the_future_on_sqlite() {
    let (database, store) = sqlite().await;
    keys_after_those_of_the_future_are_removed(database, store).await;
}

#[tokio::test]
async fn after_those_of_the_future_on_postgresql() {
    let Some((database, store)) = postgresql().await else { return };
    keys_after_those_of_the_future_are_removed(database, store).await;
}
