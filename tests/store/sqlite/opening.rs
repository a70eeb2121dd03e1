//! Opening databases: creation, migrations, and errors of one line that change nothing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use animal_store::schemas::PetStatus;
use animal_store::storage::sqlite::backup;
use animal_store::storage::{KeyRecord, Migrate, PetsQuery, StoreOptions, open};
use rusqlite::functions::FunctionFlags;

use super::{Sqlite, options};
use crate::conformance::{Engine as _, add, key, new_pet, second};
use crate::messages::Messages;

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };
const MIGRATIONS: [&str; 9] = [
    include_str!("../../../src/storage/sqlite/0001_animals.sql"),
    include_str!("../../../src/storage/sqlite/0002_api_keys.sql"),
    include_str!("../../../src/storage/sqlite/0003_secret.sql"),
    include_str!("../../../src/storage/sqlite/0004_key_use.sql"),
    include_str!("../../../src/storage/sqlite/0005_status_check.sql"),
    include_str!("../../../src/storage/sqlite/0006_idempotency_keys.sql"),
    include_str!("../../../src/storage/sqlite/0007_idempotency_hash.sql"),
    include_str!("../../../src/storage/sqlite/0008_status_page.sql"),
    include_str!("../../../src/storage/sqlite/0009_responses.sql"),
];

const NEWEST: i32 = MIGRATIONS.len() as i32;

/// Returns every file of a directory with its content.
fn contents(directory: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let files = fs::read_dir(directory).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect()
}

/// Checks that opening the database fails with one line that has its path and `text`, and that no file in its directory
/// changes.
async fn rejected_and_unchanged(database: &Sqlite, text: &str) {
    let before = contents(database.0.path());
    let short = StoreOptions { lock_timeout: Duration::from_millis(50), ..options() };
    let line = open(&database.url(), &short).await.err().expect("an error").to_string();
    assert!(line.contains(text), "{line}");
    assert!(line.starts_with(database.path().to_str().unwrap()), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(contents(database.0.path()) == before, "the directory changed: {line}");
}

/// Returns a closed database of several pages.
async fn filled() -> Sqlite {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    let name = "long ".repeat(40);
    let adding = (0..500).map(|_| store.add_pet(new_pet(&name, 1, Some(PetStatus::Sold))));
    assert!(futures::future::join_all(adding).await.iter().all(Result::is_ok));
    store.add_key(key(1)).await.unwrap();
    store.close().await;
    database
}

#[tokio::test]
async fn a_new_file_is_accessible_only_to_its_owner() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    add(&store, "first").await;
    for file in fs::read_dir(database.0.path()).unwrap().map(Result::unwrap) {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[tokio::test]
async fn an_empty_file_becomes_a_database() {
    let database = Sqlite::fresh().await;
    fs::write(database.path(), "").unwrap();
    let store = database.open().await;
    assert_eq!(add(&store, "first").await.id, 1);
}

#[tokio::test]
async fn closing_leaves_one_file() {
    let database = filled().await;
    assert_eq!(contents(database.0.path()).len(), 1);
}

#[tokio::test]
async fn names_with_a_special_meaning_in_sqlite_are_files() {
    let database = Sqlite::fresh().await;
    for name in [":memory:", "file:a?mode=memory", "a%41b#c?d", "späce ship", "\u{1f994}"] {
        let directory = database.0.path().join("file:");
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(name);
        let url = format!("sqlite:{}", path.to_str().unwrap());
        let store = open(&url, &options()).await.unwrap();
        let pet = add(&store, "kept").await;
        store.close().await;
        assert!(fs::metadata(&path).unwrap().len() > 0, "{name}");
        assert_eq!(open(&url, &options()).await.unwrap().pet(pet.id).await.unwrap(), Some(pet), "{name}");
    }
}

#[tokio::test]
async fn a_symbolic_link_is_followed() {
    let database = filled().await;
    let link = database.0.path().join("link");
    std::os::unix::fs::symlink("animals.db", &link).unwrap();
    let store = open(&format!("sqlite:{}", link.to_str().unwrap()), &options()).await.unwrap();
    assert_eq!(store.keys().await.unwrap(), [key(1)]);
    let other = database.open().await;
    let pet = add(&other, "through the other name").await;
    assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
}

#[tokio::test]
async fn a_symbolic_link_that_leads_elsewhere_is_noticed() {
    let (database, other) = (filled().await, filled().await);
    let link = database.0.path().join("link");
    let lead_to = |target: &Path| {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).unwrap();
    };
    lead_to(&database.path());
    let store = open(&format!("sqlite:{}", link.to_str().unwrap()), &options()).await.unwrap();
    store.check_ready().await.unwrap();
    lead_to(&other.path());
    let errors = [
        store.check_ready().await.unwrap_err(),
        store.add_pet(new_pet("lost", 1, None)).await.unwrap_err(),
        store.key_by_hash(&key(1).hash).await.unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("its file link was replaced or removed"), "{error}");
    }
    lead_to(&database.path());
    store.check_ready().await.unwrap();
    add(&store, "kept").await;
}

