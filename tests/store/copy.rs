//! Copying a SQLite database to PostgreSQL.

use std::time::Duration;

use animal_store::schemas::{Pet, PetStatus};
use animal_store::storage::copy::{Copied, CopyError, copy};
use animal_store::storage::{AddedOnce, KeyRecord, PetsQuery, Store, StoreOptions};

use crate::conformance::{Engine as _, add, idempotency_key, key, new_pet, second};
use crate::postgres::{self, Postgres};
use crate::sqlite::{Sqlite, options};

const STATUSES: [Option<PetStatus>; 4] =
    [None, Some(PetStatus::Available), Some(PetStatus::Pending), Some(PetStatus::Sold)];

async fn copied(from: &Sqlite, to: &Postgres) -> Result<Copied, CopyError> {
    let short = StoreOptions { lock_timeout: Duration::from_millis(50), ..postgres::options() };
    copy(&from.url(), &to.url(), &short).await
}

/// Returns a database with animals of every status, with gaps between their identifiers, and two keys.
async fn filled(count: i64) -> Sqlite {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    store.add_key(key(2)).await.unwrap();
    store.add_key(KeyRecord { expires: Some(second(9)), revoked: Some(second(8)), ..key(1) }).await.unwrap();
    store.close().await;
    let connection = database.connection();
    let mut insert = connection
        .prepare("INSERT INTO animal (id, name, category, status) VALUES (?1, ?2, ?3, ?4)")
        .unwrap();
    connection.execute_batch("BEGIN").unwrap();
    for number in 1..=count {
        let status = STATUSES[number as usize % 4].map(PetStatus::as_str);
        insert.execute((number * 3, format!("n°{number} 🦔"), -number, status)).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    drop(insert);
    database
}

async fn all(store: &Store) -> Vec<Pet> {
    let mut all = Vec::new();
    loop {
        let after = all.last().map(|pet: &Pet| pet.id);
        let page = store.pets(PetsQuery { status: None, after, limit: 100 }).await.unwrap();
        all.extend(page.pets);
        if !page.more {
            return all;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_has_everything_and_goes_on_numbering() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let source = filled(2_500).await;
    // Identifiers that were assigned once are never assigned again.
    source.connection().execute_batch("DELETE FROM animal WHERE id > 7000").unwrap();
    let result = copied(&source, &target).await.unwrap();
    assert_eq!(result, Copied { pets: 2_333, keys: 2 });
    let (from, to) = (source.open().await, target.open().await);
    assert_eq!(all(&to).await, all(&from).await);
    assert_eq!(to.keys().await.unwrap(), from.keys().await.unwrap());
    assert_eq!(to.secret(), from.secret());
    assert_eq!(add(&to, "next").await.id, 7_501);
    to.add_key(key(3)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_store_is_copied() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let source = filled(0).await;
    assert_eq!(copied(&source, &target).await.unwrap(), Copied { pets: 0, keys: 2 });
    assert_eq!(add(&*target.open().await, "first").await.id, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_animal_that_was_added_with_a_key_is_not_added_again_to_the_target() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let source = Sqlite::fresh().await;
    let from = source.open().await;
    let add = async |store: &Store, number: usize| {
        let (animal, key) = (new_pet("Rex", 1, None), idempotency_key(&number.to_string()));
        store.add_pet_once(animal, key).await.unwrap()
    };
    let mut animals = Vec::new();
    for number in 0..50 {
        let AddedOnce::Now(pet) = add(&from, number).await else { panic!("{number} was not added") };
        animals.push(pet);
    }
    from.close().await;
    copied(&source, &target).await.unwrap();
    let to = target.open().await;
    for (number, pet) in animals.iter().enumerate() {
        assert_eq!(add(&to, number).await, AddedOnce::Before(pet.clone()));
    }
}

/// What a service stores during a copy would be missing from the target.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_in_use_is_rejected() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let source = filled(5).await;
    let service = source.open().await;
    let rejected = copied(&source, &target).await.unwrap_err().to_string();
    assert!(rejected.contains("is locked by another process; stop that process"), "{rejected}");
    add(&service, "meanwhile").await;
    service.close().await;
    assert_eq!(copied(&source, &target).await.unwrap().pets, 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_is_not_empty_is_rejected_and_unchanged() {
    let source = filled(5).await;
    let Some(target) = Postgres::try_fresh().await else { return };
    let to = target.open().await;
    let secret = to.secret();
    let theirs = add(&to, "theirs").await;
    let rejected = copied(&source, &target).await;
    assert!(matches!(rejected, Err(CopyError::NotEmpty("animal"))), "{rejected:?}");
    assert_eq!((all(&to).await, to.keys().await.unwrap()), (vec![theirs], vec![]));

    let target = Postgres::try_fresh().await.expect("it was there");
    let to = target.open().await;
    to.add_key(key(7)).await.unwrap();
    let rejected = copied(&source, &target).await;
    assert!(matches!(rejected, Err(CopyError::NotEmpty("api_key"))), "{rejected:?}");
    assert_eq!((all(&to).await, to.keys().await.unwrap()), (vec![], vec![key(7)]));
    assert_ne!(to.secret(), secret, "two databases");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_do_not_arrive_are_noticed_and_nothing_is_stored() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let source = filled(100).await;
    let to = target.open().await;
    let skip = "CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
         CREATE TRIGGER skip BEFORE INSERT ON animal FOR EACH ROW WHEN (new.id = 6) EXECUTE FUNCTION skip()";
    target.client().await.batch_execute(skip).await.unwrap();
    let rejected = copied(&source, &target).await;
    assert!(matches!(rejected, Err(CopyError::Differs("animal", 99, 100))), "{rejected:?}");
    assert_eq!((all(&to).await, to.keys().await.unwrap()), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_fails_leaves_nothing() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let source = filled(100).await;
    let to = target.open().await;
    let client = target.client().await;
    client.batch_execute("ALTER TABLE api_key ADD CHECK (id <> 'key2')").await.unwrap();
    let rejected = copied(&source, &target).await;
    assert!(matches!(rejected, Err(CopyError::Target(_))), "{rejected:?}");
    assert_eq!((all(&to).await, to.keys().await.unwrap()), (vec![], vec![]));
    client.batch_execute("ALTER TABLE api_key DROP CONSTRAINT api_key_id_check").await.unwrap();
    assert_eq!(copied(&source, &target).await.unwrap().pets, 100);
}

#[tokio::test]
async fn there_is_no_other_direction() {
    let source = filled(1).await;
    for to in [source.url(), "sqlite:other.db".to_owned()] {
        let rejected = copy(&source.url(), &to, &options()).await;
        assert!(matches!(rejected, Err(CopyError::Direction)), "{rejected:?}");
    }
    let rejected = copy("postgres://h/d", "postgres://h/d", &options()).await;
    assert!(matches!(rejected, Err(CopyError::Direction)), "{rejected:?}");
}
