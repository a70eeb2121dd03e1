//! Copying a store to another engine.

use std::sync::Arc;
use std::time::Duration;

use animal_store::schemas::{NewPet, Pet, PetStatus};
use animal_store::storage::copy::{Chunk, CopyError, Progress, Transfer, copy};
use animal_store::storage::{
    AddedOnce, KeyRecord, PetsQuery, Store, StoreError, StoreOptions, open_for_copy,
};
use futures::future::join_all;
use tokio::runtime::Handle;

use crate::conformance::{Engine as _, add, idempotency_key, key, new_pet, second};
use crate::postgres::{self, Postgres};
use crate::sqlite::{Sqlite, options};

const STATUSES: [Option<PetStatus>; 4] =
    [None, Some(PetStatus::Available), Some(PetStatus::Pending), Some(PetStatus::Sold)];

async fn sqlite(database: &Sqlite) -> Arc<dyn Transfer> {
    open_for_copy(&database.url(), &options()).await.unwrap()
}

async fn postgres(database: &Postgres) -> Arc<dyn Transfer> {
    open_for_copy(&database.url(), &postgres::options()).await.unwrap()
}

/// Adds animals with their identifiers to an empty store.
async fn import(store: &dyn Transfer, pets: Vec<Pet>) -> Result<(), StoreError> {
    let mut import = store.begin_import().await?.expect("it is empty");
    assert!(import.import(&Chunk::Pets(pets)).await?);
    import.commit().await
}

/// Adds animals with every status and with gaps between their identifiers, and two keys.
async fn fill(store: &dyn Transfer, count: i64) {
    let pets = (1..=count).map(|number| {
        let NewPet { name, category_id, status } =
            new_pet(&format!("n°{number} 🦔"), -number, STATUSES[number as usize % 4]);
        Pet { id: number * 3, name, category_id, status }
    });
    import(store, pets.collect()).await.unwrap();
    store.add_key(key(2)).await.unwrap();
    store.add_key(KeyRecord { expires: Some(second(9)), revoked: Some(second(8)), ..key(1) }).await.unwrap();
}

