//! A client that polls keeps the cursor of its last page. No animal may appear before such a cursor.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use animal_store::schemas::PetStatus;
use animal_store::storage::{PetsQuery, PostgresOptions, Store, StoreError, StoreOptions};
use futures::future::join_all;
use tokio::time::timeout;
use tokio_postgres::Client;

use super::{Postgres, options};
use crate::conformance::{Engine as _, add, new_pet};

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };

/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Makes the batch of an animal called `slow` wait, after its identifiers were assigned, until the connection is
/// dropped or ends its transaction.
async fn hold(database: &Postgres) -> Client {
    let client = database.client().await;
    client
        .batch_execute(
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
             CREATE TRIGGER wait AFTER INSERT ON animal FOR EACH ROW WHEN (new.name = 'slow')
                 EXECUTE FUNCTION wait()",
        )
        .await
        .unwrap();
    client.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(1)").await.unwrap();
    client
}

/// Waits until a statement waits for the lock of [`hold`].
async fn held(database: &Postgres) {
    let client = database.client().await;
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
    let waiting = async { while client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) == 0 {} };
    timeout(TIMEOUT, waiting).await.expect("the batch must wait");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_ends_before_the_identifiers_of_a_batch_in_progress() {
    for status in [None, Some(PetStatus::Sold)] {
        let Some(database) = Postgres::try_fresh().await else { return };
        let (one, two, reader) = (database.open().await, database.open().await, database.open().await);
        let query = PetsQuery { status, ..ALL };
        let before = two.add_pet(new_pet("before", 1, status)).await.unwrap();
        let other = hold(&database).await;
        let slow = tokio::spawn(async move { one.add_pet(new_pet("slow", 1, status)).await });
        held(&database).await;
        let fast = two.add_pet(new_pet("fast", 1, status)).await.unwrap();
        assert_eq!(two.pet(fast.id).await.unwrap(), Some(fast.clone()));
        let page = reader.pets(query).await.unwrap();
        assert_eq!((page.pets, page.more), (vec![before.clone()], false));

        // The page waits for the batch, at least for a moment.
        let page = tokio::spawn({
            let reader = reader.clone();
            async move { reader.pets(PetsQuery { after: Some(before.id), ..query }).await }
        });
        other.batch_execute("COMMIT").await.unwrap();
        let slow = slow.await.unwrap().unwrap();
        assert!(slow.id < fast.id);
        let page = page.await.unwrap().unwrap().pets;
        assert!(page.is_empty() || page == [slow.clone(), fast.clone()], "{page:?}");
        let page = reader.pets(PetsQuery { after: Some(before.id), ..query }).await.unwrap();
        assert_eq!((page.pets, page.more), (vec![slow, fast], false));
    }
}

