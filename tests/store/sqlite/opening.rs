//! What is opened, what is refused, and that what is refused stays as it was.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use animal_store::schemas::PetStatus;
use animal_store::storage::{PetsQuery, StoreOptions, open};

use super::{Sqlite, options};
use crate::battery::{Engine as _, add, key, new_pet};

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };
const MIGRATIONS: [&str; 3] = [
    include_str!("../../../src/storage/sqlite/0001_animals.sql"),
    include_str!("../../../src/storage/sqlite/0002_api_keys.sql"),
    include_str!("../../../src/storage/sqlite/0003_secret.sql"),
];

const NEWEST: i32 = MIGRATIONS.len() as i32;

/// Every file of a directory with its bytes.
fn contents(directory: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let files = fs::read_dir(directory).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect()
}

/// Demands that the database is refused in one line that has its path and `words`, and that nothing in its
/// directory changes.
async fn refused_untouched(place: &Sqlite, words: &str) {
    let before = contents(place.0.path());
    let short = StoreOptions { lock_timeout: Duration::from_millis(50), ..options() };
    let line = open(&place.url(), &short).await.err().expect("must be refused").to_string();
    assert!(line.contains(words), "{line}");
    assert!(line.starts_with(place.path().to_str().unwrap()), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(contents(place.0.path()) == before, "the directory changed: {line}");
}

/// A closed store with enough animals to have some pages.
async fn filled() -> Sqlite {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    let name = "long ".repeat(40);
    let adding = (0..500).map(|_| store.add_pet(new_pet(&name, 1, Some(PetStatus::Sold))));
    assert!(futures::future::join_all(adding).await.iter().all(Result::is_ok));
    store.add_key(key(1)).await.unwrap();
    store.close().await;
    place
}

#[tokio::test]
async fn an_absent_file_is_made_and_belongs_to_its_owner_alone() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    add(&*store, "first").await;
    for file in fs::read_dir(place.0.path()).unwrap().map(Result::unwrap) {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[tokio::test]
async fn an_empty_file_becomes_a_database() {
    let place = Sqlite::fresh().await;
    fs::write(place.path(), "").unwrap();
    let store = place.open().await;
    assert_eq!(add(&*store, "first").await.id, 1);
}

#[tokio::test]
async fn closing_leaves_one_file() {
    let place = filled().await;
    assert_eq!(contents(place.0.path()).len(), 1);
}

#[tokio::test]
async fn names_that_mean_something_to_sqlite_are_files() {
    let place = Sqlite::fresh().await;
    for name in [":memory:", "file:a?mode=memory", "a%41b#c?d", "späce ship", "\u{1f994}"] {
        let directory = place.0.path().join("file:");
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(name);
        let url = format!("sqlite:{}", path.to_str().unwrap());
        let store = open(&url, &options()).await.unwrap();
        let pet = add(&*store, "kept").await;
        store.close().await;
        assert!(fs::metadata(&path).unwrap().len() > 0, "{name}");
        assert_eq!(open(&url, &options()).await.unwrap().pet(pet.id).await.unwrap(), Some(pet), "{name}");
    }
}

#[tokio::test]
async fn a_symbolic_link_is_followed() {
    let place = filled().await;
    let link = place.0.path().join("link");
    std::os::unix::fs::symlink("animals.db", &link).unwrap();
    let store = open(&format!("sqlite:{}", link.to_str().unwrap()), &options()).await.unwrap();
    assert_eq!(store.keys().await.unwrap(), [key(1)]);
    let other = place.open().await;
    let pet = add(&*other, "through the other name").await;
    assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
}

#[tokio::test]
async fn other_files_are_refused() {
    let place = Sqlite::fresh().await;
    for bytes in [b"x".to_vec(), b"SQLite format 3\0".to_vec(), vec![0; 100], vec![b'y'; 100_000]] {
        fs::write(place.path(), bytes).unwrap();
        refused_untouched(&place, "is not an SQLite database").await;
    }
}

#[tokio::test]
async fn the_database_of_another_program_is_refused() {
    for preparation in [
        "CREATE TABLE theirs (x)",
        "PRAGMA journal_mode = WAL; CREATE TABLE animal (id INTEGER PRIMARY KEY)",
        "PRAGMA application_id = 252006673; PRAGMA user_version = 1; CREATE TABLE theirs (x)",
        "PRAGMA user_version = 3; VACUUM",
    ] {
        let place = Sqlite::fresh().await;
        place.connection().execute_batch(preparation).unwrap();
        refused_untouched(&place, "of another program").await;
    }
}

#[tokio::test]
async fn another_program_with_an_open_log_is_left_alone() {
    let place = Sqlite::fresh().await;
    let theirs = place.connection();
    theirs.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)").unwrap();
    assert!(contents(place.0.path()).len() > 1);
    refused_untouched(&place, "of another program").await;
    theirs.execute_batch("INSERT INTO theirs VALUES (1)").unwrap();
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let place = filled().await;
    place.connection().pragma_update(None, "user_version", NEWEST + 1).unwrap();
    refused_untouched(&place, "by a newer release").await;
}

#[tokio::test]
async fn a_newer_database_is_rejected_by_its_log() {
    let place = filled().await;
    let newer = place.connection();
    newer.pragma_update(None, "user_version", NEWEST + 1).unwrap();
    // As after a crash: the header of the file still has the old number.
    let crashed = Sqlite::fresh().await;
    for name in ["animals.db", "animals.db-wal"] {
        fs::copy(place.0.path().join(name), crashed.0.path().join(name)).unwrap();
    }
    let files =
        || ["animals.db", "animals.db-wal"].map(|name| fs::read(crashed.0.path().join(name)).unwrap());
    let before = files();
    let line = open(&crashed.url(), &options()).await.err().unwrap().to_string();
    assert!(line.contains("by a newer release"), "{line}");
    assert!(files() == before);
}

#[tokio::test]
async fn a_file_cut_short_is_refused() {
    let place = filled().await;
    let whole = fs::read(place.path()).unwrap();
    for length in [whole.len() - 1, whole.len() - 4096, whole.len() / 2, 4096, 512, 101] {
        fs::write(place.path(), &whole[..length]).unwrap();
        refused_untouched(&place, "is damaged").await;
    }
    fs::write(place.path(), &whole).unwrap();
    assert_eq!(place.open().await.keys().await.unwrap(), [key(1)]);
}

#[tokio::test]
async fn a_file_cut_short_under_its_log_is_refused() {
    let place = filled().await;
    let store = place.open().await;
    add(&*store, "in the log").await;
    let crashed = Sqlite::fresh().await;
    let log = "animals.db-wal";
    fs::copy(place.0.path().join(log), crashed.0.path().join(log)).unwrap();
    let whole = fs::read(place.path()).unwrap();
    fs::write(crashed.path(), &whole[..whole.len() / 2]).unwrap();
    let line = open(&crashed.url(), &options()).await.err().unwrap().to_string();
    assert!(line.contains("it has only"), "{line}");
    assert!(fs::read(crashed.path()).unwrap() == whole[..whole.len() / 2]);
}

#[tokio::test]
async fn damaged_pages_are_refused() {
    let place = filled().await;
    let whole = fs::read(place.path()).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 20);
    let mut refused = 0;
    for page in 1..pages {
        fs::write(place.path(), &whole).unwrap();
        let file = fs::OpenOptions::new().write(true).open(place.path()).unwrap();
        file.write_all_at(&[0xff; 4096], page as u64 * 4096).unwrap();
        refused_untouched(&place, "is damaged").await;
        refused += 1;
    }
    assert_eq!(refused, pages - 1);
}

