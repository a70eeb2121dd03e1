//! PostgreSQL against the battery, and what is PostgreSQL's own.

use std::sync::Arc;
use std::time::Duration;

use animal_store::storage::{Store, StoreError, StoreMetrics, StoreOptions, open};
use tokio_postgres::Client;

use crate::battery::Engine;
use crate::postgres_cluster::{Cluster, shared};

mod failing;
mod failover;
mod load;
mod opening;
mod replicas;
mod writing;

/// The engine that `promises` tests.
type Subject = Postgres;

#[path = "../battery/promises.rs"]
#[allow(clippy::duplicate_mod)] // Once for each engine.
mod promises;

/// A database on the server that the tests share, dropped in the end.
pub(crate) struct Postgres {
    cluster: &'static Cluster,
    name: String,
}

impl Postgres {
    /// `None` where there is no server; a test then has nothing to do.
    pub(crate) async fn try_fresh() -> Option<Self> {
        let cluster = shared()?;
        Some(Self { cluster, name: cluster.database("").await })
    }

    pub(crate) fn url(&self) -> String {
        self.cluster.url(&self.name)
    }

    pub(crate) async fn with(&self, options: &StoreOptions) -> Arc<dyn Store> {
        open(&self.url(), options).await.unwrap()
    }

    /// A connection such as another program would have.
    pub(crate) async fn client(&self) -> Client {
        self.cluster.client(&self.name).await
    }
}

impl Engine for Postgres {
    fn is_there() -> bool {
        shared().is_some()
    }

    async fn fresh() -> Self {
        Self::try_fresh().await.unwrap()
    }

    async fn open(&self) -> Arc<dyn Store> {
        self.with(&options()).await
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let (cluster, name) = (self.cluster, self.name.clone());
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let drop = format!("DROP DATABASE {name} WITH (FORCE)");
                cluster.client("postgres").await.batch_execute(&drop).await.unwrap();
            });
        });
        // What went wrong before is worth more than what goes wrong here.
        let dropped = dropping.join();
        assert!(std::thread::panicking() || dropped.is_ok());
    }
}

/// Runs a test that keeps statements of the store waiting, for a lock for example. The store and the server give
/// up on them after some seconds, on a busy machine before the test lets them go on: then it is run again.
pub(crate) async fn in_time<Running>(test: impl Fn() -> Running)
where
    Running: Future<Output = Result<(), StoreError>>,
{
    for _ in 0..20 {
        match test().await {
            Ok(()) => return,
            Err(StoreError::Unavailable(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("the server always gives up");
}

pub(crate) fn options() -> StoreOptions {
    StoreOptions {
        write_queue: 1024,
        // The store waits for as long as a statement may take.
        lock_timeout: Duration::from_secs(600),
        log: slog::Logger::root(slog::Discard, slog::o!()),
        metrics: StoreMetrics::default(),
    }
}
