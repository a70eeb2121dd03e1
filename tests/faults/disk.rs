//! A disk that fails, and one that is full.

use std::fs;

use crate::client::Client;
use crate::ledger::Ledger;
use crate::program::Place;
use crate::row::{alone, milliseconds, row};
use crate::tools::{Failing, SmallDisk, has, leave_out};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fsync_fails() {
    let _turn = alone().await;
    fails(2, "`fsync` fails (EIO)", "fsync,fdatasync:error=EIO").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writing_to_the_file_fails() {
    let _turn = alone().await;
    fails(3, "`write` fails (EIO)", "pwrite64:error=EIO").await;
}

async fn fails(place_in_table: u8, fault: &str, what: &str) {
    if !has("strace").await {
        return leave_out(place_in_table, fault, "strace is not installed");
    }
    let place = Place::new();
    let key = place.key().await;
    let ledger = Ledger::default();
    let service = place.serve(&[]).await;
    let mut reader = Client::connect(service.direct, &key).await.unwrap();
    let faults = async {
        ledger.acknowledged(100).await;
        let failing = Failing::inject(service.pid(), what).await?;
        ledger.unavailable(50).await;
        assert_eq!(reader.get("/v1/pets").await.unwrap().status, 200);
        failing.heal().await;
        let healed = std::time::Instant::now();
        ledger.acknowledged(1).await;
        let took = healed.elapsed();
        ledger.acknowledged(100).await;
        Ok(took)
    };
    let faults = async {
        let outcome: Result<_, String> = faults.await;
        ledger.stop();
        outcome
    };
    let (_, outcome) = tokio::join!(ledger.write(8, service.direct, &key), faults);
    let took = match outcome {
        Ok(took) => took,
        Err(why) => return leave_out(place_in_table, fault, &why),
    };
    let before = ledger.compare(&service.all(&key).await);
    service.stop().await;
    let service = place.serve(&[]).await;
    let after = ledger.compare(&service.all(&key).await);
    assert_eq!(before.open_and_stored, after.open_and_stored, "the restart changed what is stored");
    row(
        place_in_table,
        fault,
        "additions 503 with `Retry-After`, never 201; reads 200",
        &format!(
            "additions again {} after the disk is well, by itself; {} acknowledged, 0 lost; of {} answered \
             503 {} were stored",
            milliseconds(took),
            after.acknowledged,
            after.open,
            after.open_and_stored
        ),
    );
    service.stop().await;
}

/// The size of the small disk: more than the log of SQLite ever takes, so that space is space for good.
const SIZE: usize = 16 * 1024 * 1024;
const LEFT: usize = 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_disk_is_full() {
    const FAULT: &str = "disk full, and space again";
    let _turn = alone().await;
    let place = Place::new();
    let directory = place.path("disk");
    fs::create_dir(&directory).unwrap();
    let disk = match SmallDisk::mount(&directory, SIZE).await {
        Ok(disk) => disk,
        // Where nobody may mount one, as in most containers, the system call is made to say the same.
        Err(why) => {
            let fault = format!("{FAULT} (ENOSPC of `write`: {why})");
            return fails(4, &fault, "pwrite64:error=ENOSPC").await;
        }
    };
    let database = format!("sqlite:{}", directory.join("animals.db").display());
    let arguments = ["--database", &database];
    let serve = || place.serve_with(&arguments, |command| disk.enter(command));
    let key = place
        .run_changed(&["key", "create", "tests", "--database", &database], |command| disk.enter(command))
        .await
        .printed();
    let key = key.trim_end();

    let filler = disk.file("filler");
    fs::write(&filler, vec![b'x'; SIZE - LEFT]).unwrap();
    let ledger = Ledger::default();
    let service = serve().await;
    let mut reader = Client::connect(service.direct, key).await.unwrap();
    let faults = async {
        ledger.unavailable(20).await;
        assert_eq!(reader.get("/v1/pets").await.unwrap().status, 200);
        fs::remove_file(&filler).unwrap();
        let space = std::time::Instant::now();
        ledger.acknowledged(1).await;
        let took = space.elapsed();
        ledger.acknowledged(100).await;
        ledger.stop();
        took
    };
    let (_, took) = tokio::join!(ledger.write(8, service.direct, key), faults);
    let before = ledger.compare(&service.all(key).await);
    service.stop().await;
    let service = serve().await;
    let after = ledger.compare(&service.all(key).await);
    assert_eq!(before.open_and_stored, after.open_and_stored, "the restart changed what is stored");
    row(
        4,
        FAULT,
        "additions 503 with `Retry-After`; reads 200",
        &format!(
            "additions again {} after there is room, by itself; {} acknowledged, 0 lost; of {} answered 503 \
             {} were stored",
            milliseconds(took),
            after.acknowledged,
            after.open,
            after.open_and_stored
        ),
    );
    service.stop().await;

    fs::write(disk.file("filler"), vec![b'x'; 2 * SIZE]).unwrap_err();
    let refused = place
        .run_changed(&["serve", "--bind", "127.0.0.1:0", "--database", &database], |command| {
            disk.enter(command)
        })
        .await
        .failed();
    assert!(refused.contains("free some space"), "{refused}");
    fs::remove_file(disk.file("filler")).unwrap();
    let service = serve().await;
    ledger.compare(&service.all(key).await);
    service.stop().await;
}
