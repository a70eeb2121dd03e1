//! What a store counts, with the same values for every engine.

use std::time::Duration;

use animal_store::storage::{Store, StoreError, StoreOptions, open};
use animal_store::telemetry::metrics::Metrics;
use futures::FutureExt as _;
use futures::future::try_join_all;

use crate::battery::{Engine as _, add, key, new_pet};
use crate::postgres::{self, Postgres};
use crate::postgres_cluster::Cluster;
use crate::sqlite::{self, Sqlite};

/// What an operator reads.
#[derive(Default)]
pub(crate) struct Page(Metrics);

impl Page {
    /// The options, with the counts on this page.
    pub(crate) fn with(&self, options: StoreOptions) -> StoreOptions {
        StoreOptions { metrics: self.0.store().clone(), ..options }
    }

    /// The value of a series, as it is written on the page; 0 if it is not there.
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

    /// All errors, of whatever kind.
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

/// While nothing can be written: `writers` take a write each, 20 more wait, and no more can. Once it can be,
/// the 20 are committed together.
///
/// # Errors
/// What became of a write that the store gave up on before `release`.
async fn queue_and_batches(
    page: &Page,
    store: &dyn Store,
    writers: usize,
    release: impl AsyncFnOnce(),
) -> Result<(), StoreError> {
    let mut adding = Vec::new();
    for _ in 0..writers {
        let mut blocked = store.add_pet(new_pet("blocked", 1, None));
        assert!((&mut blocked).now_or_never().is_none());
        adding.push(blocked);
        page.depth(0.0).await;
    }
    for _ in 0..20 {
        let mut waiting = store.add_pet(new_pet("waiting", 1, None));
        assert!((&mut waiting).now_or_never().is_none());
        adding.push(waiting);
    }
    let turned_away = store.add_pet(new_pet("too many", 1, None)).now_or_never();
    assert!(matches!(turned_away, Some(Err(StoreError::Busy))));
    assert_eq!(page.value("store_write_queue_depth"), 20.0);
    assert_eq!(page.value("store_write_batch_size_count"), 0.0);
    release().await;
    try_join_all(adding).await?;
    let writers = writers as f64;
    assert_eq!(page.value("store_write_queue_depth"), 0.0);
    assert_eq!(page.value("store_write_batch_size_sum"), writers + 20.0);
    assert_eq!(page.value("store_write_batch_size_count"), writers + 1.0);
    assert_eq!(page.value(r#"store_write_batch_size_bucket{le="1.0"}"#), writers);
    assert_eq!(page.value(r#"store_write_batch_size_bucket{le="16.0"}"#), writers);
    assert_eq!(page.value(r#"store_write_batch_size_bucket{le="32.0"}"#), writers + 1.0);
    assert_eq!(page.all_errors(), 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_that_wait_and_batches_are_counted_on_sqlite() {
    let (place, page) = (Sqlite::fresh().await, Page::default());
    let store = place.with(&page.with(StoreOptions { write_queue: 20, ..sqlite::options() })).await;
    let theirs = place.connection();
    theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
    queue_and_batches(&page, &*store, 1, async || theirs.execute_batch("ROLLBACK").unwrap()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_that_wait_and_batches_are_counted_on_postgresql() {
    postgres::in_time(async || {
        let Some(place) = Postgres::try_fresh().await else { return Ok(()) };
        let page = Page::default();
        let store = place.with(&page.with(StoreOptions { write_queue: 20, ..postgres::options() })).await;
        let theirs = place.client().await;
        theirs.batch_execute("BEGIN; LOCK TABLE animal IN EXCLUSIVE MODE").await.unwrap();
        queue_and_batches(&page, &*store, 4, async || theirs.batch_execute("COMMIT").await.unwrap()).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_of_sqlite_are_counted_by_operation_and_cause() {
    let (place, page) = (Sqlite::fresh().await, Page::default());
    let lock_timeout = Duration::from_millis(50);
    let store = place.with(&page.with(StoreOptions { lock_timeout, ..sqlite::options() })).await;
    add(&*store, "fine").await;
    store.add_key(key(1)).await.unwrap();
    store.add_key(key(1)).await.unwrap_err();
    assert_eq!(page.all_errors(), 0, "that was an error of the caller");
    let theirs = place.connection();
    theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
    for count in [1.0, 2.0] {
        store.add_pet(new_pet("x", 1, None)).await.unwrap_err();
        assert_eq!(page.errors("sqlite", "write", "locked"), count);
    }
    theirs.execute_batch("ROLLBACK; ALTER TABLE animal RENAME TO gone").unwrap();
    store.pet(1).await.unwrap_err();
    assert_eq!(page.errors("sqlite", "read", "refused_statement"), 1.0);
    assert_eq!(page.all_errors(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_of_postgresql_are_counted_by_operation_and_cause() {
    let Some(cluster) = Cluster::start() else { return };
    let page = Page::default();
    let lock_timeout = Duration::from_millis(50);
    let options = page.with(StoreOptions { lock_timeout, ..postgres::options() });
    let store = open(&cluster.url("postgres"), &options).await.unwrap();
    add(&*store, "fine").await;
    store.add_key(key(1)).await.unwrap();
    store.add_key(key(1)).await.unwrap_err();
    assert_eq!(page.all_errors(), 0, "that was an error of the caller");
    let theirs = cluster.client("postgres").await;
    theirs.batch_execute("BEGIN; LOCK TABLE animal IN EXCLUSIVE MODE").await.unwrap();
    for count in [1.0, 2.0] {
        store.add_pet(new_pet("x", 1, None)).await.unwrap_err();
        // Whoever has no connection yet meets the lock while it prepares for writing.
        let locked = ["connect", "write"].map(|operation| page.errors("postgresql", operation, "locked"));
        assert_eq!(locked.iter().sum::<f64>(), count);
    }
    let read_only = "ROLLBACK; ALTER DATABASE postgres SET default_transaction_read_only = on; \
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'animal-store'";
    theirs.batch_execute(read_only).await.unwrap();
    while page.errors("postgresql", "read", "read_only") == 0.0 {
        store.pet(1).await.unwrap_err();
    }
    cluster.stop();
    let unreachable = page.errors("postgresql", "read", "unreachable");
    // Whatever was connected notices; from then on there is nothing to connect to.
    for _ in 0..4 {
        store.add_pet(new_pet("x", 1, None)).await.unwrap_err();
    }
    store.pet(1).await.unwrap_err();
    assert!(page.errors("postgresql", "connect", "unreachable") >= 1.0);
    assert_eq!(page.errors("postgresql", "read", "unreachable"), unreachable + 1.0);
}
