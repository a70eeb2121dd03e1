//! Moving a store to another engine.

use std::sync::Arc;

use animal_store::schemas::{NewPet, Pet, PetStatus};
use animal_store::storage::copy::{Copied, CopyError, Step, Transfer, copy};
use animal_store::storage::{KeyRecord, PetsQuery, Store, StoreError, open_for_copy};
use futures::future::join_all;
use tokio::runtime::Handle;

use crate::battery::{Engine as _, add, key, new_pet, second};
use crate::postgres::{self, Postgres};
use crate::sqlite::{Sqlite, options};

const STATUSES: [Option<PetStatus>; 4] =
    [None, Some(PetStatus::Available), Some(PetStatus::Pending), Some(PetStatus::Sold)];

async fn sqlite(place: &Sqlite) -> Arc<dyn Transfer> {
    open_for_copy(&place.url(), &options()).await.unwrap()
}

async fn postgres(place: &Postgres) -> Arc<dyn Transfer> {
    open_for_copy(&place.url(), &postgres::options()).await.unwrap()
}

/// Animals of all kinds with gaps between their identifiers, and keys.
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

/// Demands that two stores hold the same, and that the second goes on behind it.
async fn same(from: &dyn Transfer, to: &dyn Transfer) {
    let animals = all(from).await;
    assert_eq!(all(to).await, animals);
    assert_eq!(to.keys().await.unwrap(), from.keys().await.unwrap());
    assert!(add(to, "next").await.id > animals.last().map_or(0, |pet| pet.id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_sqlite_to_postgresql_and_back() {
    let Some(there) = Postgres::try_fresh().await else { return };
    let (here, back) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to, back) = (sqlite(&here).await, postgres(&there).await, sqlite(&back).await);
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

#[tokio::test]
async fn an_empty_store_is_copied() {
    let (here, there) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let copied = copy(&*sqlite(&here).await, &*sqlite(&there).await, |_| {}).await.unwrap();
    assert_eq!((copied.pets, copied.keys), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_copy_goes_on() {
    let Some(there) = Postgres::try_fresh().await else { return };
    let here = Sqlite::fresh().await;
    let (from, to) = (sqlite(&here).await, postgres(&there).await);
    fill(&*from, 3_500).await;
    // Dies after the second chunk, as the process might.
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
    // Meanwhile a key is revoked and animals are added.
    from.revoke_key("key2", second(77)).await.unwrap();
    add(&*from, "late").await;
    let Copied { pets, before, .. } = copy(&*from, &*to, |_| {}).await.unwrap();
    assert_eq!((pets, before), (3_501, 2_000));
    let again = copy(&*from, &*to, |_| {}).await.unwrap();
    assert_eq!((again.pets, again.before), (3_501, 3_501));
    same(&*from, &*to).await;
}

#[tokio::test]
async fn a_target_with_other_animals_is_refused_untouched() {
    let (here, there) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&here).await, sqlite(&there).await);
    fill(&*from, 5).await;
    let theirs = add(&*to, "theirs").await;
    let refused = copy(&*from, &*to, |_| {}).await;
    assert!(matches!(refused, Err(CopyError::Foreign)), "{refused:?}");
    assert_eq!(all(&*to).await, [theirs]);
    assert_eq!(to.keys().await.unwrap(), []);
}

#[tokio::test]
async fn a_target_that_differs_in_the_middle_is_found_out() {
    let (here, there) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&here).await, sqlite(&there).await);
    fill(&*from, 100).await;
    copy(&*from, &*to, |_| {}).await.unwrap();
    there.connection().execute("UPDATE animal SET status = 'sold' WHERE id = 12", []).unwrap();
    let refused = copy(&*from, &*to, |_| {}).await;
    assert!(matches!(refused, Err(CopyError::Differs(_))), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_grows_is_said_to() {
    let (here, there) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&here).await, sqlite(&there).await);
    fill(&*from, 10).await;
    let meanwhile = |_| {
        tokio::task::block_in_place(|| Handle::current().block_on(add(&*from, "meanwhile")));
    };
    let copied = copy(&*from, &*to, meanwhile).await.unwrap();
    assert!(copied.source_grew);
    assert_eq!(copied.pets, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn importing_skips_existing_animals_and_advances_the_identifiers() {
    let place = Sqlite::fresh().await;
    takes(sqlite(&place).await).await;
    let Some(place) = Postgres::try_fresh().await else { return };
    takes(postgres(&place).await).await;
}

async fn takes(store: Arc<dyn Transfer>) {
    assert_eq!(store.last_pet().await.unwrap(), None);
    let first = add(&*store, "first").await;
    let other = Pet { id: 1_000_000, ..first.clone() };
    let taken = Pet { category_id: 99, ..first.clone() };
    store.import_pets(vec![other.clone(), taken]).await.unwrap();
    assert_eq!(store.pet(first.id).await.unwrap(), Some(first.clone()));
    assert_eq!(store.last_pet().await.unwrap(), Some(other.clone()));
    let next = join_all((0..10).map(|_| add(&*store, "next"))).await;
    assert!(next.iter().all(|pet| pet.id > other.id));
    // Lower ones do not take the numbers back.
    store.import_pets(vec![Pet { id: 5, ..first.clone() }]).await.unwrap();
    assert!(add(&*store, "last").await.id > next[9].id);
    // A hash is another key's: nothing changes.
    store.import_key(key(1)).await.unwrap();
    let refused = store.import_key(KeyRecord { id: "other".to_owned(), ..key(1) }).await;
    assert!(matches!(refused, Err(StoreError::Broken(_))), "{refused:?}");
    assert_eq!(store.keys().await.unwrap(), [key(1)]);
}
