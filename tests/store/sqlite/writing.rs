//! The write queue, the write lock, and transactions shared by several writes.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use animal_store::schemas::PetStatus;
use animal_store::storage::{AddedOnce, PetsQuery, Store, StoreError, StoreOptions};
use futures::FutureExt as _;
use futures::future::join_all;

use super::{Sqlite, options};
use crate::conformance::{Engine as _, add, idempotency_key, key, new_pet};
use crate::messages::Messages;

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };

fn locked(database: &Sqlite) -> rusqlite::Connection {
    let other = database.connection();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

/// Returns the number of transactions in the WAL: a commit frame has the size of the database, other frames have 0.
fn transactions(database: &Sqlite) -> usize {
    let wal = fs::read(database.0.path().join("animals.db-wal")).unwrap();
    wal[32..].chunks_exact(24 + 4096).filter(|frame| frame[4..8] != [0; 4]).count()
}

#[tokio::test]
async fn queued_writes_share_a_transaction() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    let before = transactions(&database);
    let other = locked(&database);
    let adding = (0..200).map(|_| store.add_pet(new_pet("together", 1, None)));
    let mut adding = join_all(adding);
    assert!((&mut adding).now_or_never().is_none());
    other.execute_batch("COMMIT").unwrap();
    assert!(adding.await.iter().all(Result::is_ok));
    // The writing thread may have taken the first writes before the others were queued.
    assert!((1..=2).contains(&(transactions(&database) - before)));
}

#[tokio::test]
async fn a_full_queue_is_busy_immediately_and_loses_nothing() {
    let database = Sqlite::fresh().await;
    let store = database.with(&StoreOptions { write_queue: 4, ..options() }).await;
    let other = locked(&database);
    let adding = (0..50).map(|_| Box::pin(store.add_pet(new_pet("x", 1, None))));
    let mut adding: Vec<_> = adding.collect();
    let mut busy = 0;
    adding.retain_mut(|future| match future.now_or_never() {
        Some(Err(StoreError::Busy)) => {
            busy += 1;
            false
        }
        Some(other) => panic!("{other:?} while the lock is held"),
        None => true,
    });
    assert!((4..=8).contains(&adding.len()), "{} were accepted", adding.len());
    assert_eq!(busy + adding.len(), 50);
    // Reads do not wait for the lock.
    assert_eq!(store.pets(ALL).await.unwrap().pets, []);
    drop(other);
    let mut added: Vec<_> = join_all(adding).await.into_iter().map(Result::unwrap).collect();
    added.sort_by_key(|pet| pet.id);
    assert_eq!(store.pets(ALL).await.unwrap().pets, added);
}

#[tokio::test]
async fn a_lock_held_too_long_is_unavailable_and_later_writes_succeed() {
    let database = Sqlite::fresh().await;
    let store = database.with(&StoreOptions { lock_timeout: Duration::from_millis(100), ..options() }).await;
    let other = locked(&database);
    let (pet, stored, revoked) = tokio::join!(
        store.add_pet(new_pet("x", 1, None)),
        store.add_key(key(1)),
        store.revoke_key("key1", key(1).created),
    );
    let ready = store.check_ready().await;
    assert!(matches!(ready, Err(StoreError::Unavailable(_))), "{ready:?}");
    for error in [pet.unwrap_err(), stored.unwrap_err(), revoked.unwrap_err()] {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    assert_eq!(store.pets(ALL).await.unwrap().pets, [], "reads do not wait for the lock");
    drop(other);
    store.check_ready().await.unwrap();
    let pet = add(&store, "later").await;
    assert_eq!(store.pets(ALL).await.unwrap().pets, [pet]);
}

#[tokio::test]
async fn a_queued_write_waits_no_longer_than_the_lock_timeout() {
    const BATCHES: u32 = 4;
    let database = Sqlite::fresh().await;
    let lock_timeout = Duration::from_millis(300);
    let store = database.with(&StoreOptions { lock_timeout, ..options() }).await;
    let _other = locked(&database);
    // If each batch waited for the lock separately, every round would take at least the sum of their timeouts. A busy
    // machine may slow down some rounds, so one fast round is enough.
    let all_waits = BATCHES * lock_timeout;
    for _ in 0..20 {
        let start = std::time::Instant::now();
        let adding = (0..BATCHES * 256).map(|_| store.add_pet(new_pet("x", 1, None)));
        for result in join_all(adding).await {
            assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
        }
        if start.elapsed() < all_waits {
            return;
        }
    }
    panic!("every batch waits separately for {lock_timeout:?}");
}

#[tokio::test]
async fn a_write_waits_for_a_lock_held_briefly() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    let other = locked(&database);
    let mut adding = Box::pin(store.add_pet(new_pet("waiting", 1, None)));
    assert!((&mut adding).now_or_never().is_none());
    drop(other);
    let pet = adding.await.unwrap();
    assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
}

