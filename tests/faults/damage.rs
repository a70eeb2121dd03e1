//! A database with damage in it, and one that was cut short.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::client::Client;
use crate::program::Place;
use crate::row::{alone, row};

const PAGE: u64 = 4096;

/// A database of some pages, closed.
async fn filled() -> (Place, String, Vec<serde_json::Value>) {
    let place = Place::new();
    let key = place.key().await;
    let service = place.serve(&[]).await;
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    for number in 0..400 {
        let body = format!(r#"{{"name":"animal {number} {}","categoryId":{number}}}"#, "r".repeat(200));
        assert_eq!(client.post(&body).await.unwrap().status, 201);
    }
    let all = service.all(&key).await;
    service.stop().await;
    (place, key, all)
}

fn overwrite(path: &Path, from: u64, bytes: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&vec![0xa5; usize::try_from(bytes).unwrap()], from).unwrap();
}

/// The program refuses to start, in one line, and leaves the file as it was.
async fn refuses(place: &Place) -> String {
    let before = fs::read(place.path("animal-store.db")).unwrap();
    let line = place.run(&["serve", "--bind", "127.0.0.1:0"]).await.failed();
    assert!(fs::read(place.path("animal-store.db")).unwrap() == before, "the file was changed");
    line.replace(&*place.path("").to_string_lossy(), "").replace('|', "\\|")
}

#[tokio::test]
async fn the_database_is_damaged() {
    let _turn = alone().await;
    let (place, ..) = filled().await;
    let path = place.path("animal-store.db");
    let pages = fs::metadata(&path).unwrap().len() / PAGE;
    overwrite(&path, pages / 2 * PAGE, 2 * PAGE);
    let line = refuses(&place).await;
    assert!(line.contains("is damaged"), "{line}");
    row(
        6,
        "a damaged database, at start",
        "nothing: it does not start",
        &format!("``{line}``; the file is untouched"),
    );
}

#[tokio::test]
async fn the_database_is_truncated() {
    let _turn = alone().await;
    let (place, ..) = filled().await;
    let path = place.path("animal-store.db");
    let length = fs::metadata(&path).unwrap().len();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2 + 100).unwrap();
    let line = refuses(&place).await;
    assert!(line.contains("is damaged"), "{line}");
    // Within the header there is nothing left to know it by.
    OpenOptions::new().write(true).open(&path).unwrap().set_len(60).unwrap();
    let header = refuses(&place).await;
    assert!(header.contains("is not an SQLite database"), "{header}");
    row(
        7,
        "a truncated database, at start",
        "nothing: it does not start",
        &format!("``{line}``; the file is untouched"),
    );
}

/// Damage that comes while the service runs: what cannot be read is a 500 and never an invented animal.
#[tokio::test]
async fn the_database_is_damaged_while_it_is_served() {
    let _turn = alone().await;
    let (place, key, all) = filled().await;
    let service = place.serve(&[]).await;
    let path = place.path("animal-store.db");
    let pages = fs::metadata(&path).unwrap().len() / PAGE;
    overwrite(&path, pages / 2 * PAGE, (pages - pages / 2) * PAGE);
    let (mut right, mut failed) = (0, 0);
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    for pet in &all {
        let answer = client.get(&format!("/v1/pets/{}", pet["id"])).await.unwrap();
        if answer.status == 200 {
            assert_eq!(&answer.json(), pet);
            right += 1;
        } else {
            answer.refused(500, "internal");
            failed += 1;
        }
    }
    assert!(right > 0 && failed > 0, "{right} and {failed}");
    service.stop().await;
    let line = refuses(&place).await;
    assert!(line.contains("is damaged"), "{line}");
    row(
        8,
        "half of the database overwritten while it is served",
        &format!("{right} of {} animals as they were, {failed} 500; none invented", all.len()),
        "stops when told to; the next start refuses the file in one line",
    );
}
