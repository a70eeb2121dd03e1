//! The metrics of a store, which have the same values for every engine.

use std::time::Duration;

use animal_store::storage::{PetsQuery, Store, StoreError, StoreOptions, open};
use animal_store::telemetry::metrics::Metrics;
use futures::FutureExt as _;
use futures::future::try_join_all;

use crate::conformance::{Engine as _, add, new_pet};
use crate::postgres::{self, Postgres};
use crate::sqlite::{self, Sqlite};
use kit::postgres::Cluster;

/// The metrics page of an operator.
#[derive(Default)]
pub(crate) struct Page(Metrics);

impl Page {
    /// Returns the options with the metrics of this page.
    pub(crate) fn with(&self, options: StoreOptions) -> StoreOptions {
        StoreOptions { metrics: self.0.store.clone(), ..options }
    }

    /// Returns the value of a series; 0 if the page does not contain it.
    pub(crate) fn value(&self, series: &str) -> f64 {
        let page = self.0.encode();
        let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.map_or(0.0, |value| value.parse().unwrap())
    }

    fn errors(&self, system: &str, operation: &str, kind: &str) -> f64 {
        let labels =
            format!(r#"db_system_name="{system}",db_operation_name="{operation}",error_type="{kind}""#);
        self.value(&format!("database_errors_total{{{labels}}}"))
    }

    /// Returns the number of error series.
    fn all_errors(&self) -> usize {
        self.0.encode().lines().filter(|line| line.starts_with("database_errors_total{")).count()
    }

    async fn depth(&self, wanted: f64) {
        let reaching = async {
            while self.value("store_write_queue_depth") != wanted {
                tokio::task::yield_now().await;
            }
        };
        let reached = tokio::time::timeout(Duration::from_secs(60), reaching).await;
        assert!(reached.is_ok(), "the depth is {}", self.value("store_write_queue_depth"));
    }
}

/// While a lock blocks all writes, one write is in progress, 20 fill the queue, and the next is rejected. After
/// `release`, the 20 are committed in one transaction.
async fn queue_and_batches(page: &Page, store: &Store, release: impl AsyncFnOnce()) {
    let mut blocked = store.add_pet(new_pet("blocked", 1, None)).boxed();
    assert!((&mut blocked).now_or_never().is_none());
    let mut adding = vec![blocked];
    page.depth(0.0).await;
    for _ in 0..20 {
        let mut waiting = store.add_pet(new_pet("waiting", 1, None)).boxed();
        assert!((&mut waiting).now_or_never().is_none());
        adding.push(waiting);
    }
    let rejected = store.add_pet(new_pet("too many", 1, None)).now_or_never();
    assert!(matches!(rejected, Some(Err(StoreError::Busy))));
    assert_eq!(page.value("store_write_queue_depth"), 20.0);
    assert_eq!(page.value("store_write_batch_size_count"), 0.0);
    release().await;
    try_join_all(adding).await.unwrap();
    assert_eq!(page.value("store_write_queue_depth"), 0.0);
    assert_eq!(page.value("store_write_batch_size_sum"), 21.0);
    assert_eq!(page.value("store_write_batch_size_count"), 2.0);
    assert_eq!(page.value(r#"store_write_batch_size_bucket{le="1.0"}"#), 1.0);
    assert_eq!(page.value(r#"store_write_batch_size_bucket{le="16.0"}"#), 1.0);
    assert_eq!(page.value(r#"store_write_batch_size_bucket{le="32.0"}"#), 2.0);
    assert_eq!(page.all_errors(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queue_depth_and_batches_are_counted_on_sqlite() {
    let (database, page) = (Sqlite::fresh().await, Page::default());
    let store = database.with(&page.with(StoreOptions { write_queue: 20, ..sqlite::options() })).await;
    let other = database.connection();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    queue_and_batches(&page, &store, async || other.execute_batch("ROLLBACK").unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queue_depth_and_batches_are_counted_on_postgresql() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let page = Page::default();
    let store = database.with(&page.with(StoreOptions { write_queue: 20, ..postgres::options() })).await;
    let other = database.client().await;
    other.batch_execute("BEGIN; LOCK TABLE animal IN EXCLUSIVE MODE").await.unwrap();
    queue_and_batches(&page, &store, async || other.batch_execute("COMMIT").await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_of_sqlite_are_counted_by_operation_and_cause() {
    let (database, page) = (Sqlite::fresh().await, Page::default());
    let lock_timeout = Duration::from_millis(50);
    let store = database.with(&page.with(StoreOptions { lock_timeout, ..sqlite::options() })).await;
    add(&store, "fine").await;
    store.pets(PetsQuery { status: None, after: None, limit: 0 }).await.unwrap_err();
    assert_eq!(page.all_errors(), 0, "an error of the caller was counted");
    let other = database.connection();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for count in [1.0, 2.0] {
        store.add_pet(new_pet("x", 1, None)).await.unwrap_err();
        assert_eq!(page.errors("sqlite", "write", "locked"), count);
    }
    other.execute_batch("ROLLBACK; ALTER TABLE animal RENAME TO gone").unwrap();
    store.pet(1).await.unwrap_err();
    assert_eq!(page.errors("sqlite", "read", "rejected"), 1.0);
    assert_eq!(page.all_errors(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_of_postgresql_are_counted_by_operation_and_cause() {
    let Some(cluster) = Cluster::start() else { return };
    let page = Page::default();
    let lock_timeout = Duration::from_millis(50);
    let options = page.with(StoreOptions { lock_timeout, ..postgres::options() });
    let store = open(&cluster.url("postgres"), &options).await.unwrap();
    add(&store, "fine").await;
    store.pets(PetsQuery { status: None, after: None, limit: 0 }).await.unwrap_err();
    assert_eq!(page.all_errors(), 0, "an error of the caller was counted");
    let other = cluster.client("postgres").await;
    other.batch_execute("BEGIN; LOCK TABLE animal IN EXCLUSIVE MODE").await.unwrap();
    for count in [1.0, 2.0] {
        store.add_pet(new_pet("x", 1, None)).await.unwrap_err();
        // A new connection reaches the lock while it prepares its statements.
        let locked = ["connect", "write"].map(|operation| page.errors("postgresql", operation, "locked"));
        assert_eq!(locked.iter().sum::<f64>(), count);
    }
    let read_only = "ROLLBACK; ALTER DATABASE postgres SET default_transaction_read_only = on; \
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'animal-store'";
    other.batch_execute(read_only).await.unwrap();
    while page.errors("postgresql", "write", "read_only") == 0.0 {
        store.add_pet(new_pet("x", 1, None)).await.unwrap_err();
    }
    cluster.stop();
    // Open connections fail first; after that, connecting fails.
    while page.errors("postgresql", "connect", "unreachable") == 0.0 {
        store.add_pet(new_pet("x", 1, None)).await.unwrap_err();
    }
    while page.errors("postgresql", "read", "unreachable") == 0.0 {
        store.pet(1).await.unwrap_err();
    }
}