#[tokio::test]
async fn a_write_whose_future_was_dropped_in_the_queue_is_not_executed() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    let other = locked(&database);
    let mut kept = Box::pin(store.add_pet(new_pet("kept", 1, None)));
    assert!((&mut kept).now_or_never().is_none());
    for _ in 0..20 {
        assert!(store.add_pet(new_pet("left", 1, None)).now_or_never().is_none());
    }
    drop(other);
    let kept = kept.await.unwrap();
    let last = add(&store, "last").await;
    assert_eq!(store.pets(ALL).await.unwrap().pets, [kept, last]);
}

#[tokio::test]
async fn a_write_whose_future_was_dropped_while_its_batch_waited_is_not_executed() {
    let database = Sqlite::fresh().await;
    let store = database.with(&StoreOptions { write_queue: 1, ..options() }).await;
    let other = locked(&database);
    let mut left = Box::pin(store.add_pet(new_pet("left", 1, None)));
    assert!((&mut left).now_or_never().is_none());
    // The queue has room again when the thread has taken the first write and waits for the lock.
    let kept = loop {
        let mut kept = Box::pin(store.add_pet(new_pet("kept", 1, None)));
        match (&mut kept).now_or_never() {
            None => break kept,
            Some(rejected) => assert!(matches!(rejected, Err(StoreError::Busy)), "{rejected:?}"),
        }
        tokio::task::yield_now().await;
    };
    drop(left);
    drop(other);
    let kept = kept.await.unwrap();
    assert_eq!(store.pets(ALL).await.unwrap().pets, [kept]);
}

#[tokio::test]
async fn dropped_futures_do_not_block_a_full_queue() {
    let database = Sqlite::fresh().await;
    let store = database.with(&StoreOptions { write_queue: 2, ..options() }).await;
    let other = locked(&database);
    for _ in 0..10 {
        drop(store.add_pet(new_pet("left", 1, None)).now_or_never());
    }
    drop(other);
    // The queue has room when the thread has removed the dropped writes.
    while let Err(error) = store.add_pet(new_pet("x", 1, None)).await {
        assert!(matches!(error, StoreError::Busy), "{error:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn closing_under_a_lock_ends_and_reports_the_error() {
    let database = Sqlite::fresh().await;
    let store = database.with(&StoreOptions { lock_timeout: Duration::from_millis(100), ..options() }).await;
    let _other = locked(&database);
    let (result, ()) = tokio::join!(store.add_pet(new_pet("x", 1, None)), store.close());
    assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
}

#[tokio::test]
async fn several_handles_may_write_concurrently() {
    let database = Sqlite::fresh().await;
    let stores: Vec<Arc<Store>> = join_all((0..4).map(|_| database.open())).await;
    let writers = stores.iter().map(|store| async {
        for number in 0..50 {
            add(store, &number.to_string()).await;
        }
    });
    join_all(writers).await;
    let count: i64 =
        database.connection().query_row("SELECT count(*) FROM animal", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 200);
}

/// Makes a table reject rows with `bad` in a column. `how` is the conflict resolution of SQLite.
fn rejecting(database: &Sqlite, table: &str, column: &str, how: &str) -> rusqlite::Connection {
    let other = database.connection();
    let column = format!(
        "ALTER TABLE {table} ADD COLUMN fine TEXT \
             GENERATED ALWAYS AS (nullif({column}, 'bad')) NOT NULL ON CONFLICT {how}"
    );
    other.execute_batch(&column).unwrap();
    other
}

#[tokio::test]
async fn an_addition_whose_second_statement_fails_is_not_stored() {
    let (database, messages) = (Sqlite::fresh().await, Messages::default());
    let store = database.with(&StoreOptions { log: messages.log(), ..options() }).await;
    rejecting(&database, "idempotency_key", "value", "ABORT");
    for _ in 0..2 {
        let failed = store.add_pet_once(new_pet("Rex", 1, None), idempotency_key("bad")).await;
        assert!(matches!(failed, Err(StoreError::Broken(_))), "{failed:?}");
        assert_eq!(store.pets(ALL).await.unwrap().pets, []);
    }
    // SQLITE_CONSTRAINT_NOTNULL.
    assert!(
        messages.contain_with(
            "the database failed; further errors with this cause are only counted",
            "code=1299"
        ),
        "the log lacks the cause"
    );
    let added = store.add_pet_once(new_pet("Rex", 1, None), idempotency_key("good")).await.unwrap();
    assert!(matches!(added, AddedOnce::Now(_)), "{added:?}");
}

#[tokio::test]
async fn a_transaction_that_fails_acknowledges_none_of_its_writes() {
    for how in ["ABORT", "ROLLBACK"] {
        check_failing_transaction(how).await;
    }
}

async fn check_failing_transaction(how: &str) {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    let other = rejecting(&database, "animal", "name", how);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The first write occupies the thread, so that the others share the next transaction.
    let mut first = Box::pin(store.add_pet(new_pet("first", 1, None)));
    assert!((&mut first).now_or_never().is_none());
    let names = ["good", "bad", "good"];
    let mut adding = join_all(names.map(|name| store.add_pet(new_pet(name, 1, None))));
    assert!((&mut adding).now_or_never().is_none());
    other.execute_batch("COMMIT").unwrap();
    let mut acknowledged = Vec::new();
    for result in [first.await].into_iter().chain(adding.await) {
        acknowledged.extend(result.ok());
    }
    assert!(acknowledged.len() < 4, "the rejected animal was stored");
    assert_eq!(store.pets(ALL).await.unwrap().pets, acknowledged);
    let later = add(&store, "later").await;
    assert_eq!(store.pet(later.id).await.unwrap(), Some(later));
}

#[tokio::test]
async fn the_store_recovers_after_an_error() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    let pet = add(&store, "here").await;
    let other = database.connection();
    other.execute_batch("ALTER TABLE animal RENAME TO away").unwrap();
    let errors = [
        store.pet(pet.id).await.unwrap_err(),
        store.pets(ALL).await.unwrap_err(),
        store.add_pet(new_pet("x", 1, None)).await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::Broken(_)), "{error:?}");
        assert!(!error.to_string().contains("animal"), "the error contains SQL: {error}");
    }
    other.execute_batch("ALTER TABLE away RENAME TO animal").unwrap();
    assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
    add(&store, "again").await;
}

