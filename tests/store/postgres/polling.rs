//! A client that polls keeps the cursor of its last page. No animal may appear before such a cursor.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use animal_store::schemas::PetStatus;
use animal_store::storage::{PetsQuery, Store, StoreError};
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

/// Waits until this many statements wait for an advisory lock: that of [`hold`], or that of all writers.
async fn waiting(database: &Postgres, count: i64) {
    let client = database.client().await;
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
    let waiting = async { while client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) < count {} };
    timeout(TIMEOUT, waiting).await.expect("the batches must wait");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_exact_while_a_batch_is_in_progress_and_no_lower_identifier_follows() {
    for status in [None, Some(PetStatus::Sold)] {
        let Some(database) = Postgres::try_fresh().await else { return };
        let (one, two, reader) = (database.open().await, database.open().await, database.open().await);
        let query = PetsQuery { status, ..ALL };
        let mut before = Vec::new();
        for name in ["first", "second", "third"] {
            before.push(two.add_pet(new_pet(name, 1, status)).await.unwrap());
        }
        let other = hold(&database).await;
        let slow = tokio::spawn(async move { one.add_pet(new_pet("slow", 1, status)).await });
        waiting(&database, 1).await;
        let fast = tokio::spawn({
            let two = two.clone();
            async move { two.add_pet(new_pet("fast", 1, status)).await }
        });
        waiting(&database, 2).await;

        // Other programs may look at the page for longer than any time limit of the store.
        for (limit, more) in [(2, true), (3, false)] {
            let page = reader.pets(PetsQuery { limit, ..query }).await.unwrap();
            assert_eq!((&page.pets[..], page.more), (&before[..limit as usize], more));
        }
        other.batch_execute("COMMIT").await.unwrap();
        let (slow, fast) = (slow.await.unwrap().unwrap(), fast.await.unwrap().unwrap());
        assert!(before[2].id < slow.id && slow.id < fast.id);
        let after = before.last().map(|pet| pet.id);
        let page = reader.pets(PetsQuery { after, ..query }).await.unwrap();
        assert_eq!((page.pets, page.more), (vec![slow, fast], false));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_is_rolled_back_lets_the_next_one_write() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let (one, two) = (database.open().await, database.open().await);
    let _other = hold(&database).await;
    let slow = tokio::spawn(async move { one.add_pet(new_pet("slow", 1, None)).await });
    waiting(&database, 1).await;
    let fast = tokio::spawn({
        let two = two.clone();
        async move { add(&two, "fast").await }
    });
    waiting(&database, 2).await;
    // That of the slow batch, which waited first.
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND wait_event = 'advisory' ORDER BY query_start LIMIT 1";
    database.client().await.query_one(end, &[]).await.unwrap();
    slow.await.unwrap().unwrap_err();
    let added = fast.await.unwrap();
    assert_eq!(two.pets(ALL).await.unwrap().pets, [added]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_in_different_schemas_do_not_wait_for_each_other() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let client = database.client().await;
    client.batch_execute("CREATE SCHEMA other").await.unwrap();
    let store = database.open().await;
    let mut options = options();
    options.postgres.schema = Some("other".to_owned());
    let other = database.with(&options).await;
    let held = hold(&database).await;
    let slow = tokio::spawn(async move { store.add_pet(new_pet("slow", 1, None)).await });
    waiting(&database, 1).await;
    assert_eq!(add(&other, "fast").await.id, 1);
    held.batch_execute("COMMIT").await.unwrap();
    slow.await.unwrap().unwrap();
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
    // Batches take different times.
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
    assert!(pages.is_sorted(), "a page had a smaller identifier than one before");
    assert!(written.len() > 1_000, "{} written", written.len());
}
