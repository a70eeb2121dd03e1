//! Backup of a store in use.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use animal_store::storage::sqlite::backup;
use animal_store::storage::{PetsQuery, open};
use futures::future::join_all;

use super::{Sqlite, options};
use crate::conformance::{Engine as _, add, key, new_pet};

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };
const WAIT: Duration = Duration::from_secs(2);

/// Returns the names of the files in the directory of a database.
fn names(database: &Sqlite) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(database.0.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_has_all_earlier_writes() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    store.add_key(key(1)).await.unwrap();
    let before = join_all((0..500).map(|_| store.add_pet(new_pet("before", 1, None)))).await;
    let before = before.into_iter().map(|pet| pet.unwrap().id).max().unwrap();
    let load = tokio::spawn({
        let store = store.clone();
        async move {
            for _ in 0..50 {
                join_all((0..20).map(|_| add(&store, "meanwhile"))).await;
            }
        }
    });
    let file = database.0.path().join("backup.db");
    backup(&database.path(), &file, WAIT, &Arc::default()).unwrap();
    load.await.unwrap();

    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let copy = open(&format!("sqlite:{}", file.display()), &options()).await.unwrap();
    assert_eq!(copy.secret(), store.secret());
    assert_eq!(copy.keys().await.unwrap(), [key(1)]);
    // The backup contains a prefix of the animals in the store.
    let (mut after, mut last) = (None, 0);
    loop {
        let page = copy.pets(PetsQuery { after, ..ALL }).await.unwrap();
        let same =
            store.pets(PetsQuery { after, limit: page.pets.len().max(1) as u32, ..ALL }).await.unwrap();
        assert_eq!(page.pets, same.pets);
        last = page.pets.last().map_or(last, |pet| pet.id);
        after = Some(last);
        if !page.more {
            break;
        }
    }
    assert!(last >= before);
    assert_eq!(add(&copy, "next").await.id, last + 1);
}

#[tokio::test]
async fn an_existing_file_is_not_overwritten() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    add(&store, "x").await;
    // Closes the store now, because closing removes its WAL.
    store.close().await;
    let file = database.0.path().join("backup.db");
    fs::write(&file, "precious").unwrap();
    for taken in [&file, &database.path()] {
        let before = (names(&database), fs::read(taken).unwrap());
        let line = backup(&database.path(), taken, WAIT, &Arc::default()).unwrap_err().to_string();
        assert!(line.contains("exists; choose") && line.starts_with(taken.to_str().unwrap()), "{line}");
        assert!((names(&database), fs::read(taken).unwrap()) == before);
    }
}

#[tokio::test]
async fn a_failed_backup_creates_no_file() {
    let database = Sqlite::fresh().await;
    let target = database.0.path().join("backup.db");
    let rejected = |from: &Path, to: &Path| {
        let line = backup(from, to, WAIT, &Arc::default()).unwrap_err().to_string();
        assert_eq!(line.lines().count(), 1, "{line}");
        line
    };
    assert!(rejected(&database.path(), &target).contains("animals.db does not exist; check the path"));
    assert_eq!(names(&database), [""; 0]);
    // Longer than the header of an SQLite file, which has 100 bytes.
    fs::write(database.path(), "not an SQLite database".repeat(5)).unwrap();
    assert!(rejected(&database.path(), &target).contains("is not an SQLite database"));
    assert_eq!(names(&database), ["animals.db"]);
    fs::remove_file(database.path()).unwrap();
    database.open().await.close().await;
    assert!(rejected(&database.path(), &database.0.path().join("no/such")).contains("does not exist"));
    assert_eq!(names(&database), ["animals.db"]);
}

/// The size to which the WAL is truncated.
const MAX_WAL: u64 = 16 << 20;

#[tokio::test]
async fn a_long_wal_is_copied_and_truncated_by_the_next_writes() {
    let database = Sqlite::fresh().await;
    let store = database.open().await;
    let wal = || fs::metadata(database.0.path().join("animals.db-wal")).unwrap().len();
    // The state after a backup, which reads one snapshot: the WAL could not be checkpointed.
    let other = database.connection();
    other.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    let sql = "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < ?1) \
         INSERT INTO animal (name, category) SELECT hex(zeroblob(120)), n FROM n";
    other.execute(sql, [if kit::is_long() { 480_000 } else { 100_000 }]).unwrap();
    println!("a WAL of {} bytes", wal());
    assert!(wal() > MAX_WAL);
    // The first one starts the checkpoint, the second one restarts the WAL.
    for name in ["first", "second"] {
        let start = Instant::now();
        add(&store, name).await;
        println!("the {name} write: {:?}", start.elapsed());
    }
    assert_eq!(wal(), MAX_WAL);
}
