//! The database of a test: an SQLite file, or a schema of a PostgreSQL server that the tests share.

use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;
use tempfile::TempDir;
use tokio_postgres::Client;

use crate::service::{Service, Setup, TIMEOUT};
use kit::postgres::Cluster;

/// The number of the next schema.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Declares for each function, which takes an [`Engine`], the tests `NAME::sqlite` and `NAME::postgres`. Without
/// PostgreSQL the second is skipped.
macro_rules! on_each_engine {
    ($($name:ident)*) => {$(
        mod $name {
            use crate::database::Engine;

            #[tokio::test]
            async fn sqlite() {
                super::$name(Engine::Sqlite).await;
            }

            #[tokio::test]
            async fn postgres() {
                if let Some(cluster) = kit::postgres::shared() {
                    super::$name(Engine::Postgres(cluster)).await;
                }
            }
        }
    )*};
}

pub(crate) use on_each_engine;

/// Where a service stores its data.
#[derive(Clone, Copy)]
pub enum Engine {
    Sqlite,
    Postgres(&'static Cluster),
}

impl Engine {
    /// Starts a service with default options and an empty database.
    pub async fn start(self) -> Service {
        self.setup().start().await
    }

    /// Returns default options, to change before the start.
    pub fn setup(self) -> Setup {
        Setup::on(self)
    }
}

/// A database that no other test uses.
pub enum Database {
    Sqlite(TempDir),
    Postgres { cluster: &'static Cluster, schema: String },
}

/// A lock that blocks all writers of a database and no readers.
pub enum Lock {
    Sqlite(Connection),
    Postgres(Client),
}

/// Opens a connection, which waits while the service stores the use of a key.
fn connection(files: &TempDir) -> Connection {
    let connection = Connection::open(files.path().join("animals.db")).expect("a database");
    connection.busy_timeout(TIMEOUT).expect("a time limit");
    connection
}

impl Database {
    /// Creates an empty database.
    pub async fn fresh(engine: Engine) -> Self {
        let Engine::Postgres(cluster) = engine else {
            return Self::Sqlite(tempfile::tempdir().expect("a temporary directory"));
        };
        let schema = format!("animals_of_test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let create = format!("CREATE SCHEMA {schema}");
        cluster.client("postgres").await.batch_execute(&create).await.expect("a schema");
        Self::Postgres { cluster, schema }
    }

    /// The URL for `--database`.
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(files) => format!("sqlite:{}", files.path().join("animals.db").display()),
            Self::Postgres { cluster, .. } => cluster.url("postgres"),
        }
    }

    /// The schema with the tables.
    pub fn schema(&self) -> Option<String> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres { schema, .. } => Some(schema.clone()),
        }
    }

    /// A text that identifies the database and must not appear in a response.
    pub fn secret(&self) -> String {
        match self {
            Self::Sqlite(files) => files.path().display().to_string(),
            Self::Postgres { schema, .. } => schema.clone(),
        }
    }

    /// Blocks all writers until the lock is released.
    pub async fn lock(&self) -> Lock {
        match self {
            Self::Sqlite(files) => {
                let connection = connection(files);
                connection.execute_batch("BEGIN IMMEDIATE").expect("a lock");
                Lock::Sqlite(connection)
            }
            Self::Postgres { cluster, schema } => {
                let client = cluster.client("postgres").await;
                let lock = format!("BEGIN; LOCK TABLE {schema}.animal IN EXCLUSIVE MODE");
                client.batch_execute(&lock).await.expect("a lock");
                Lock::Postgres(client)
            }
        }
    }

    /// Executes SQL as another program.
    pub async fn execute(&self, sql: &str) {
        match self {
            Self::Sqlite(files) => {
                let connection = connection(files);
                connection.execute_batch(sql).expect("valid SQL");
            }
            Self::Postgres { cluster, schema } => {
                let sql = format!("SET search_path = {schema}; {sql}");
                cluster.client("postgres").await.batch_execute(&sql).await.expect("valid SQL");
            }
        }
    }

    /// All stored data as bytes, to search in.
    pub async fn contents(&self) -> Vec<u8> {
        match self {
            Self::Sqlite(files) => {
                let files = files.path().read_dir().expect("a directory");
                files.flat_map(|file| std::fs::read(file.expect("a file").path()).expect("a file")).collect()
            }
            Self::Postgres { cluster, schema } => {
                let client = cluster.client("postgres").await;
                let mut contents = Vec::new();
                for table in ["animal", "api_key", "secret"] {
                    let rows = format!("SELECT row(t.*)::text FROM {schema}.{table} t");
                    for row in client.query(&rows, &[]).await.expect("the rows") {
                        contents.extend(row.get::<_, String>(0).into_bytes());
                    }
                }
                contents
            }
        }
    }
}

impl Lock {
    /// Releases the lock.
    pub async fn release(self) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch("ROLLBACK").expect("a lock"),
            Self::Postgres(client) => client.batch_execute("ROLLBACK").await.expect("a lock"),
        }
    }
}
