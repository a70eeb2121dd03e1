//! A PostgreSQL server of the benchmark's own. Unlike that of the tests, its commits reach the disk.

use tokio::runtime::{Builder, Runtime};

use self::cluster::Cluster;

#[path = "../../../tests/postgres_cluster/mod.rs"]
mod cluster;

/// A server that runs until this is dropped.
pub(super) struct Postgres {
    cluster: Cluster,
    runtime: Runtime,
}

impl Postgres {
    /// `None`, after a line that says so, when the server's programs are not installed.
    pub(super) fn start() -> Result<Option<Self>, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
        let cluster = Cluster::with("-c shared_buffers=1GB -c max_wal_size=4GB");
        Ok(cluster.map(|cluster| Self { cluster, runtime }))
    }

    /// Makes an empty database. Returns its URL.
    pub(super) fn database(&self) -> String {
        let name = self.runtime.block_on(self.cluster.database(""));
        self.cluster.url(&name)
    }

    /// Runs statements, each in a transaction of its own.
    pub(super) fn run(&self, url: &str, statements: &[String]) -> Result<(), String> {
        let name = url.rsplit('/').next().unwrap_or_default();
        self.runtime.block_on(async {
            let client = self.cluster.client(name).await;
            for statement in statements {
                client.batch_execute(statement).await.map_err(|error| format!("{statement}: {error}"))?;
            }
            Ok(())
        })
    }
}
