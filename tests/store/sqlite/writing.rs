//! The queue, the lock and the transaction that writes share.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use animal_store::storage::{PetsQuery, Store, StoreError, StoreOptions};
use futures::FutureExt as _;
use futures::future::join_all;

use super::{Sqlite, options};
use crate::battery::{Engine as _, add, key, new_pet};

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };

fn locked(place: &Sqlite) -> rusqlite::Connection {
    let theirs = place.connection();
    theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
    theirs
}

/// How many transactions the log holds: a frame that ends one has the size of the database in it.
fn transactions(place: &Sqlite) -> usize {
    let log = fs::read(place.0.path().join("animals.db-wal")).unwrap();
    log[32..].chunks_exact(24 + 4096).filter(|frame| frame[4..8] != [0; 4]).count()
}

#[tokio::test]
async fn waiting_writes_share_a_transaction() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    let before = transactions(&place);
    let theirs = locked(&place);
    let adding = (0..200).map(|_| store.add_pet(new_pet("together", 1, None)));
    let mut adding = join_all(adding);
    assert!((&mut adding).now_or_never().is_none());
    theirs.execute_batch("COMMIT").unwrap();
    assert!(adding.await.iter().all(Result::is_ok));
    // The thread may have taken the first few before the rest was there.
    assert!((1..=2).contains(&(transactions(&place) - before)));
}

#[tokio::test]
async fn a_full_queue_is_busy_at_once_and_loses_nothing() {
    let place = Sqlite::fresh().await;
    let store = place.with(&StoreOptions { write_queue: 4, ..options() }).await;
    let theirs = locked(&place);
    let adding = (0..50).map(|_| store.add_pet(new_pet("x", 1, None)));
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
    // Reads go on meanwhile.
    assert_eq!(store.pets(ALL).await.unwrap().pets, []);
    drop(theirs);
    let mut added: Vec<_> = join_all(adding).await.into_iter().map(Result::unwrap).collect();
    added.sort_by_key(|pet| pet.id);
    assert_eq!(store.pets(ALL).await.unwrap().pets, added);
}

#[tokio::test]
async fn a_lock_held_too_long_is_unavailable_and_later_all_is_well() {
    let place = Sqlite::fresh().await;
    let store = place.with(&StoreOptions { lock_timeout: Duration::from_millis(100), ..options() }).await;
    let theirs = locked(&place);
    let (pet, stored, revoked) = tokio::join!(
        store.add_pet(new_pet("x", 1, None)),
        store.add_key(key(1)),
        store.revoke_key("key1", key(1).created),
    );
    for error in [pet.unwrap_err(), stored.unwrap_err(), revoked.unwrap_err()] {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    assert_eq!(store.pets(ALL).await.unwrap().pets, [], "reads do not mind the lock");
    drop(theirs);
    let pet = add(&*store, "later").await;
    assert_eq!(store.pets(ALL).await.unwrap().pets, [pet]);
}

#[tokio::test]
async fn no_write_waits_longer_than_the_lock_timeout_whatever_is_before_it() {
    const BATCHES: u32 = 4;
    let place = Sqlite::fresh().await;
    let lock_timeout = Duration::from_millis(300);
    let store = place.with(&StoreOptions { lock_timeout, ..options() }).await;
    let _theirs = locked(&place);
    // If each batch waited for the lock by itself, no round could be faster than all these waits together. A
    // busy machine makes a round slower, and is not busy in every one.
    let all_waits = BATCHES * lock_timeout;
    for _ in 0..20 {
        let start = std::time::Instant::now();
        let adding = (0..BATCHES * 256).map(|_| store.add_pet(new_pet("x", 1, None)));
        for answer in join_all(adding).await {
            assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
        }
        if start.elapsed() < all_waits {
            return;
        }
    }
    panic!("every batch waits for {lock_timeout:?}");
}

#[tokio::test]
async fn a_lock_held_for_a_moment_is_waited_for() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    let theirs = locked(&place);
    let mut adding = Box::pin(store.add_pet(new_pet("patient", 1, None)));
    assert!((&mut adding).now_or_never().is_none());
    drop(theirs);
    let pet = adding.await.unwrap();
    assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
}

#[tokio::test]
async fn a_write_whose_caller_left_before_it_began_is_left_out() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    let theirs = locked(&place);
    let mut kept = Box::pin(store.add_pet(new_pet("kept", 1, None)));
    assert!((&mut kept).now_or_never().is_none());
    for _ in 0..20 {
        assert!(store.add_pet(new_pet("left", 1, None)).now_or_never().is_none());
    }
    drop(theirs);
    let kept = kept.await.unwrap();
    let last = add(&*store, "last").await;
    assert_eq!(store.pets(ALL).await.unwrap().pets, [kept, last]);
}

#[tokio::test]
async fn a_write_whose_caller_left_while_its_batch_waited_is_left_out() {
    let place = Sqlite::fresh().await;
    let store = place.with(&StoreOptions { write_queue: 1, ..options() }).await;
    let theirs = locked(&place);
    let mut left = Box::pin(store.add_pet(new_pet("left", 1, None)));
    assert!((&mut left).now_or_never().is_none());
    // There is room for the next one when the thread has taken the first, and waits for the lock with it.
    let kept = loop {
        let mut kept = Box::pin(store.add_pet(new_pet("kept", 1, None)));
        match (&mut kept).now_or_never() {
            None => break kept,
            Some(refused) => assert!(matches!(refused, Err(StoreError::Busy)), "{refused:?}"),
        }
        tokio::task::yield_now().await;
    };
    drop(left);
    drop(theirs);
    let kept = kept.await.unwrap();
    assert_eq!(store.pets(ALL).await.unwrap().pets, [kept]);
}

