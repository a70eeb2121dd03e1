//! Creates stores with many animals by SQL, since adding a million over HTTP would take minutes.

use std::path::Path;

use kit::postgres::Cluster;
use rusqlite::Connection;
use tokio::runtime::{Builder, Runtime};

/// Adds animals with the identifiers from 1 to `count` to an empty SQLite store.
pub(super) fn sqlite(path: &Path, count: u64) -> Result<(), String> {
    let fill = || {
        let connection = Connection::open(path)?;
        let insert = insert("printf('Animal %08d', n)", "number");
        let numbers = format!("SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {count}");
        connection.execute(&format!("WITH RECURSIVE number(n) AS ({numbers}) {insert}"), [])?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    };
    fill().map_err(|error: rusqlite::Error| format!("{}: {error}", path.display()))
}

/// Returns the statement that adds animals, a third each available, pending, and without a status. `name` is an SQL
/// expression, `numbers` a row source with a column `n`.
fn insert(name: &str, numbers: &str) -> String {
    format!(
        "INSERT INTO animal (id, name, category, status)
         SELECT n, {name}, n % 50, CASE n % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' END FROM {numbers}"
    )
}

/// A PostgreSQL server, stopped when dropped. Unlike that of the tests, it writes commits durably.
pub(super) struct Postgres {
    cluster: Cluster,
    runtime: Runtime,
}

impl Postgres {
    /// Starts a server. Returns `None` after a message if the server programs are not installed.
    pub(super) fn start() -> Result<Option<Self>, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start the tokio runtime: {error}"))?;
        match Cluster::with("-c shared_buffers=1GB -c max_wal_size=4GB") {
            Ok(cluster) => Ok(Some(Self { cluster, runtime })),
            Err(missing) => {
                eprintln!("bench: nothing is measured on PostgreSQL: {missing}");
                Ok(None)
            }
        }
    }

    /// Creates an empty database. Returns its URL.
    pub(super) fn database(&self) -> String {
        let name = self.runtime.block_on(self.cluster.database(""));
        self.cluster.url(&name)
    }

    /// Adds animals as [`sqlite`] does.
    pub(super) fn fill(&self, url: &str, count: u64) -> Result<(), String> {
        let name = url.rsplit('/').next().and_then(|last| last.split('?').next()).unwrap_or_default();
        let insert =
            insert("'Animal ' || lpad(n::text, 8, '0')", &format!("generate_series(1, {count}) AS n"));
        let number = format!("SELECT setval('animal_id', {count})");
        self.runtime.block_on(async {
            let client = self.cluster.client(name).await;
            for statement in [&insert, &number, "VACUUM ANALYZE animal", "CHECKPOINT"] {
                client.batch_execute(statement).await.map_err(|error| format!("{statement}: {error}"))?;
            }
            Ok(())
        })
    }
}
