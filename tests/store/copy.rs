//! Copying a store to another engine.

use std::sync::Arc;

use animal_store::schemas::{NewPet, Pet, PetStatus};
use animal_store::storage::copy::{Copied, CopyError, Step, Transfer, copy};
use animal_store::storage::{AddedOnce, KeyRecord, PetsQuery, Store, StoreError, open_for_copy};
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

/// Adds animals with every status and with gaps between their identifiers, and two keys.
async fn fill(store: &dyn Transfer, count: i64) {
    let pets = (1..=count).map(|number| {
        let NewPet { name, category_id, status } =
            new_pet(&format!("n°{number} 🦔"), -number, STATUSES[number as usize % 4]);
        Pet { id: number * 3, name, category_id, status }
    });
    store.import_pets(pets.collect()).await.unwrap();
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
    let copied = copy(&*from, &*to, |progress| {
        assert!(progress.id <= progress.last && progress.last == 7_500);
        if steps.last() != Some(&progress.step) {
            steps.push(progress.step);
        }
    })
    .await
    .unwrap();
    assert_eq!(steps, [Step::Copying, Step::CheckingSource, Step::CheckingTarget]);
    assert_eq!((copied.pets, copied.keys, copied.before, copied.source_grew), (2_500, 2, 0, false));
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
        // Nothing is left to copy.
        copy(&**from, &**to, |_| {}).await.unwrap();
    }
}

#[tokio::test]
async fn an_empty_store_is_copied() {
    let (source, target) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let copied = copy(&*sqlite(&source).await, &*sqlite(&target).await, |_| {}).await.unwrap();
    assert_eq!((copied.pets, copied.keys), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_copy_can_be_continued() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let source = Sqlite::fresh().await;
    let (from, to) = (sqlite(&source).await, postgres(&target).await);
    fill(&*from, 3_500).await;
    // Panics after the second chunk, which simulates a crash of the process.
    let interrupted = tokio::spawn({
        let (from, to) = (from.clone(), to.clone());
        async move {
            let mut chunks = 0;
            copy(&*from, &*to, |_| {
                chunks += 1;
                assert!(chunks <= 2, "interrupted");
            })
            .await
        }
    });
    assert!(interrupted.await.unwrap_err().is_panic());
    assert_eq!(all(&*to).await.len(), 2_000);
    // Before the copy continues, a key is revoked and an animal is added.
    from.revoke_key("key2", second(77)).await.unwrap();
    add(&*from, "late").await;
    let Copied { pets, before, .. } = copy(&*from, &*to, |_| {}).await.unwrap();
    assert_eq!((pets, before), (3_501, 2_000));
    let again = copy(&*from, &*to, |_| {}).await.unwrap();
    assert_eq!((again.pets, again.before), (3_501, 3_501));
    same(&*from, &*to).await;
}

#[tokio::test]
async fn a_target_with_other_animals_is_rejected_and_unchanged() {
    let (source, target) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&source).await, sqlite(&target).await);
    fill(&*from, 5).await;
    let theirs = add(&*to, "theirs").await;
    let rejected = copy(&*from, &*to, |_| {}).await;
    assert!(matches!(rejected, Err(CopyError::Foreign)), "{rejected:?}");
    assert_eq!(all(&*to).await, [theirs]);
    assert_eq!(to.keys().await.unwrap(), []);
}

#[tokio::test]
async fn a_difference_in_the_middle_of_the_target_is_detected() {
    let (source, target) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&source).await, sqlite(&target).await);
    fill(&*from, 100).await;
    copy(&*from, &*to, |_| {}).await.unwrap();
    target.connection().execute("UPDATE animal SET status = 'sold' WHERE id = 12", []).unwrap();
    let rejected = copy(&*from, &*to, |_| {}).await;
    assert!(matches!(rejected, Err(CopyError::Differs(_))), "{rejected:?}");
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
async fn take_pets_keeps_existing_animals_and_later_identifiers_are_greater() {
    let database = Sqlite::fresh().await;
    check_take(sqlite(&database).await).await;
    let Some(database) = Postgres::try_fresh().await else { return };
    check_take(postgres(&database).await).await;
}