#[tokio::test]
async fn other_files_are_rejected() {
    let database = Sqlite::fresh().await;
    for bytes in [b"x".to_vec(), b"SQLite format 3\0".to_vec(), vec![0; 100], vec![b'y'; 100_000]] {
        fs::write(database.path(), bytes).unwrap();
        rejected_and_unchanged(&database, "is not an SQLite database").await;
    }
}

#[tokio::test]
async fn the_database_of_another_program_is_rejected() {
    for preparation in [
        "CREATE TABLE other (x)",
        "PRAGMA journal_mode = WAL; CREATE TABLE animal (id INTEGER PRIMARY KEY)",
        "PRAGMA application_id = 252006673; PRAGMA user_version = 1; CREATE TABLE other (x)",
        "PRAGMA user_version = 3; VACUUM",
    ] {
        let database = Sqlite::fresh().await;
        database.connection().execute_batch(preparation).unwrap();
        rejected_and_unchanged(&database, "of another program").await;
    }
}

#[tokio::test]
async fn the_open_wal_of_another_program_is_unchanged() {
    let database = Sqlite::fresh().await;
    let other = database.connection();
    other.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE other (x)").unwrap();
    // All but the memory that connections share, in which a reader notes its snapshot.
    let files =
        || ["animals.db", "animals.db-wal"].map(|name| fs::read(database.0.path().join(name)).unwrap());
    let before = files();
    let line = open(&database.url(), &options()).await.err().unwrap().to_string();
    assert!(line.contains("of another program"), "{line}");
    assert!(files() == before);
    other.execute_batch("INSERT INTO other VALUES (1)").unwrap();
    drop(other);
    // The state after a crash.
    let crashed = Sqlite::fresh().await;
    for (name, bytes) in ["animals.db", "animals.db-wal"].iter().zip(&before) {
        fs::write(crashed.0.path().join(name), bytes).unwrap();
    }
    let line = open(&crashed.url(), &options()).await.err().unwrap().to_string();
    assert!(line.contains("of another program"), "{line}");
    let after = ["animals.db", "animals.db-wal"].map(|name| fs::read(crashed.0.path().join(name)).unwrap());
    assert!(after == before);
}

#[tokio::test]
async fn a_database_with_another_schema_is_rejected() {
    for (change, text) in [
        ("CREATE TRIGGER late AFTER INSERT ON animal BEGIN DELETE FROM animal; END", "has a trigger `late`"),
        ("DROP TABLE secret", "has no table `secret`"),
        ("DROP INDEX animal_by_status", "has no index `animal_by_status`"),
        ("ALTER TABLE animal ADD COLUMN weight INTEGER", "has another table `animal`"),
    ] {
        let database = filled().await;
        database.connection().execute_batch(change).unwrap();
        rejected_and_unchanged(&database, text).await;
    }
    for applied in 1..MIGRATIONS.len() {
        let database = older(applied).await;
        database.connection().execute_batch("ALTER TABLE animal ADD COLUMN weight INTEGER").unwrap();
        rejected_and_unchanged(&database, "has another table `animal`").await;
    }
}

#[tokio::test]
async fn a_trigger_that_is_added_later_does_nothing() {
    let database = filled().await;
    let store = database.open().await;
    let trigger = "CREATE TRIGGER back AFTER UPDATE ON api_key WHEN new.revoked IS NOT NULL
         BEGIN UPDATE api_key SET revoked = NULL WHERE id = new.id; END";
    database.connection().execute_batch(trigger).unwrap();
    assert!(store.revoke_key("key1", second(5)).await.unwrap());
    assert_eq!(store.keys().await.unwrap()[0].revoked, Some(second(5)));
}

#[tokio::test]
async fn a_newer_database_is_rejected() {
    let database = filled().await;
    database.connection().pragma_update(None, "user_version", NEWEST + 1).unwrap();
    rejected_and_unchanged(&database, "by a newer release").await;
}

#[tokio::test]
async fn a_newer_version_that_is_only_in_the_wal_is_rejected() {
    let database = filled().await;
    let newer = database.connection();
    newer.pragma_update(None, "user_version", NEWEST + 1).unwrap();
    // The state after a crash: the header of the file has the old version.
    let crashed = Sqlite::fresh().await;
    for name in ["animals.db", "animals.db-wal"] {
        fs::copy(database.0.path().join(name), crashed.0.path().join(name)).unwrap();
    }
    let files =
        || ["animals.db", "animals.db-wal"].map(|name| fs::read(crashed.0.path().join(name)).unwrap());
    let before = files();
    let line = open(&crashed.url(), &options()).await.err().unwrap().to_string();
    assert!(line.contains("by a newer release"), "{line}");
    assert!(files() == before);
}

