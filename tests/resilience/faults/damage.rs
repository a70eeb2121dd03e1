//! A damaged database, and a truncated one.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::Connection;

use crate::row::row;
use kit::client::Client;
use kit::program::WorkDir;

const PAGE: u64 = 4096;

/// Returns a closed database with 400 animals, an API key and the animals.
async fn filled() -> (WorkDir, String, Vec<serde_json::Value>) {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&[]).await;
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    for number in 0..400 {
        let body = format!(r#"{{"name":"animal {number} {}","categoryId":{number}}}"#, "r".repeat(200));
        assert_eq!(client.post(&body).await.unwrap().status, 201);
    }
    let all = service.all(&key).await;
    service.stop().await;
    // A service that stops on a busy disk leaves a WAL.
    let file = Connection::open(directory.path("animal-store.db")).unwrap();
    let busy: i64 = file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert_eq!(busy, 0);
    (directory, key, all)
}

fn overwrite(path: &Path, from: u64, bytes: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&vec![0xa5; usize::try_from(bytes).unwrap()], from).unwrap();
}

/// Checks that `serve` exits with an error of one line and does not change the database. Returns that line.
async fn startup_error(directory: &WorkDir) -> String {
    let before = fs::read(directory.path("animal-store.db")).unwrap();
    let line = directory.run(&["serve", "--bind", "127.0.0.1:0"]).await.failure();
    assert!(fs::read(directory.path("animal-store.db")).unwrap() == before, "the file was changed");
    line.replace(&*directory.path("").to_string_lossy(), "").replace('|', "\\|")
}

#[tokio::test]
async fn the_database_is_damaged() {
    let (directory, ..) = filled().await;
    let path = directory.path("animal-store.db");
    let pages = fs::metadata(&path).unwrap().len() / PAGE;
    overwrite(&path, pages / 2 * PAGE, 2 * PAGE);
    let line = startup_error(&directory).await;
    assert!(line.contains("is damaged"), "{line}");
    row(
        6,
        "a damaged database, at start",
        "the service does not start",
        &format!("``{line}``; the file is unchanged"),
    );
}

#[tokio::test]
async fn the_database_is_truncated() {
    let (directory, ..) = filled().await;
    let path = directory.path("animal-store.db");
    let length = fs::metadata(&path).unwrap().len();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2 + 100).unwrap();
    let line = startup_error(&directory).await;
    assert!(line.contains("is damaged"), "{line}");
    // Shorter than the header of 100 bytes that identifies an SQLite database.
    OpenOptions::new().write(true).open(&path).unwrap().set_len(60).unwrap();
    let header = startup_error(&directory).await;
    assert!(header.contains("is not an SQLite database"), "{header}");
    row(
        7,
        "a truncated database, at start",
        "the service does not start",
        &format!("``{line}``; the file is unchanged"),
    );
}

/// An animal that cannot be read is a 500. A response never contains a wrong animal.
#[tokio::test]
async fn the_database_is_damaged_while_it_is_served() {
    let (directory, key, all) = filled().await;
    let service = directory.serve(&[]).await;
    let path = directory.path("animal-store.db");
    let pages = fs::metadata(&path).unwrap().len() / PAGE;
    overwrite(&path, pages / 2 * PAGE, (pages - pages / 2) * PAGE);
    let (mut right, mut failed) = (0, 0);
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    for pet in &all {
        let response = client.get(&format!("/v1/pets/{}", pet["id"])).await.unwrap();
        if response.status == 200 {
            assert_eq!(&response.json(), pet);
            right += 1;
        } else {
            response.expect_error(500, "internal");
            failed += 1;
        }
    }
    assert!(right > 0 && failed > 0, "{right} and {failed}");
    service.stop().await;
    let line = startup_error(&directory).await;
    assert!(line.contains("is damaged"), "{line}");
    row(
        8,
        "half of the database overwritten while it is served",
        &format!("{right} of {} animals unchanged, {failed} times 500; none wrong", all.len()),
        "stops on SIGTERM; the next start rejects the file with an error of one line",
    );
}