#[tokio::test]
async fn a_path_that_is_not_a_file_is_rejected() {
    let place = Sqlite::fresh().await;
    fs::create_dir(place.path()).unwrap();
    let line = open(&place.url(), &options()).await.err().unwrap().to_string();
    assert!(line.contains("is a directory"), "{line}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);

    let line = open("sqlite:/dev/null", &options()).await.err().unwrap().to_string();
    assert!(line.contains("is not a regular file"), "{line}");
}

#[tokio::test]
async fn a_place_that_cannot_be_is_refused() {
    let place = Sqlite::fresh().await;
    let nowhere = place.0.path().join("missing/animals.db");
    let line = open(&format!("sqlite:{}", nowhere.display()), &options()).await.err().unwrap().to_string();
    assert!(line.contains("create the directory first"), "{line}");
    assert!(contents(place.0.path()).is_empty());

    fs::write(place.path(), "").unwrap();
    let below = place.path().join("animals.db");
    let line = open(&format!("sqlite:{}", below.display()), &options()).await.err().unwrap().to_string();
    assert!(line.contains("cannot be opened"), "{line}");

    let line = open("sqlite:/proc/version", &options()).await.err().unwrap().to_string();
    assert!(line.starts_with("/proc/version "), "{line}");
    for url in ["", "sqlite:", "animals.db", "mysql:x"] {
        let line = open(url, &options()).await.err().unwrap().to_string();
        assert!(line.contains("sqlite:PATH"), "{line}");
    }
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_refused() {
    let place = filled().await;
    let mut permissions = fs::metadata(place.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(place.path(), permissions).unwrap();
    // The superuser may write all the same.
    if fs::OpenOptions::new().write(true).open(place.path()).is_err() {
        refused_untouched(&place, "cannot be read and written").await;
    } else {
        assert_eq!(place.open().await.keys().await.unwrap(), [key(1)]);
    }
}

#[tokio::test]
async fn a_locked_file_is_refused() {
    let place = filled().await;
    let theirs = place.connection();
    theirs.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let short = StoreOptions { lock_timeout: Duration::from_millis(50), ..options() };
    let line = open(&place.url(), &short).await.err().unwrap().to_string();
    assert!(line.contains("is locked by another process"), "{line}");
    drop(theirs);
    assert_eq!(place.open().await.keys().await.unwrap(), [key(1)]);
}

#[tokio::test]
async fn a_write_lock_does_not_keep_a_store_from_opening() {
    let place = filled().await;
    let theirs = place.connection();
    theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(place.open().await.keys().await.unwrap(), [key(1)]);
}

#[tokio::test]
async fn older_databases_are_brought_up_to_date() {
    for applied in 1..MIGRATIONS.len() {
        let place = Sqlite::fresh().await;
        let older = place.connection();
        for sql in &MIGRATIONS[..applied] {
            older.execute_batch(sql).unwrap();
        }
        older.pragma_update(None, "application_id", 0x416e_6d6c).unwrap();
        older.pragma_update(None, "user_version", applied as i32).unwrap();
        older
            .execute_batch("INSERT INTO animal (name, category_id, status) VALUES ('old', 7, 'sold')")
            .unwrap();
        drop(older);

        let store = place.open().await;
        let animals = store.pets(ALL).await.unwrap().pets;
        assert_eq!(animals.len(), 1);
        assert_eq!((animals[0].name.as_str(), animals[0].category_id), ("old", 7));
        store.add_key(key(1)).await.unwrap();
        assert!(add(&*store, "new").await.id > animals[0].id);
        let secret = store.secret();
        store.close().await;

        let version: i32 =
            place.connection().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, NEWEST);
        assert_eq!(place.open().await.secret(), secret);
    }
}

#[tokio::test]
async fn a_crash_at_any_point_of_the_making_leaves_something_that_opens() {
    // What a crash leaves is a prefix of what was done: no file, an empty one, or whole steps.
    let place = Sqlite::fresh().await;
    let half = place.connection();
    half.execute_batch("BEGIN IMMEDIATE; PRAGMA application_id = 1097756012;").unwrap();
    half.execute_batch(MIGRATIONS[0]).unwrap();
    drop(half);
    assert_eq!(add(&*place.open().await, "first").await.id, 1);
}