#[tokio::test]
async fn an_invalid_value_in_the_database_is_broken() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    let other = database.connection();
    other.execute_batch("INSERT INTO animal (name, category) VALUES ('', 1)").unwrap();
    let read = store.pets(ALL).await;
    assert!(matches!(read, Err(StoreError::Broken(_))), "{read:?}");
}

/// The check of readiness demands twice this space.
#[tokio::test]
async fn the_largest_batch_takes_at_most_3_mib_of_the_log() {
    let database = Sqlite::fresh().await;
    let add = |store: Arc<Store>, number: usize| async move {
        let large = new_pet(&"🦊".repeat(255), i64::MAX, Some(PetStatus::Available));
        let key = idempotency_key(&format!("{number:064}"));
        store.add_pet_once(large, key).await
    };
    // Many keys, so that the next ones change different pages of their index.
    let store = database.open().await;
    for first in (0..20_000).step_by(1_000) {
        let added = join_all((first..first + 1_000).map(|number| add(store.clone(), number))).await;
        assert!(added.iter().all(Result::is_ok));
    }
    // The WAL begins anew.
    store.close().await;
    let store = database.open().await;
    let other = locked(&database);
    // The first addition may be taken alone.
    let mut adding = join_all((20_000..20_257).map(|number| add(store.clone(), number)));
    assert!((&mut adding).now_or_never().is_none());
    other.execute_batch("COMMIT").unwrap();
    assert!(adding.await.iter().all(Result::is_ok));
    let wal = fs::metadata(database.0.path().join("animals.db-wal")).unwrap().len();
    assert!((1 << 20..3 << 20).contains(&wal), "{wal} bytes");
}

/// The maximum size of the WAL: a checkpoint starts at 4 MB and is tried again after each further MB, until the reads of
/// a busy machine leave a gap. The names alone that are written take 51 MB.
const MAX_WAL: u64 = 20 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_wal_does_not_grow_during_continuous_reads() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    let first = add(&store, "first").await;
    let writing = Arc::new(AtomicBool::new(true));
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let (store, first, writing) = (store.clone(), first.clone(), writing.clone());
            tokio::spawn(async move {
                while writing.load(Ordering::Relaxed) {
                    assert_eq!(store.pet(first.id).await.unwrap().as_ref(), Some(&first));
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let name = "🦊".repeat(255);
    for _ in 0..200 {
        let added = join_all((0..250).map(|_| store.add_pet(new_pet(&name, 1, None)))).await;
        assert!(added.iter().all(Result::is_ok));
    }
    let wal = fs::metadata(database.0.path().join("animals.db-wal")).unwrap().len();
    writing.store(false, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
    assert!(wal < MAX_WAL, "{wal} bytes");
}