#[tokio::test]
async fn a_caller_that_leaves_a_full_queue_does_not_stop_it() {
    let place = Sqlite::fresh().await;
    let store = place.with(&StoreOptions { write_queue: 2, ..options() }).await;
    let theirs = locked(&place);
    for _ in 0..10 {
        drop(store.add_pet(new_pet("left", 1, None)).now_or_never());
    }
    drop(theirs);
    // The queue empties as soon as the thread comes to it.
    while let Err(error) = store.add_pet(new_pet("x", 1, None)).await {
        assert!(matches!(error, StoreError::Busy), "{error:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn closing_under_a_lock_ends_and_reports() {
    let place = Sqlite::fresh().await;
    let store = place.with(&StoreOptions { lock_timeout: Duration::from_millis(100), ..options() }).await;
    let _theirs = locked(&place);
    let (answer, ()) = tokio::join!(store.add_pet(new_pet("x", 1, None)), store.close());
    assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
}

#[tokio::test]
async fn many_processes_write_in_turn() {
    let place = Sqlite::fresh().await;
    let stores: Vec<Arc<dyn Store>> = join_all((0..4).map(|_| place.open())).await;
    let writers = stores.iter().map(|store| async {
        for number in 0..50 {
            add(&**store, &number.to_string()).await;
        }
    });
    join_all(writers).await;
    let count: i64 =
        place.connection().query_row("SELECT count(*) FROM animal", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 200);
}

/// Lets the database itself refuse animals with a certain name, undoing as much as `how` says.
fn refusing(place: &Sqlite, how: &str) -> rusqlite::Connection {
    let theirs = place.connection();
    let trigger = format!(
        "CREATE TRIGGER refuse AFTER INSERT ON animal WHEN new.name = 'bad' \
         BEGIN SELECT RAISE({how}, 'no'); END"
    );
    theirs.execute_batch(&trigger).unwrap();
    theirs
}

#[tokio::test]
async fn a_refused_row_is_taken_out_of_its_transaction_alone() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    let theirs = refusing(&place, "ABORT");
    theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
    let names = ["good", "bad", "good", "bad", "good"];
    let mut adding = join_all(names.map(|name| store.add_pet(new_pet(name, 1, None))));
    assert!((&mut adding).now_or_never().is_none());
    theirs.execute_batch("COMMIT").unwrap();
    let mut added = Vec::new();
    for (name, answer) in names.iter().zip(adding.await) {
        match answer {
            Ok(pet) => added.push(pet),
            Err(error) => {
                assert!(matches!(error, StoreError::Broken(_)), "{error:?}");
                assert_eq!(*name, "bad");
            }
        }
    }
    assert_eq!(added.len(), 3);
    assert_eq!(store.pets(ALL).await.unwrap().pets, added);
}

#[tokio::test]
async fn a_transaction_that_fails_acknowledges_none_of_its_writes() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    let theirs = refusing(&place, "ROLLBACK");
    theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The thread has one transaction open for the first, and takes the others together.
    let mut first = Box::pin(store.add_pet(new_pet("first", 1, None)));
    assert!((&mut first).now_or_never().is_none());
    let names = ["good", "bad", "good"];
    let mut adding = join_all(names.map(|name| store.add_pet(new_pet(name, 1, None))));
    assert!((&mut adding).now_or_never().is_none());
    theirs.execute_batch("COMMIT").unwrap();
    let mut acknowledged = Vec::new();
    for answer in [first.await].into_iter().chain(adding.await) {
        acknowledged.extend(answer.ok());
    }
    assert!(acknowledged.len() < 4, "the bad one was stored");
    assert_eq!(store.pets(ALL).await.unwrap().pets, acknowledged);
    let later = add(&*store, "later").await;
    assert_eq!(store.pet(later.id).await.unwrap(), Some(later));
}

#[tokio::test]
async fn a_failure_that_passes_is_forgotten() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    let pet = add(&*store, "here").await;
    let theirs = place.connection();
    theirs.execute_batch("ALTER TABLE animal RENAME TO away").unwrap();
    let errors = [
        store.pet(pet.id).await.unwrap_err(),
        store.pets(ALL).await.unwrap_err(),
        store.add_pet(new_pet("x", 1, None)).await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::Broken(_)), "{error:?}");
        assert!(!error.to_string().contains("animal"), "SQL does not leave the store: {error}");
    }
    theirs.execute_batch("ALTER TABLE away RENAME TO animal").unwrap();
    assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
    add(&*store, "again").await;
}

#[tokio::test]
async fn a_value_that_is_none_of_ours_is_broken() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    let theirs = place.connection();
    theirs.execute_batch("INSERT INTO animal (name, category_id) VALUES ('', 1)").unwrap();
    let read = store.pets(ALL).await;
    assert!(matches!(read, Err(StoreError::Broken(_))), "{read:?}");
}

/// The log is moved into the database when it has 4 MB, and then begins anew unless somebody reads in it.
const MOST_LOG: u64 = 8 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_log_does_not_grow_under_reads_that_never_pause() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    let first = add(&*store, "first").await;
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
    let log = fs::metadata(place.0.path().join("animals.db-wal")).unwrap().len();
    writing.store(false, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
    assert!(log < MOST_LOG, "{log} bytes");
}