// On one thread, and with one connection, whose queries run in order.
#[tokio::test]
async fn a_page_that_was_read_during_a_batch_does_not_count_as_complete_after_it() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let (one, two) = (database.open().await, database.open().await);
    let postgres = PostgresOptions { readers: 1, ..options().postgres };
    let reader = database.with(&StoreOptions { postgres, ..options() }).await;
    let before = add(&reader, "before").await;
    assert_eq!(reader.pets(ALL).await.unwrap().pets, std::slice::from_ref(&before));
    let other = hold(&database).await;
    let slow = tokio::spawn(async move { one.add_pet(new_pet("slow", 1, None)).await });
    held(&database).await;
    let fast = add(&two, "fast").await;

    // The server sends the page without the slow animal, which the store sees only after the batch, and after another page
    // has found that there is no batch any more.
    let mut early = pin!(reader.pets(ALL));
    assert!(futures::poll!(&mut early).is_pending());
    assert_eq!(reader.pet(fast.id).await.unwrap().as_ref(), Some(&fast));
    other.batch_execute("COMMIT").await.unwrap();
    let all = [before, slow.await.unwrap().unwrap(), fast];
    assert_eq!(reader.pets(ALL).await.unwrap().pets, all);
    assert_eq!(early.await.unwrap().pets, all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolled_back_batch_hides_nothing() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let (one, two) = (database.open().await, database.open().await);
    let other = hold(&database).await;
    let slow = tokio::spawn(async move { one.add_pet(new_pet("slow", 1, None)).await });
    held(&database).await;
    let fast = add(&two, "fast").await;
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE datname = current_database() AND wait_event = 'advisory'";
    let client = database.client().await;
    client.query_one(end, &[]).await.unwrap();
    slow.await.unwrap().unwrap_err();
    assert_eq!(two.pets(ALL).await.unwrap().pets, [fast]);
    drop(other);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn identifiers_above_the_range_of_a_mark_are_not_hidden() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let (one, two) = (database.open().await, database.open().await);
    // The lower 48 bits are zero between the two animals.
    let sql = "SELECT setval('animal_id', (1::bigint << 48) * 3 - 2)";
    database.client().await.query_one(sql, &[]).await.unwrap();
    let before = add(&two, "before").await;
    let other = hold(&database).await;
    let slow = tokio::spawn(async move { one.add_pet(new_pet("slow", 1, None)).await });
    held(&database).await;
    let fast = two.add_pet(new_pet("fast", 1, None)).await.unwrap();
    assert_eq!(two.pets(ALL).await.unwrap().pets, std::slice::from_ref(&before));
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(two.pets(ALL).await.unwrap().pets, [before, slow.await.unwrap().unwrap(), fast]);
}

/// Polls until `is_over`, and then until there is nothing new. Returns the identifiers of all pages.
async fn poll(store: &Store, is_over: &AtomicBool) -> Vec<i64> {
    let (mut seen, mut query) = (Vec::new(), ALL);
    loop {
        let is_last = is_over.load(Ordering::SeqCst);
        match store.pets(query).await {
            Ok(page) => {
                seen.extend(page.pets.iter().map(|pet| pet.id));
                query.after = page.pets.last().map(|pet| pet.id).or(query.after);
                if is_last && !page.more {
                    return seen;
                }
            }
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_polls_misses_no_animal_of_three_writers() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let writers: [Arc<Store>; 3] = [database.open().await, database.open().await, database.open().await];
    let reader = database.open().await;
    // Batches commit in random order.
    let sql = "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_sleep(random() * 0.005); RETURN NULL; END $$;
         CREATE TRIGGER pause AFTER INSERT ON animal FOR EACH STATEMENT EXECUTE FUNCTION pause()";
    database.client().await.batch_execute(sql).await.unwrap();
    let is_over = AtomicBool::new(false);
    let writing = async {
        let callers = (0..48).map(async |caller: usize| {
            let mut ids = Vec::new();
            for _ in 0..100 {
                match writers[caller % 3].add_pet(new_pet("x", 1, None)).await {
                    Ok(pet) => ids.push(pet.id),
                    Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
                }
            }
            ids
        });
        let written = join_all(callers).await.concat();
        is_over.store(true, Ordering::SeqCst);
        written
    };
    let (written, pages) = tokio::join!(writing, poll(&reader, &is_over));
    let seen: BTreeSet<_> = pages.iter().copied().collect();
    let missed = written.iter().filter(|id| !seen.contains(id)).count();
    println!("written {}, seen {}, missed {missed}", written.len(), seen.len());
    assert_eq!(missed, 0, "of {}", written.len());
    assert_eq!(seen.len(), pages.len(), "an animal was in two pages");
    assert!(written.len() > 1_000, "{} written", written.len());
}

#[tokio::test]
async fn a_transaction_without_a_mark_delays_no_page() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let store = database.with(&options()).await;
    let client = database.client().await;
    // A transaction without a mark.
    client
        .batch_execute("BEGIN; INSERT INTO animal VALUES (nextval('animal_id'), 'x', 1, NULL)")
        .await
        .unwrap();
    let pet = add(&store, "seen").await;
    assert_eq!(store.pets(ALL).await.unwrap().pets, [pet]);
}
