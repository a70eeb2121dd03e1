//! Where the service of a test keeps its animals: a file of SQLite, or a schema of the PostgreSQL server that
//! the tests share. Which of them depends on the program that these files were compiled into.

use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;
use tempfile::TempDir;
use tokio_postgres::Client;

use crate::postgres_cluster::{self, Cluster};

/// Schemas that differ need names that do.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A place of its own for one store.
pub enum Place {
    Sqlite(TempDir),
    Postgres { cluster: &'static Cluster, schema: String },
}

/// Keeps everybody else from writing, reading being as free as before.
pub enum Lock {
    Sqlite(Connection),
    Postgres(Client),
}

impl Place {
    /// An empty place. Where it cannot be had, there is nothing to test, and the program ends.
    pub async fn fresh() -> Self {
        if env!("CARGO_CRATE_NAME") != "http_postgres" {
            return Self::Sqlite(tempfile::tempdir().expect("a temporary directory"));
        }
        // Has said so by itself.
        let Some(cluster) = postgres_cluster::shared() else { std::process::exit(0) };
        let schema = format!("animals_of_test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let create = format!("CREATE SCHEMA {schema}");
        cluster.client("postgres").await.batch_execute(&create).await.expect("a schema");
        Self::Postgres { cluster, schema }
    }

    /// As it is given with `--database`.
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(files) => format!("sqlite:{}", files.path().join("animals.db").display()),
            Self::Postgres { cluster, schema } => {
                format!("{}&options=-c%20search_path%3D{schema}", cluster.url("postgres"))
            }
        }
    }

    /// What no client may be told of it.
    pub fn secret(&self) -> String {
        match self {
            Self::Sqlite(files) => files.path().display().to_string(),
            Self::Postgres { schema, .. } => schema.clone(),
        }
    }

    /// Keeps everybody from writing until the lock is released.
    pub async fn lock(&self) -> Lock {
        match self {
            Self::Sqlite(files) => {
                let connection = Connection::open(files.path().join("animals.db")).expect("a database");
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

    /// All that is stored, as bytes in which one can search.
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
    /// Lets everybody write again.
    pub async fn release(self) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch("ROLLBACK").expect("a lock"),
            Self::Postgres(client) => client.batch_execute("ROLLBACK").await.expect("a lock"),
        }
    }
}
