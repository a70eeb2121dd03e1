//! A disk with I/O errors, and a full disk.

use std::fs;

use kit::Need;
use rustix::process::{Resource, Rlimit, prlimit};
use tokio::process::Command;

use crate::faults::injection::{FailingCalls, SmallDisk};
use crate::row::{milliseconds, row};
use kit::client::Client;
use kit::ledger::Ledger;
use kit::program::{WorkDir, prefix};

const OPERATORS: &[&str] = &["--ops-bind", "127.0.0.1:0"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_file_system_is_not_ready() {
    if !kit::is_installed("strace", "strace") {
        return;
    }
    let directory = WorkDir::new();
    directory.key().await;
    let service = directory.serve(OPERATORS).await;
    // Without requests that write.
    service.wait_for_readiness(200).await;
    let failing = match FailingCalls::inject(service.pid(), "pwrite64,ftruncate:error=EROFS").await {
        Ok(failing) => failing,
        Err(why) => return kit::skip(Need::Tool, &why),
    };
    service.wait_for_readiness(503).await;
    failing.end().await;
    service.wait_for_readiness(200).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fsync_fails() {
    write_error(2, "`fsync` fails (EIO)", "fsync,fdatasync:error=EIO").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writing_to_the_file_fails() {
    write_error(3, "`write` fails (EIO)", "pwrite64:error=EIO").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reading_from_the_file_fails() {
    const FAULT: &str = "`read` fails (EIO)";
    if !kit::is_installed("strace", "strace") {
        return;
    }
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(OPERATORS).await;
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    let failing = match FailingCalls::inject(service.pid(), "pread64:error=EIO").await {
        Ok(failing) => failing,
        Err(why) => return kit::skip(Need::Tool, &why),
    };
    assert_eq!(client.get("/v1/pets").await.unwrap().status, 500);
    failing.end().await;
    assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
    service.wait_for_log("it is damaged, or rejected a statement").await;
    row(
        22,
        FAULT,
        "500; the log says that the database is damaged or its disk cannot be read: SQLite does not tell them apart",
        "reads succeed again after the errors end, without a restart",
    );
    service.stop().await;
}

async fn write_error(order: u8, fault: &str, what: &str) {
    if !kit::is_installed("strace", "strace") {
        return;
    }
    let directory = WorkDir::new();
    let key = directory.key().await;
    let ledger = Ledger::default();
    let service = directory.serve(OPERATORS).await;
    let mut reader = Client::connect(service.direct, &key).await.unwrap();
    let faults = async {
        ledger.acknowledged(100).await;
        let failing = FailingCalls::inject(service.pid(), what).await?;
        ledger.unavailable(50).await;
        assert_eq!(reader.get("/v1/pets").await.unwrap().status, 200);
        service.wait_for_readiness(503).await;
        failing.end().await;
        let fault_ended = std::time::Instant::now();
        ledger.acknowledged(1).await;
        let took = fault_ended.elapsed();
        ledger.acknowledged(100).await;
        service.wait_for_readiness(200).await;
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
        Err(why) => return kit::skip(Need::Tool, &why),
    };
    let before = ledger.compare(&service.all(&key).await);
    service.stop().await;
    let service = directory.serve(&[]).await;
    let after = ledger.compare(&service.all(&key).await);
    assert_eq!(before.unknown_and_stored, after.unknown_and_stored, "the restart changed what is stored");
    row(
        order,
        fault,
        "additions 503 with `Retry-After`, never 201; reads 200",
        &format!(
            "additions succeed again {} after the errors end, without a restart; {} acknowledged, 0 lost; of {} with \
             503 {} were stored",
            milliseconds(took),
            after.acknowledged,
            after.unknown,
            after.unknown_and_stored
        ),
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_on_file_sizes_is_reached() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let ledger = Ledger::default();
    let service = directory.serve(OPERATORS).await;
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    assert_eq!(ledger.add(&mut client).await.unwrap(), 201);
    // The soft limit: the hard one can be raised by root only.
    let limit = |bytes| {
        let before = prlimit(Some(service.pid()), Resource::Fsize, Rlimit { current: bytes, maximum: None });
        before.expect("the limit")
    };
    limit(Some(4096));
    while ledger.add(&mut client).await.unwrap() == 201 {}
    assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
    service.wait_for_readiness(503).await;
    limit(None);
    service.wait_for_readiness(200).await;
    assert_eq!(ledger.add(&mut client).await.unwrap(), 201);
    let compared = ledger.compare(&service.all(&key).await);
    row(
        15,
        "limit on file sizes (SIGXFSZ)",
        "additions 503 with `Retry-After`; reads 200",
        &format!(
            "additions succeed again when the limit is raised, without a restart; {} acknowledged, 0 lost",
            compared.acknowledged
        ),
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_exceeds_the_limit_on_file_sizes_is_an_error() {
    if !kit::is_installed("prlimit", "util-linux") {
        return;
    }
    let directory = WorkDir::new();
    directory.key().await;
    let limited = |command: &mut Command| prefix(command, &["prlimit", "--fsize=32768", "--"]);
    let line = directory.run_changed(&["backup", "kept.db"], limited).await.failure();
    assert!(line.contains("kept.db cannot be written"), "{line}");
    assert!(!directory.path("kept.db").exists());
}

#[tokio::test]
async fn a_read_only_file_system_is_named() {
    let directory = WorkDir::new();
    let mount_point = directory.path("disk");
    fs::create_dir(&mount_point).unwrap();
    let disk = match SmallDisk::mount(&mount_point, SIZE).await {
        Ok(disk) => disk,
        Err(why) => return kit::skip(Need::Tool, &why),
    };
    let enter = |command: &mut Command| disk.enter(command);
    let [database, new] =
        ["animals.db", "new.db"].map(|name| format!("sqlite:{}/{name}", mount_point.display()));
    let create = ["key", "create", "tests", "--database", &database];
    directory.run_changed(&create, enter).await.success();
    disk.make_read_only().await;
    for arguments in [
        &["key", "list", "--database", &database][..],
        &["key", "create", "tests", "--database", &new],
        &["serve", "--database", &database],
        &["backup", "kept.db", "--database", &database],
        &["copy", "--from", &database, "--to", "postgres://u@h/d"],
    ] {
        let line = directory.run_changed(arguments, enter).await.failure();
        assert!(line.contains("is on a read-only file system; mount it for writing"), "{line}");
    }
}

/// A probe of a page would be stored while a batch is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readiness_fails_before_additions_do() {
    const FAULT: &str = "disk with space for a few additions, but not for a batch";
    let directory = WorkDir::new();
    let mount_point = directory.path("disk");
    fs::create_dir(&mount_point).unwrap();
    let disk = match SmallDisk::mount(&mount_point, SIZE).await {
        Ok(disk) => disk,
        Err(why) => return kit::skip(Need::Tool, &why),
    };
    let database = format!("sqlite:{}", mount_point.join("animals.db").display());
    let arguments = [OPERATORS, &["--database", &database]].concat();
    let service = directory.serve_with(&arguments, |command| disk.enter(command)).await;
    let create = ["key", "create", "tests", "--database", &database];
    let key = directory.run_changed(&create, |command| disk.enter(command)).await.success();
    let mut client = Client::connect(service.direct, key.trim_end()).await.unwrap();
    let ledger = Ledger::default();
    service.wait_for_readiness(200).await;
    fs::write(disk.file("filler"), vec![b'x'; SIZE - FREE]).unwrap();
    service.wait_for_unreadiness("its disk is full").await;
    assert_eq!(ledger.add(&mut client).await.unwrap(), 201);
    fs::remove_file(disk.file("filler")).unwrap();
    service.wait_for_readiness(200).await;
    row(18, FAULT, "additions 201 until the disk is full", "`/readyz` is 503 before the first addition is");
    service.stop().await;
}

/// The size of the disk in bytes. Larger than the WAL ever becomes, so that space freed is not used up by it.
const SIZE: usize = 16 * 1024 * 1024;
const FREE: usize = 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_disk_is_full() {
    const FAULT: &str = "disk full, then space is freed";
    let directory = WorkDir::new();
    let mount_point = directory.path("disk");
    fs::create_dir(&mount_point).unwrap();
    let disk = match SmallDisk::mount(&mount_point, SIZE).await {
        Ok(disk) => disk,
        // Without the right to mount, as in most containers, strace makes the system call fail with the same error.
        Err(why) => {
            let fault = format!("{FAULT} (ENOSPC of `write`: {why})");
            return write_error(4, &fault, "pwrite64:error=ENOSPC").await;
        }
    };
    let database = format!("sqlite:{}", mount_point.join("animals.db").display());
    let arguments = [OPERATORS, &["--database", &database]].concat();
    let serve = || directory.serve_with(&arguments, |command| disk.enter(command));
    let key = directory
        .run_changed(&["key", "create", "tests", "--database", &database], |command| disk.enter(command))
        .await
        .success();
    let key = key.trim_end();

    let filler = disk.file("filler");
    fs::write(&filler, vec![b'x'; SIZE - FREE]).unwrap();
    let ledger = Ledger::default();
    let service = serve().await;
    let mut reader = Client::connect(service.direct, key).await.unwrap();
    let faults = async {
        ledger.unavailable(20).await;
        assert_eq!(reader.get("/v1/pets").await.unwrap().status, 200);
        service.wait_for_readiness(503).await;
        fs::remove_file(&filler).unwrap();
        let space = std::time::Instant::now();
        ledger.acknowledged(1).await;
        let took = space.elapsed();
        ledger.acknowledged(100).await;
        service.wait_for_readiness(200).await;
        ledger.stop();
        took
    };
    let (_, took) = tokio::join!(ledger.write(8, service.direct, key), faults);
    let before = ledger.compare(&service.all(key).await);
    service.stop().await;
    let service = serve().await;
    let after = ledger.compare(&service.all(key).await);
    assert_eq!(before.unknown_and_stored, after.unknown_and_stored, "the restart changed what is stored");
    row(
        4,
        FAULT,
        "additions 503 with `Retry-After`; reads 200",
        &format!(
            "additions succeed again {} after space is freed, without a restart; {} acknowledged, 0 lost; of {} with 503 \
             {} were stored",
            milliseconds(took),
            after.acknowledged,
            after.unknown,
            after.unknown_and_stored
        ),
    );
    service.stop().await;

    fs::write(disk.file("filler"), vec![b'x'; 2 * SIZE]).unwrap_err();
    let line = directory
        .run_changed(&["serve", "--bind", "127.0.0.1:0", "--database", &database], |command| {
            disk.enter(command)
        })
        .await
        .failure();
    assert!(line.contains("free some space"), "{line}");
    fs::remove_file(disk.file("filler")).unwrap();
    let service = serve().await;
    ledger.compare(&service.all(key).await);
    service.stop().await;
}