async fn check_take(store: Arc<dyn Transfer>) {
    assert_eq!(store.last_pet().await.unwrap(), None);
    let first = add(&*store, "first").await;
    let other = Pet { id: 1_000_000, ..first.clone() };
    let taken = Pet { category_id: 99, ..first.clone() };
    store.import_pets(vec![other.clone(), taken]).await.unwrap();
    assert_eq!(store.pet(first.id).await.unwrap(), Some(first.clone()));
    assert_eq!(store.last_pet().await.unwrap(), Some(other.clone()));
    let next = join_all((0..10).map(|_| add(&*store, "next"))).await;
    assert!(next.iter().all(|pet| pet.id > other.id));
    // A lower identifier does not set the sequence back.
    store.import_pets(vec![Pet { id: 5, ..first.clone() }]).await.unwrap();
    assert!(add(&*store, "last").await.id > next[9].id);
    // The hash belongs to another key, so nothing changes.
    store.import_key(key(1)).await.unwrap();
    let rejected = store.import_key(KeyRecord { id: "other".to_owned(), ..key(1) }).await;
    assert!(matches!(rejected, Err(StoreError::Broken(_))), "{rejected:?}");
    assert_eq!(store.keys().await.unwrap(), [key(1)]);
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
    a_copy_never_extends_the_life_of_a_key: check_life;
    a_key_that_exists_only_in_part_is_rejected: check_conflict;
    a_copy_of_one_animal_goes_on_numbering: check_one;
    a_copy_of_no_animal_goes_on_numbering: check_none;
    a_copy_of_the_highest_identifier_reports_that_none_is_left: check_highest;
}

async fn check_life(from: Arc<dyn Transfer>, to: Arc<dyn Transfer>) {
    // The ends of a key in the source and in the target, and the earlier one.
    let ends = [
        (None, None, None),
        (Some(5), None, Some(5)),
        (None, Some(5), Some(5)),
        (Some(5), Some(9), Some(5)),
        (Some(9), Some(5), Some(5)),
    ];
    let at = |end: Option<i64>| end.map(second);
    let mut expected = Vec::new();
    for (number, (source, target, earlier)) in (0..).zip(ends) {
        let (expiring, revoked) = (key(2 * number), key(2 * number + 1));
        for (store, end) in [(&from, source), (&to, target)] {
            store.add_key(KeyRecord { expires: at(end), ..expiring.clone() }).await.unwrap();
            store.add_key(KeyRecord { revoked: at(end), ..revoked.clone() }).await.unwrap();
        }
        expected.push(KeyRecord { expires: at(earlier), ..expiring });
        expected.push(KeyRecord { revoked: at(earlier), ..revoked });
    }
    for _ in 0..2 {
        assert_eq!(copy(&*from, &*to, |_| {}).await.unwrap().keys, expected.len());
        assert_eq!(to.keys().await.unwrap(), expected);
    }
}

async fn check_conflict(from: Arc<dyn Transfer>, to: Arc<dyn Transfer>) {
    fill(&*from, 3).await;
    let theirs = KeyRecord { hash: [9; 32], ..key(1) };
    to.add_key(theirs.clone()).await.unwrap();
    let rejected = copy(&*from, &*to, |_| {}).await;
    assert!(matches!(&rejected, Err(CopyError::KeyConflict(id)) if id == "key1"), "{rejected:?}");
    assert_eq!(all(&*to).await, []);
    // The engine rejects it too.
    for other in [key(1), KeyRecord { id: "other".to_owned(), ..theirs.clone() }] {
        let rejected = to.import_key(other).await;
        assert!(matches!(rejected, Err(StoreError::Broken(_))), "{rejected:?}");
        assert_eq!(to.keys().await.unwrap(), std::slice::from_ref(&theirs));
    }
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
    let first = add(&*from, "first").await;
    from.import_pets(vec![Pet { id: i64::MAX, ..first.clone() }]).await.unwrap();
    for before in [0, 2] {
        let copied = copy(&*from, &*to, |_| {}).await.unwrap();
        assert_eq!((copied.pets, copied.before), (2, before));
    }
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