#[tokio::test]
async fn a_truncated_file_is_rejected() {
    let database = filled().await;
    let whole = fs::read(database.path()).unwrap();
    for length in [whole.len() - 1, whole.len() - 4096, whole.len() / 2, 4096, 512, 101] {
        fs::write(database.path(), &whole[..length]).unwrap();
        rejected_and_unchanged(&database, "is damaged").await;
    }
    fs::write(database.path(), &whole).unwrap();
    assert_eq!(database.open().await.keys().await.unwrap(), [key(1)]);
}

#[tokio::test]
async fn a_truncated_file_with_a_wal_is_rejected() {
    let database = filled().await;
    let store = database.open().await;
    add(&store, "in the WAL").await;
    let crashed = Sqlite::fresh().await;
    let wal = "animals.db-wal";
    fs::copy(database.0.path().join(wal), crashed.0.path().join(wal)).unwrap();
    let whole = fs::read(database.path()).unwrap();
    fs::write(crashed.path(), &whole[..whole.len() / 2]).unwrap();
    let line = open(&crashed.url(), &options()).await.err().unwrap().to_string();
    assert!(line.contains("it has only"), "{line}");
    assert!(fs::read(crashed.path()).unwrap() == whole[..whole.len() / 2]);
}

#[tokio::test]
async fn damaged_pages_are_rejected() {
    let database = filled().await;
    let whole = fs::read(database.path()).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 20);
    let mut rejected = 0;
    for page in 1..pages {
        fs::write(database.path(), &whole).unwrap();
        let file = fs::OpenOptions::new().write(true).open(database.path()).unwrap();
        file.write_all_at(&[0xff; 4096], page as u64 * 4096).unwrap();
        rejected_and_unchanged(&database, "is damaged").await;
        rejected += 1;
    }
    assert_eq!(rejected, pages - 1);
}

#[tokio::test]
async fn directories_and_devices_are_rejected() {
    let database = Sqlite::fresh().await;
    fs::create_dir(database.path()).unwrap();
    let line = open(&database.url(), &options()).await.err().unwrap().to_string();
    assert!(line.contains("is a directory"), "{line}");
    assert_eq!(fs::read_dir(database.path()).unwrap().count(), 0);

    let line = open("sqlite:/dev/null", &options()).await.err().unwrap().to_string();
    assert!(line.contains("is not a regular file"), "{line}");
}

#[tokio::test]
async fn an_invalid_path_is_rejected() {
    let database = Sqlite::fresh().await;
    let nowhere = database.0.path().join("missing/animals.db");
    let line = open(&format!("sqlite:{}", nowhere.display()), &options()).await.err().unwrap().to_string();
    assert!(line.contains("create the directory first"), "{line}");
    assert!(contents(database.0.path()).is_empty());

    fs::write(database.path(), "").unwrap();
    let below = database.path().join("animals.db");
    let line = open(&format!("sqlite:{}", below.display()), &options()).await.err().unwrap().to_string();
    assert!(line.contains("cannot be read and written"), "{line}");

    let line = open("sqlite:/proc/version", &options()).await.err().unwrap().to_string();
    assert!(line.starts_with("/proc/version "), "{line}");
    for url in ["", "sqlite:", "animals.db", "mysql:x"] {
        let line = open(url, &options()).await.err().unwrap().to_string();
        assert!(line.contains("sqlite:PATH"), "{line}");
    }
}

