//! Another process holds the write lock of the database.

use std::time::Instant;

use rusqlite::Connection;

use crate::row::{milliseconds, row};
use kit::client::Client;
use kit::ledger::Ledger;
use kit::program::{TIMEOUT, WorkDir};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_holds_the_write_lock() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&[]).await;
    let ledger = Ledger::default();
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    assert_eq!(ledger.add(&mut client).await.unwrap(), 201);

    let other = Connection::open(directory.path("animal-store.db")).unwrap();
    // The service may still store the use of the key.
    other.busy_timeout(TIMEOUT).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = Instant::now();
    assert_eq!(ledger.add(&mut client).await.unwrap(), 503);
    let rejected = start.elapsed();
    let start = Instant::now();
    assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
    let read = start.elapsed();

    // A write that waits for the lock is stored when the lock is released. The timeouts are long, so that a busy
    // machine does not reach them.
    let config = directory.write("store.toml", "lock_timeout = '1m'\nrequest_timeout = '1m'\n");
    let waiting = directory.serve(&["--config", config.to_str().unwrap()]).await;
    let mut client = Client::connect(waiting.direct, &key).await.unwrap();
    let released = async {
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(move || other.execute_batch("COMMIT").unwrap()).await.unwrap();
    };
    let start = Instant::now();
    let (status, ()) = tokio::join!(ledger.add(&mut client), released);
    assert_eq!(status.unwrap(), 201);
    let waited = start.elapsed();

    let compared = ledger.compare(&service.all(&key).await);
    assert_eq!((compared.acknowledged, compared.unknown_and_stored), (2, 0));
    row(
        5,
        "another process holds the write lock",
        &format!(
            "additions 503 after `lock_timeout` ({}); reads 200 ({})",
            milliseconds(rejected),
            milliseconds(read)
        ),
        &format!(
            "a write that waited was stored when the lock was released, {} after it was sent; no rejected write \
             was stored",
            milliseconds(waited)
        ),
    );
    waiting.stop().await;
    service.stop().await;
}
