//! Tests of PostgreSQL alone.

use std::sync::Arc;
use std::time::Duration;

use animal_store::config::{Config, Flags};
use animal_store::storage::{Migrate, PostgresOptions, Store, StoreMetrics, StoreOptions, open};
use tokio_postgres::Client;

use crate::conformance::Engine;
use kit::postgres::{Cluster, shared};

mod connecting;
mod failing;
mod failover;
mod opening;
mod plans;
mod polling;
mod replicas;
mod round_trips;
mod unsuitable;
mod writing;

/// A database on the shared server. It is not dropped, since removing its files takes longer than the test; the files are
/// removed with the server.
pub(crate) struct Postgres {
    cluster: &'static Cluster,
    name: String,
}

impl Postgres {
    /// Creates an empty database. Returns `None` if PostgreSQL is not installed.
    pub(crate) async fn try_fresh() -> Option<Self> {
        let cluster = shared()?;
        Some(Self { cluster, name: cluster.database("").await })
    }

    pub(crate) fn url(&self) -> String {
        self.cluster.url(&self.name)
    }

    pub(crate) async fn with(&self, options: &StoreOptions) -> Arc<Store> {
        open(&self.url(), options).await.unwrap()
    }

    /// Opens a connection that is independent of the store.
    pub(crate) async fn client(&self) -> Client {
        self.cluster.client(&self.name).await
    }
}

impl Engine for Postgres {
    async fn fresh() -> Self {
        Self::try_fresh().await.unwrap()
    }

    async fn open(&self) -> Arc<Store> {
        self.with(&options()).await
    }

    async fn execute(&self, sql: &str) {
        self.client().await.batch_execute(sql).await.unwrap();
    }

    async fn rows(&self, table: &str) -> i64 {
        let count = format!("SELECT count(*) FROM {table}");
        self.client().await.query_one(&count, &[]).await.unwrap().get(0)
    }
}

/// The options of a store that cancels no statement, however long a busy machine takes.
pub(crate) fn options() -> StoreOptions {
    StoreOptions {
        write_queue: 1024,
        lock_timeout: Duration::from_secs(600),
        migrate: Migrate::Apply,
        version: "1.2.3",
        postgres: PostgresOptions {
            statement_timeout: Duration::from_secs(600),
            ..Config::load(&Flags::default()).unwrap().postgres
        },
        log: slog::Logger::root(slog::Discard, slog::o!()),
        metrics: StoreMetrics::default(),
    }
}

/// The options of a store with its default time limits, which apply when the server does not respond.
pub(crate) fn limited() -> StoreOptions {
    StoreOptions { postgres: Config::load(&Flags::default()).unwrap().postgres, ..options() }
}

#[tokio::test]
async fn the_server_is_the_one_whose_programs_were_chosen() {
    let Some(cluster) = shared() else { return };
    let version: String =
        cluster.client("postgres").await.query_one("SHOW server_version", &[]).await.unwrap().get(0);
    assert_eq!(version, cluster.version());
}