async fn all(store: &dyn Store) -> Vec<Pet> {
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

/// Checks that two stores have the same content, and that new identifiers in the second are greater.
async fn same(from: &dyn Transfer, to: &dyn Transfer) {
    let animals = all(from).await;
    assert_eq!(all(to).await, animals);
    assert_eq!(to.keys().await.unwrap(), from.keys().await.unwrap());
    assert!(add(to, "next").await.id > animals.last().map_or(0, |pet| pet.id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_sqlite_to_postgresql_and_back() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let (source, back) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to, back) = (sqlite(&source).await, postgres(&target).await, sqlite(&back).await);
    fill(&*from, 2_500).await;
    let mut steps = Vec::new();
    let copied = copy(&*from, &*to, |progress| steps.push((progress.id, progress.last))).await.unwrap();
    assert_eq!(steps, [0, 3_000, 6_000, 7_500].map(|id| (id, 7_500)));
    assert_eq!((copied.pets, copied.keys, copied.source_grew), (2_500, 2, false));
    let returned = copy(&*to, &*back, |_| {}).await.unwrap();
    assert_eq!(returned, copied);
    same(&*from, &*to).await;
    same(&*from, &*back).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_animal_that_was_added_with_a_key_is_not_added_again_to_the_target() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let (source, back) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to, back) = (sqlite(&source).await, postgres(&target).await, sqlite(&back).await);
    let add = async |store: &dyn Transfer, number: usize| {
        let (animal, key) = (new_pet("Rex", 1, None), idempotency_key(&number.to_string()));
        store.add_pet_once(animal, key, second(1_800_000_000)).await.unwrap()
    };
    let mut animals = Vec::new();
    for number in 0..1_003 {
        let AddedOnce::Now(pet) = add(&*from, number).await else { panic!("{number} was not added") };
        animals.push(pet);
    }
    for (from, to) in [(&from, &to), (&to, &back)] {
        copy(&**from, &**to, |_| {}).await.unwrap();
        for (number, pet) in animals.iter().enumerate() {
            assert_eq!(add(&**to, number).await, AddedOnce::Before(pet.clone()));
        }
    }
}

#[tokio::test]
async fn an_empty_store_is_copied() {
    let (source, target) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let copied = copy(&*sqlite(&source).await, &*sqlite(&target).await, |_| {}).await.unwrap();
    assert_eq!((copied.pets, copied.keys), (0, 0));
}

/// Panics after the second chunk, which simulates a crash of the process.
async fn interrupted(from: &Arc<dyn Transfer>, to: &Arc<dyn Transfer>) {
    let (from, to) = (from.clone(), to.clone());
    let copying = tokio::spawn(async move {
        copy(&*from, &*to, |progress| assert!(progress.id < 6_000, "interrupted")).await
    });
    assert!(copying.await.unwrap_err().is_panic());
}

/// Checks that an interrupted copy leaves nothing, and can be started again.
async fn check_interrupted(to: Arc<dyn Transfer>) {
    let source = Sqlite::fresh().await;
    let from = sqlite(&source).await;
    fill(&*from, 3_500).await;
    interrupted(&from, &to).await;
    assert_eq!((all(&*to).await, to.keys().await.unwrap()), (vec![], vec![]));
    assert_eq!(copy(&*from, &*to, |_| {}).await.unwrap().pets, 3_500);
    same(&*from, &*to).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_copy_to_sqlite_leaves_nothing() {
    let target = Sqlite::fresh().await;
    check_interrupted(sqlite(&target).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_copy_to_postgresql_leaves_nothing() {
    let Some(target) = Postgres::try_fresh().await else { return };
    check_interrupted(postgres(&target).await).await;
}

#[tokio::test]
async fn a_copy_survives_a_crash() {
    let (source, target, crashed) = (Sqlite::fresh().await, Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&source).await, sqlite(&target).await);
    fill(&*from, 10).await;
    copy(&*from, &*to, |_| {}).await.unwrap();
    crashed.take_files_of(&target);
    assert_eq!(all(&*crashed.open().await).await, all(&*from).await);
}

/// Checks that others can read and cannot write while a copy runs. `store` gives up after a short time.
async fn check_locked(store: Arc<dyn Transfer>) {
    let copying = store.begin_import().await.unwrap().expect("it is empty");
    assert_eq!(all(&*store).await, []);
    let refused = store.add_key(key(1)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    copying.commit().await.unwrap();
    store.add_key(key(1)).await.unwrap();
    assert!(store.begin_import().await.unwrap().is_none(), "it has a key");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_to_sqlite_locks_the_target() {
    let target = Sqlite::fresh().await;
    let options = StoreOptions { lock_timeout: Duration::from_millis(50), ..options() };
    check_locked(open_for_copy(&target.url(), &options).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_to_postgresql_locks_the_target() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let options = StoreOptions { lock_timeout: Duration::from_millis(500), ..postgres::options() };
    check_locked(open_for_copy(&target.url(), &options).await.unwrap()).await;
}

#[tokio::test]
async fn a_target_that_is_not_empty_is_rejected_and_unchanged() {
    let source = Sqlite::fresh().await;
    let from = sqlite(&source).await;
    fill(&*from, 5).await;
    let mut targets = vec![];
    let (with_animal, with_key) = (Sqlite::fresh().await, Sqlite::fresh().await);
    targets.extend([sqlite(&with_animal).await, sqlite(&with_key).await]);
    if let (Some(with_animal), Some(with_key)) = (Postgres::try_fresh().await, Postgres::try_fresh().await) {
        targets.extend([postgres(&with_animal).await, postgres(&with_key).await]);
    }
    for pair in targets.chunks(2) {
        let theirs = add(&*pair[0], "theirs").await;
        pair[1].add_key(key(7)).await.unwrap();
        for to in pair {
            let rejected = copy(&*from, &**to, |_| {}).await;
            assert!(matches!(rejected, Err(CopyError::NotEmpty)), "{rejected:?}");
        }
        assert_eq!((all(&*pair[0]).await, pair[0].keys().await.unwrap()), (vec![theirs], vec![]));
        assert_eq!((all(&*pair[1]).await, pair[1].keys().await.unwrap()), (vec![], vec![key(7)]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_difference_in_the_target_is_detected() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let source = Sqlite::fresh().await;
    let (from, to) = (sqlite(&source).await, postgres(&target).await);
    fill(&*from, 100).await;
    let change = "CREATE FUNCTION sell() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN new.status := ''sold''; RETURN new; END'; \
         CREATE TRIGGER sell BEFORE INSERT ON animal FOR EACH ROW EXECUTE FUNCTION sell()";
    target.client().await.batch_execute(change).await.unwrap();
    let rejected = copy(&*from, &*to, |_| {}).await;
    assert!(matches!(rejected, Err(CopyError::Differs("animals"))), "{rejected:?}");
    assert_eq!(all(&*to).await, []);
}

/// The source may be in use.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_revoked_during_the_copy_is_revoked_in_the_target() {
    let (source, target) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&source).await, sqlite(&target).await);
    fill(&*from, 10).await;
    let meanwhile = |progress: Progress| {
        if progress.id == progress.last {
            let revoking = from.revoke_key("key2", second(77));
            assert!(tokio::task::block_in_place(|| Handle::current().block_on(revoking)).unwrap());
        }
    };
    copy(&*from, &*to, meanwhile).await.unwrap();
    let copied = to.key_by_hash(&key(2).hash).await.unwrap().unwrap();
    assert_eq!(copied.revoked, Some(second(77)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_grows_during_the_copy_is_reported() {
    let (source, target) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&source).await, sqlite(&target).await);
    fill(&*from, 10).await;
    let meanwhile = |_| {
        tokio::task::block_in_place(|| Handle::current().block_on(add(&*from, "meanwhile")));
    };
    let copied = copy(&*from, &*to, meanwhile).await.unwrap();
    assert!(copied.source_grew);
    assert_eq!(copied.pets, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn identifiers_are_greater_than_those_that_were_imported() {
    let database = Sqlite::fresh().await;
    check_import(sqlite(&database).await).await;
    let Some(database) = Postgres::try_fresh().await else { return };
    check_import(postgres(&database).await).await;
}

async fn check_import(store: Arc<dyn Transfer>) {
    assert_eq!(store.last_pet().await.unwrap(), None);
    let NewPet { name, category_id, status } = new_pet("pet", 1, None);
    let pet = |id| Pet { id, name: name.clone(), category_id, status };
    // Two have the same identifier, so none is stored.
    let rejected = import(&*store, vec![pet(7), pet(9_000), pet(9_000)]).await;
    assert!(matches!(rejected, Err(StoreError::Broken(_))), "{rejected:?}");
    assert_eq!(all(&*store).await, []);
    import(&*store, vec![pet(5), pet(1_000_000)]).await.unwrap();
    assert_eq!(store.last_pet().await.unwrap(), Some(pet(1_000_000)));
    let next = join_all((0..10).map(|_| add(&*store, "next"))).await;
    assert!(next.iter().all(|pet| pet.id > 1_000_000));
}

/// Runs a check with each pair of engines.
macro_rules! with_each_target {
    ($($name:ident: $check:ident;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            let (source, target) = (Sqlite::fresh().await, Sqlite::fresh().await);
            $check(sqlite(&source).await, sqlite(&target).await).await;
            let Some(target) = Postgres::try_fresh().await else { return };
            let (source, back) = (Sqlite::fresh().await, Sqlite::fresh().await);
            $check(sqlite(&source).await, postgres(&target).await).await;
            let Some(target) = Postgres::try_fresh().await else { return };
            $check(postgres(&target).await, sqlite(&back).await).await;
        }
    )*};
}

with_each_target! {
    a_copy_of_one_animal_goes_on_numbering: check_one;
    a_copy_of_no_animal_goes_on_numbering: check_none;
    a_copy_of_the_highest_identifier_reports_that_none_is_left: check_highest;
}

async fn check_one(from: Arc<dyn Transfer>, to: Arc<dyn Transfer>) {
    let only = add(&*from, "only").await;
    assert_eq!(only.id, 1);
    assert_eq!(copy(&*from, &*to, |_| {}).await.unwrap().pets, 1);
    assert_eq!(add(&*to, "next").await.id, 2);
    assert_eq!(to.pet(1).await.unwrap(), Some(only));
}

async fn check_none(from: Arc<dyn Transfer>, to: Arc<dyn Transfer>) {
    assert_eq!(copy(&*from, &*to, |_| {}).await.unwrap().pets, 0);
    assert_eq!(add(&*to, "first").await.id, 1);
    assert_eq!(add(&*to, "second").await.id, 2);
}

async fn check_highest(from: Arc<dyn Transfer>, to: Arc<dyn Transfer>) {
    let NewPet { name, category_id, status } = new_pet("pet", 1, None);
    let pets = [1, i64::MAX].map(|id| Pet { id, name: name.clone(), category_id, status });
    import(&*from, pets.to_vec()).await.unwrap();
    assert_eq!(copy(&*from, &*to, |_| {}).await.unwrap().pets, 2);
    for store in [&from, &to] {
        let error = store.add_pet(new_pet("none left", 1, None)).await.unwrap_err();
        assert!(matches!(error, StoreError::Broken(_)), "{error:?}");
        assert!(error.to_string().contains("no identifier left"), "{error}");
        assert_eq!(all(&**store).await.len(), 2);
        // Other writes succeed.
        store.add_key(key(7)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_one_animal_advances_the_sequence_of_postgresql() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let source = Sqlite::fresh().await;
    let from = sqlite(&source).await;
    add(&*from, "only").await;
    copy(&*from, &*postgres(&target).await, |_| {}).await.unwrap();
    let next = "SELECT nextval('animal_id')";
    assert_eq!(target.client().await.query_one(next, &[]).await.unwrap().get::<_, i64>(0), 2);
}
