//! Copying a store to another engine.

use std::sync::Arc;
use std::time::Duration;

use animal_store::schemas::{NewPet, Pet, PetStatus};
use animal_store::storage::copy::{Chunk, Copied, CopyError, Progress, Step, Transfer, copy};
use animal_store::storage::{
    AddedOnce, KeyRecord, Migrate, PetsQuery, Store, StoreError, StoreOptions, discard_copy, open,
    open_for_copy,
};
use futures::future::join_all;
use tokio::runtime::Handle;
use uuid::Uuid;

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
async fn import(store: &dyn Transfer, pets: Vec<Pet>) {
    let copy = Uuid::new_v4();
    assert!(store.begin_copy(copy).await.unwrap());
    assert!(store.import(copy, Chunk::Pets(pets)).await.unwrap());
    assert!(store.finish_copy(copy).await.unwrap());
}

/// Adds animals with every status and with gaps between their identifiers, and two keys.
async fn fill(store: &dyn Transfer, count: i64) {
    let pets = (1..=count).map(|number| {
        let NewPet { name, category_id, status } =
            new_pet(&format!("n°{number} 🦔"), -number, STATUSES[number as usize % 4]);
        Pet { id: number * 3, name, category_id, status }
    });
    import(store, pets.collect()).await;
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
    assert_eq!(steps, [Step::Copying, Step::Checking]);
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
        let mut chunks = 0;
        copy(&*from, &*to, |_| {
            chunks += 1;
            assert!(chunks <= 2, "interrupted");
        })
        .await
    });
    assert!(copying.await.unwrap_err().is_panic());
}

