//! A copy of a store that is in use.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use animal_store::storage::sqlite::backup;
use animal_store::storage::{PetsQuery, open};
use futures::future::join_all;

use super::{Sqlite, options};
use crate::battery::{Engine as _, add, key, new_pet};

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };
const WAIT: Duration = Duration::from_secs(2);

/// The names in the directory of a database.
fn names(place: &Sqlite) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(place.0.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_contains_every_write_acknowledged_before_it() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    store.add_key(key(1)).await.unwrap();
    let before = join_all((0..500).map(|_| store.add_pet(new_pet("before", 1, None)))).await;
    let before = before.into_iter().map(|pet| pet.unwrap().id).max().unwrap();
    let load = tokio::spawn({
        let store = store.clone();
        async move {
            for _ in 0..50 {
                join_all((0..20).map(|_| add(&*store, "meanwhile"))).await;
            }
        }
    });
    let file = place.0.path().join("backup.db");
    backup(&place.path(), &file, WAIT).unwrap();
    load.await.unwrap();

    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let copy = open(&format!("sqlite:{}", file.display()), &options()).await.unwrap();
    assert_eq!(copy.secret(), store.secret());
    assert_eq!(copy.keys().await.unwrap(), [key(1)]);
    // What is in it is a beginning of what is in the store.
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
    assert_eq!(add(&*copy, "next").await.id, last + 1);
}

#[tokio::test]
async fn an_existing_file_is_not_overwritten() {
    let place = Sqlite::fresh().await;
    let store = place.open().await;
    add(&*store, "x").await;
    // Otherwise its log goes at some time later.
    store.close().await;
    let file = place.0.path().join("backup.db");
    fs::write(&file, "precious").unwrap();
    for taken in [&file, &place.path()] {
        let before = (names(&place), fs::read(taken).unwrap());
        let line = backup(&place.path(), taken, WAIT).unwrap_err().to_string();
        assert!(line.contains("exists; choose") && line.starts_with(taken.to_str().unwrap()), "{line}");
        assert!((names(&place), fs::read(taken).unwrap()) == before);
    }
}

#[tokio::test]
async fn a_failed_backup_leaves_no_file() {
    let place = Sqlite::fresh().await;
    let target = place.0.path().join("backup.db");
    let refused = |from: &Path, to: &Path| {
        let line = backup(from, to, WAIT).unwrap_err().to_string();
        assert_eq!(line.lines().count(), 1, "{line}");
        line
    };
    assert!(refused(&place.path(), &target).contains("animals.db cannot be opened"));
    assert_eq!(names(&place), [""; 0]);
    fs::write(place.path(), "something else, and long enough to have a header of an SQLite file, which is 100 bytes, if it were one").unwrap();
    assert!(refused(&place.path(), &target).contains("is not an SQLite database"));
    assert_eq!(names(&place), ["animals.db"]);
    fs::remove_file(place.path()).unwrap();
    place.open().await.close().await;
    assert!(refused(&place.path(), &place.0.path().join("no/such")).contains("does not exist"));
    assert_eq!(names(&place), ["animals.db"]);
}
