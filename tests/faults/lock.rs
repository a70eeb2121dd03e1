//! Another process that holds the write lock and does not let go.

use std::time::Instant;

use rusqlite::Connection;

use crate::client::Client;
use crate::ledger::Ledger;
use crate::program::Place;
use crate::row::{alone, milliseconds, row};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_holds_the_write_lock() {
    let _turn = alone().await;
    let place = Place::new();
    let key = place.key().await;
    let service = place.serve(&[]).await;
    let ledger = Ledger::default();
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    assert_eq!(ledger.add(&mut client).await.unwrap(), 201);

    let other = Connection::open(place.path("animal-store.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = Instant::now();
    assert_eq!(ledger.add(&mut client).await.unwrap(), 503);
    let refused = start.elapsed();
    let start = Instant::now();
    assert_eq!(client.get("/v1/pets").await.unwrap().status, 200);
    let read = start.elapsed();

    // A write that waits when the lock is released is stored at once. Its service waits for longer than a
    // busy machine takes.
    let config = place.write("store.toml", "lock_timeout = '1m'\nrequest_timeout = '1m'\n");
    let patient = place.serve(&["--config", config.to_str().unwrap()]).await;
    let mut client = Client::connect(patient.direct, &key).await.unwrap();
    let released = async {
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(move || other.execute_batch("COMMIT").unwrap()).await.unwrap();
    };
    let start = Instant::now();
    let (status, ()) = tokio::join!(ledger.add(&mut client), released);
    assert_eq!(status.unwrap(), 201);
    let waited = start.elapsed();

    let compared = ledger.compare(&service.all(&key).await);
    assert_eq!((compared.acknowledged, compared.open_and_stored), (2, 0));
    row(
        5,
        "another process holds the write lock",
        &format!(
            "additions 503 after `lock_timeout` ({}); reads 200 ({})",
            milliseconds(refused),
            milliseconds(read)
        ),
        &format!(
            "what waited when the lock was let go was stored, {} after it was sent; nothing that was refused \
             was stored",
            milliseconds(waited)
        ),
    );
    patient.stop().await;
    service.stop().await;
}
