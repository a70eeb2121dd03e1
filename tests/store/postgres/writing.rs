//! The write queue and batches.

use std::time::Duration;

use animal_store::schemas::Pet;
use animal_store::storage::{PetsQuery, Store, StoreError, StoreOptions};
use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use tokio::time::timeout;
use tokio_postgres::Client;

use super::{Postgres, options};
use crate::conformance::{Engine as _, add, key, new_pet};
use crate::messages::Messages;

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };

/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Locks the table of animals against writes until the connection is dropped or ends its transaction.
async fn locked(database: &Postgres) -> Client {
    let other = database.client().await;
    other.batch_execute("BEGIN; LOCK TABLE animal IN EXCLUSIVE MODE").await.unwrap();
    other
}

/// Waits until `count` statements of the store wait for a lock.
async fn waiting(database: &Postgres, count: i64) {
    let client = database.client().await;
    let sql = "SELECT count(*) FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = 'animal-store' AND wait_event_type = 'Lock'";
    let waiting = async { while client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) < count {} };
    timeout(TIMEOUT, waiting).await.expect("the statements must wait");
}

/// Adds an animal, so that the writer waits for a lock.
async fn occupy<'a>(
    database: &Postgres,
    store: &'a Store,
    name: &str,
) -> BoxFuture<'a, Result<Pet, StoreError>> {
    let mut adding = store.add_pet(new_pet(name, 1, None)).boxed();
    assert!((&mut adding).now_or_never().is_none());
    waiting(database, 1).await;
    adding
}

#[tokio::test]
async fn queued_animals_share_a_transaction() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let store = database.open().await;
    let other = locked(&database).await;
    let first = occupy(&database, &store, "first").await;
    let adding = (0..200).map(|number| store.add_pet(new_pet(&number.to_string(), number, None)));
    let mut adding = join_all(adding);
    assert!((&mut adding).now_or_never().is_none());
    other.batch_execute("COMMIT").await.unwrap();
    first.await.unwrap();
    let added = adding.await.into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    for (number, pet) in (0..).zip(&added) {
        assert_eq!((pet.name.as_str(), pet.category_id), (number.to_string().as_str(), number));
    }
    let client = database.client().await;
    let transactions: i64 =
        client.query_one("SELECT count(DISTINCT xmin::text) FROM animal", &[]).await.unwrap().get(0);
    assert_eq!(transactions, 2, "transactions for 201 animals");
    let stored = "SELECT id, category FROM animal WHERE name <> 'first'";
    for row in client.query(stored, &[]).await.unwrap() {
        let (id, number): (i64, i64) = (row.get(0), row.get(1));
        assert_eq!(
            added[usize::try_from(number).unwrap()].id,
            id,
            "the identifier belongs to another animal"
        );
    }
}

#[tokio::test]
async fn an_unexpected_constraint_fails_the_whole_batch_and_is_logged() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let messages = Messages::default();
    let store = database.with(&StoreOptions { log: messages.log(), ..options() }).await;
    let other = database.client().await;
    other.batch_execute("ALTER TABLE animal ADD CONSTRAINT only_fine CHECK (name = 'fine')").await.unwrap();
    let lock = locked(&database).await;
    let first = occupy(&database, &store, "fine").await;
    let name = |number: usize| if number == 3 { "rejected" } else { "fine" };
    let mut adding = join_all((0..10).map(|number| store.add_pet(new_pet(name(number), 1, None))));
    assert!((&mut adding).now_or_never().is_none());
    lock.batch_execute("COMMIT").await.unwrap();
    let first = first.await.unwrap();
    let failed = adding.await.into_iter().filter(Result::is_err).count();
    assert_eq!(failed, 10);
    let message = "the database failed; further errors with this cause are only counted";
    assert!(messages.contain_with(message, "only_fine"));
    assert_eq!(store.pets(ALL).await.unwrap().pets, std::slice::from_ref(&first));
    assert!(add(&store, "fine").await.id > first.id, "later batches are stored");
}

#[tokio::test]
async fn a_warning_of_a_trigger_is_not_a_failure() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let messages = Messages::default();
    let store = database.with(&StoreOptions { log: messages.log(), ..options() }).await;
    let trigger = "CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE WARNING 'unusual'; RETURN NEW; END $$;
         CREATE TRIGGER warn BEFORE INSERT ON animal FOR EACH ROW EXECUTE FUNCTION warn()";
    database.client().await.batch_execute(trigger).await.unwrap();
    let pet = add(&store, "stored").await;
    assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
    add(&store, "another").await;
    // Once for each connection, not with each statement.
    assert_eq!(messages.count("the database warned"), 1);
}

#[tokio::test]
async fn a_full_queue_is_busy_immediately_and_loses_nothing() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let store = database.with(&StoreOptions { write_queue: 4, ..options() }).await;
    let other = locked(&database).await;
    let mut adding: Vec<_> = (0..50).map(|_| store.add_pet(new_pet("x", 1, None)).boxed()).collect();
    let mut busy = 0;
    adding.retain_mut(|future| match future.now_or_never() {
        Some(Err(StoreError::Busy)) => {
            busy += 1;
            false
        }
        Some(other) => panic!("{other:?} while the table is locked"),
        None => true,
    });
    assert!((4..=5).contains(&adding.len()), "{} were accepted", adding.len());
    assert_eq!(busy + adding.len(), 50);
    assert_eq!(store.pets(ALL).await.unwrap().pets, [], "reads do not wait for the lock");
    other.batch_execute("COMMIT").await.unwrap();
    let mut added = join_all(adding).await.into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    added.sort_by_key(|pet| pet.id);
    assert_eq!(store.pets(ALL).await.unwrap().pets, added);
}

#[tokio::test]
async fn a_lock_held_too_long_is_unavailable_and_later_writes_succeed() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let store = database.with(&StoreOptions { lock_timeout: Duration::from_millis(100), ..options() }).await;
    let other = locked(&database).await;
    other.batch_execute("LOCK TABLE api_key IN EXCLUSIVE MODE").await.unwrap();
    let (pet, stored, revoked) = tokio::join!(
        store.add_pet(new_pet("x", 1, None)),
        store.add_key(key(1)),
        store.revoke_key("key1", key(1).created),
    );
    for error in [pet.unwrap_err(), stored.unwrap_err(), revoked.unwrap_err()] {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    other.batch_execute("ROLLBACK").await.unwrap();
    let pet = add(&store, "later").await;
    assert_eq!(store.pets(ALL).await.unwrap().pets, [pet]);
    assert_eq!(store.keys().await.unwrap(), []);
}

#[tokio::test]
async fn an_animal_whose_future_was_dropped_in_the_queue_is_not_added() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let store = database.open().await;
    let other = locked(&database).await;
    let kept = occupy(&database, &store, "kept").await;
    for _ in 0..20 {
        assert!(store.add_pet(new_pet("left", 1, None)).now_or_never().is_none());
    }
    other.batch_execute("COMMIT").await.unwrap();
    kept.await.unwrap();
    let last = store.add_pet(new_pet("last", 1, None)).await.unwrap();
    store.close().await;
    let pets = database.open().await.pets(ALL).await.unwrap().pets;
    assert_eq!(pets.len(), 2);
    assert_eq!(pets.last(), Some(&last));
}