/// Checks that an interrupted copy to the database at `url` is not opened, and can be discarded.
async fn check_interrupted(url: &str, options: &StoreOptions, others: &str) {
    let source = Sqlite::fresh().await;
    let from = sqlite(&source).await;
    fill(&*from, 3_500).await;
    let to = open_for_copy(url, options).await.unwrap();
    interrupted(&from, &to).await;
    assert_eq!(all(&*to).await.len(), 2_000);
    let again = copy(&*from, &*to, |_| {}).await;
    assert!(matches!(again, Err(CopyError::NotEmpty)), "{again:?}");
    to.close().await;
    for migrate in [Migrate::Apply, Migrate::Never] {
        let line = open(url, &StoreOptions { migrate, ..options.clone() }).await.err().expect("an error");
        assert!(line.to_string().contains("contains an interrupted copy; empty it with"), "{line}");
    }
    discard_copy(url, options).await.unwrap();
    let line = discard_copy(url, options).await.unwrap_err().to_string();
    assert!(line.contains("does not contain an interrupted copy"), "{line}");
    let line = discard_copy(others, options).await.unwrap_err().to_string();
    assert!(!line.contains("interrupted") || line.contains("does not contain"), "{line}");

    let to = open_for_copy(url, options).await.unwrap();
    assert_eq!((all(&*to).await, to.keys().await.unwrap()), (vec![], vec![]));
    assert_eq!(copy(&*from, &*to, |_| {}).await.unwrap().pets, 3_500);
    same(&*from, &*to).await;
    to.close().await;
    open(url, options).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_copy_to_sqlite_is_refused_and_can_be_discarded() {
    let (target, other) = (Sqlite::fresh().await, Sqlite::fresh().await);
    other.connection().execute_batch("CREATE TABLE other (id)").unwrap();
    check_interrupted(&target.url(), &options(), &other.url()).await;
    let tables: i64 =
        other.connection().query_row("SELECT count(*) FROM other", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_copy_to_postgresql_is_refused_and_can_be_discarded() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let Some(other) = Postgres::try_fresh().await else { return };
    other.client().await.batch_execute("CREATE TABLE animal (id bigint)").await.unwrap();
    check_interrupted(&target.url(), &postgres::options(), &other.url()).await;
}

#[tokio::test]
async fn a_copy_that_was_completed_before_a_crash_is_opened() {
    let (source, target, crashed) = (Sqlite::fresh().await, Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&source).await, sqlite(&target).await);
    fill(&*from, 10).await;
    let copy = Uuid::new_v4();
    assert!(to.begin_copy(copy).await.unwrap());
    // The header of the file has the mark, and its end is only in the log.
    target.connection().execute_batch("PRAGMA wal_checkpoint(PASSIVE)").unwrap();
    assert!(to.finish_copy(copy).await.unwrap());
    crashed.take_files_of(&target);
    assert_eq!(all(&*crashed.open().await).await, []);
}

#[tokio::test]
async fn a_target_in_use_is_not_discarded() {
    let target = Sqlite::fresh().await;
    let to = sqlite(&target).await;
    let copy = Uuid::new_v4();
    assert!(to.begin_copy(copy).await.unwrap());
    let short = StoreOptions { lock_timeout: Duration::from_millis(50), ..options() };
    let line = discard_copy(&target.url(), &short).await.unwrap_err().to_string();
    assert!(line.contains("is locked by another process"), "{line}");
    assert!(to.finish_copy(copy).await.unwrap());
    assert!(!to.finish_copy(copy).await.unwrap());
}

/// Discards a copy to PostgreSQL at this step of it, and does something more. Returns the error of the copy.
async fn discarded(
    target: &Postgres,
    at: Step,
    then: impl Fn(&Handle) + Send + Sync,
) -> Result<Copied, CopyError> {
    let source = Sqlite::fresh().await;
    let (from, to) = (sqlite(&source).await, postgres(target).await);
    fill(&*from, 2_500).await;
    let mut is_discarded = false;
    let copied = copy(&*from, &*to, |progress| {
        if progress.step == at && progress.id > 0 && !is_discarded {
            is_discarded = true;
            let runtime = Handle::current();
            let (url, options) = (target.url(), postgres::options());
            tokio::task::block_in_place(|| runtime.block_on(discard_copy(&url, &options))).unwrap();
            tokio::task::block_in_place(|| then(&runtime));
        }
    })
    .await;
    to.close().await;
    copied
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_is_discarded_while_it_runs_leaves_an_empty_database() {
    for step in [Step::Copying, Step::Checking] {
        let Some(target) = Postgres::try_fresh().await else { return };
        let copied = discarded(&target, step, |_| {}).await;
        let message = copied.unwrap_err().to_string();
        assert!(message.contains("another process discarded the copy"), "{step:?}: {message}");
        let to = postgres(&target).await;
        assert_eq!((all(&*to).await, to.keys().await.unwrap()), (vec![], vec![]), "{step:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_is_discarded_while_it_runs_leaves_the_next_one_unchanged() {
    let Some(target) = Postgres::try_fresh().await else { return };
    let to = postgres(&target).await;
    let copy = Uuid::new_v4();
    let begin_next = |runtime: &Handle| assert!(runtime.block_on(to.begin_copy(copy)).unwrap());
    let copied = discarded(&target, Step::Copying, begin_next).await;
    assert!(matches!(copied, Err(CopyError::Discarded)), "{copied:?}");
    assert_eq!(all(&*to).await, []);
    for chunk in [Chunk::Pets(vec![]), Chunk::IdempotencyKeys(vec![]), Chunk::Keys(vec![])] {
        assert!(!to.import(Uuid::new_v4(), chunk.clone()).await.unwrap());
        assert!(to.import(copy, chunk).await.unwrap());
    }
    assert!(!to.finish_copy(Uuid::new_v4()).await.unwrap());
    assert!(to.finish_copy(copy).await.unwrap());
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
            assert!(!to.finish_copy(Uuid::new_v4()).await.unwrap(), "it was marked");
        }
        assert_eq!((all(&*pair[0]).await, pair[0].keys().await.unwrap()), (vec![theirs], vec![]));
        assert_eq!((all(&*pair[1]).await, pair[1].keys().await.unwrap()), (vec![], vec![key(7)]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_difference_in_the_target_is_detected() {
    let (source, target) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&source).await, sqlite(&target).await);
    fill(&*from, 100).await;
    let change = |progress: Progress| {
        if progress.id == progress.last {
            target.connection().execute("UPDATE animal SET status = 'sold' WHERE id = 12", []).unwrap();
        }
    };
    let rejected = copy(&*from, &*to, change).await;
    assert!(matches!(rejected, Err(CopyError::Differs(_))), "{rejected:?}");
    to.close().await;
    let line = open(&target.url(), &options()).await.err().expect("an error").to_string();
    assert!(line.contains("contains an interrupted copy"), "{line}");
}

/// The source may be in use, and checking a large copy takes long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_revoked_during_the_copy_is_revoked_in_the_target() {
    let (source, target) = (Sqlite::fresh().await, Sqlite::fresh().await);
    let (from, to) = (sqlite(&source).await, sqlite(&target).await);
    fill(&*from, 10).await;
    let meanwhile = |progress: Progress| {
        if progress.step == Step::Checking {
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
    let copy = Uuid::new_v4();
    assert!(store.begin_copy(copy).await.unwrap());
    let import = async |pets| store.import(copy, Chunk::Pets(pets)).await;
    assert_eq!(store.last_pet().await.unwrap(), None);
    let first = add(&*store, "first").await;
    let other = Pet { id: 1_000_000, ..first.clone() };
    assert!(import(vec![other.clone()]).await.unwrap());
    assert_eq!(store.last_pet().await.unwrap(), Some(other.clone()));
    // One of them exists, so none is stored.
    let existing = Pet { category_id: 99, ..first.clone() };
    let rejected = import(vec![Pet { id: 7, ..first.clone() }, existing]).await;
    assert!(matches!(rejected, Err(StoreError::Broken(_))), "{rejected:?}");
    assert_eq!(all(&*store).await, [first.clone(), other.clone()]);
    let next = join_all((0..10).map(|_| add(&*store, "next"))).await;
    assert!(next.iter().all(|pet| pet.id > other.id));
    // A lower identifier does not set the sequence back.
    assert!(import(vec![Pet { id: 5, ..first.clone() }]).await.unwrap());
    assert!(add(&*store, "last").await.id > next[9].id);
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
    import(&*from, pets.to_vec()).await;
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