#[tokio::test]
async fn a_read_only_file_is_rejected() {
    let database = filled().await;
    let mut permissions = fs::metadata(database.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(database.path(), permissions).unwrap();
    // File permissions do not apply to root.
    if fs::OpenOptions::new().write(true).open(database.path()).is_err() {
        rejected_and_unchanged(&database, "cannot be read and written").await;
    } else {
        assert_eq!(database.open().await.keys().await.unwrap(), [key(1)]);
    }
}

#[tokio::test]
async fn a_locked_file_is_rejected() {
    let database = filled().await;
    let other = database.connection();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let short = StoreOptions { lock_timeout: Duration::from_millis(50), ..options() };
    let line = open(&database.url(), &short).await.err().unwrap().to_string();
    assert!(line.contains("is locked by another process"), "{line}");
    drop(other);
    assert_eq!(database.open().await.keys().await.unwrap(), [key(1)]);
}

#[tokio::test]
async fn a_store_can_be_opened_during_a_write_lock() {
    let database = filled().await;
    let other = database.connection();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(database.open().await.keys().await.unwrap(), [key(1)]);
}

/// Returns a database with an animal, to which only the first migrations were applied.
pub(super) async fn older(applied: usize) -> Sqlite {
    let database = Sqlite::fresh().await;
    let older = database.connection();
    // There are no keys to hash.
    older.create_scalar_function("idempotency_hash", 2, FunctionFlags::SQLITE_UTF8, |_| Ok(0)).unwrap();
    for sql in &MIGRATIONS[..applied] {
        older.execute_batch(sql).unwrap();
    }
    older.pragma_update(None, "application_id", 0x416e_6d6c).unwrap();
    older.pragma_update(None, "user_version", applied as i32).unwrap();
    older.execute_batch("INSERT INTO animal (name, category_id, status) VALUES ('old', 7, 'sold')").unwrap();
    if applied > 1 {
        let key = "INSERT INTO api_key (id, name, hash, created, expires, revoked) \
             VALUES ('key9', 'a key', zeroblob(32), 9, 10, NULL)";
        older.execute_batch(key).unwrap();
    }
    database
}

#[tokio::test]
async fn older_databases_are_migrated() {
    for applied in 1..MIGRATIONS.len() {
        let database = older(applied).await;
        let messages = Messages::default();
        let store = database.with(&StoreOptions { log: messages.log(), ..options() }).await;
        assert!(messages.contain("upgraded the database"));
        let animals = store.pets(ALL).await.unwrap().pets;
        assert_eq!(animals.len(), 1);
        assert_eq!((animals[0].name.as_str(), animals[0].category_id), ("old", 7));
        let old = KeyRecord { hash: [0; 32], expires: Some(second(10)), ..key(9) };
        assert_eq!(store.keys().await.unwrap(), if applied > 1 { vec![old] } else { vec![] });
        store.add_key(key(1)).await.unwrap();
        assert!(add(&store, "new").await.id > animals[0].id);
        let secret = store.secret();
        store.close().await;

        let connection = database.connection();
        let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, NEWEST);
        let programs: Vec<(i32, String)> = connection
            .prepare("SELECT number, program FROM migration ORDER BY number")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let expected: Vec<_> =
            (applied as i32 + 1..=NEWEST).map(|number| (number, "1.2.3".to_owned())).collect();
        assert_eq!(programs, expected);
        assert_eq!(database.open().await.secret(), secret);
    }
}

#[tokio::test]
async fn a_command_that_only_reads_changes_no_older_database() {
    let never = StoreOptions { migrate: Migrate::Never, ..options() };
    for applied in 1..MIGRATIONS.len() {
        let database = older(applied).await;
        let before = contents(database.0.path());
        let line = open(&database.url(), &never).await.err().expect("an error").to_string();
        for text in [&format!("format {applied} of an older release"), "`animal-store serve`"] {
            assert!(line.contains(text), "{line}");
        }
        assert!(contents(database.0.path()) == before);
        let copy = database.0.path().join("copy.db");
        backup(&database.path(), &copy, Duration::from_secs(2), &Arc::default()).unwrap();
        fs::remove_file(copy).unwrap();
        assert!(contents(database.0.path()) == before);
    }
    let database = Sqlite::fresh().await;
    let line = open(&database.url(), &never).await.err().unwrap().to_string();
    assert!(line.contains("does not exist"), "{line}");
    assert!(contents(database.0.path()).is_empty());
    fs::write(database.path(), "").unwrap();
    let line = open(&database.url(), &never).await.err().unwrap().to_string();
    assert!(line.contains("is empty"), "{line}");
    assert_eq!(fs::metadata(database.path()).unwrap().len(), 0);

    let current = filled().await;
    assert_eq!(open(&current.url(), &never).await.unwrap().keys().await.unwrap(), [key(1)]);
}

#[tokio::test]
async fn a_newer_database_names_the_release_to_use() {
    let database = filled().await;
    database.connection().pragma_update(None, "user_version", NEWEST + 2).unwrap();
    rejected_and_unchanged(&database, &format!("up to {NEWEST}); use that release")).await;
    let sql = "INSERT INTO migration (number, program) VALUES (?1 + 1, '1.3.0'), (?1 + 2, '2.0.0')";
    database.connection().execute(sql, [NEWEST]).unwrap();
    rejected_and_unchanged(&database, "use release 2.0.0 or a later one").await;
}

#[tokio::test]
async fn a_database_can_be_opened_after_a_crash_during_its_creation() {
    // A crash leaves no file, an empty file, or complete migrations; here the transaction of a migration is lost.
    let database = Sqlite::fresh().await;
    let incomplete = database.connection();
    incomplete.execute_batch("BEGIN IMMEDIATE; PRAGMA application_id = 1097756012;").unwrap();
    incomplete.execute_batch(MIGRATIONS[0]).unwrap();
    drop(incomplete);
    assert_eq!(add(&*database.open().await, "first").await.id, 1);
}
