//! Copies a SQLite database that no process uses into an empty PostgreSQL database, in one transaction of the target.
//!
//! The secret that signs cursors is copied, so clients continue their pages, and so are idempotency keys, so that a client
//! may repeat a request to the target that it sent to the source.

use std::path::Path;
use std::time::Duration;

use futures::pin_mut;
use rusqlite::{Connection, OptionalExtension, Row};
use tokio::time::Instant;
use tokio_postgres::Client;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::options::{OpenError, StoreOptions};
use super::postgres::{NO_LIMITS, connect_once, describe};
use super::sqlite::open_source;
use super::url::{self, DatabaseKind};

/// A table that both engines have.
struct Table {
    name: &'static str,
    columns: &'static str,
    /// The order in which rows are copied.
    order: &'static str,
}

const ANIMALS: Table = Table { name: "animal", columns: "id, name, category, status", order: "id" };

/// PostgreSQL numbers the rows again, in the same order.
const API_KEYS: Table = Table {
    name: "api_key",
    columns: "id, name, hash, created, expires, revoked, note, last_used",
    order: "position",
};

const IDEMPOTENCY_KEYS: Table =
    Table { name: "idempotency_key", columns: "client, value, fingerprint, response, added", order: "added" };

/// The highest identifier that was ever assigned.
const ASSIGNED: &str = "SELECT seq FROM sqlite_sequence WHERE name = 'animal'";

// A new sequence has the last value 1, which was not assigned yet.
const ADVANCE_SEQUENCE: &str = "SELECT setval('animal_id', $1) FROM animal_id \
     WHERE last_value < $1 OR (last_value = $1 AND NOT is_called)";

/// The time limit of COMMIT, which may wait until a standby has received all rows.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(600);

/// What was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The number of animals.
    pub pets: i64,
    /// The number of API keys.
    pub keys: i64,
}

/// Why a copy failed. The target is unchanged, unless its COMMIT failed.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A URL has the wrong kind.
    #[error("copy needs --from sqlite:PATH and --to postgres://...; there is no other direction")]
    Direction,
    /// A database cannot be opened.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// The source failed.
    #[error("the source cannot be read: {0}")]
    Source(#[from] rusqlite::Error),
    /// The target failed.
    #[error("the target cannot be written: {}", describe(.0))]
    Target(#[from] tokio_postgres::Error),
    /// It is unknown whether the target is complete.
    #[error("the COMMIT of the target failed: {0}; check whether it has the animals")]
    Commit(String),
    /// The target has animals or keys.
    #[error("the target is not empty: it has rows in {0}; use a new database")]
    NotEmpty(&'static str),
    /// Not all rows arrived.
    #[error("the target has {1} rows in {0} and the source {2}; use another database, without triggers")]
    Differs(&'static str, i64, i64),
}

/// Copies everything from the database at the URL `from` to the one at `to`, which must be empty. The tables are created if
/// there are none. Blocks the thread while it reads `from`.
///
/// # Errors
/// [`CopyError`].
pub async fn copy(from: &str, to: &str, options: &StoreOptions) -> Result<Copied, CopyError> {
    let path: &Path = match (DatabaseKind::of(from), DatabaseKind::of(to)) {
        (Some(DatabaseKind::Sqlite(path)), Some(DatabaseKind::Postgres)) => path,
        (None, _) | (_, None) => return Err(url::unknown_kind().into()),
        _ => return Err(CopyError::Direction),
    };
    let from = open_source(path, options.lock_timeout)?;
    // Dropped after an error, which rolls the transaction back.
    let session = connect_once(to, options).await?;
    let to = session.client();
    // Others may read the tables meanwhile; their writes wait.
    let begin = format!(
        "{NO_LIMITS}; BEGIN; LOCK TABLE {}, {}, {} IN SHARE ROW EXCLUSIVE MODE",
        ANIMALS.name, API_KEYS.name, IDEMPOTENCY_KEYS.name
    );
    to.batch_execute(&begin).await?;
    let pets = copy_table(&from, to, &ANIMALS).await?;
    let keys = copy_table(&from, to, &API_KEYS).await?;
    copy_table(&from, to, &IDEMPOTENCY_KEYS).await?;
    if let Some(assigned) = from.query_row(ASSIGNED, [], |row| row.get::<_, i64>(0)).optional()? {
        to.query(ADVANCE_SEQUENCE, &[&assigned]).await?;
    }
    let secret: Vec<u8> = from.query_row("SELECT bytes FROM secret", [], |row| row.get(0))?;
    to.execute("UPDATE secret SET bytes = $1", &[&secret]).await?;
    let commit = async { Ok(to.batch_execute("COMMIT").await?) };
    let committed = session.transaction(Instant::now() + COMMIT_TIMEOUT, commit).await;
    committed.map_err(|error| CopyError::Commit(error.to_string()))?;
    Ok(Copied { pets, keys })
}

/// Copies the rows of a table that is empty, and compares their number. Returns it.
async fn copy_table(from: &Connection, to: &Client, table: &Table) -> Result<i64, CopyError> {
    let Table { name, columns, order } = table;
    let count = format!("SELECT count(*) FROM {name}");
    if to.query_one(&count, &[]).await?.try_get::<_, i64>(0)? > 0 {
        return Err(CopyError::NotEmpty(name));
    }
    let select = format!("SELECT {columns} FROM {name}");
    let target = to.prepare(&select).await?;
    let types: Vec<Type> = target.columns().iter().map(|column| column.type_().clone()).collect();
    let sink = to.copy_in(&format!("COPY {name} ({columns}) FROM STDIN BINARY")).await?;
    let writer = BinaryCopyInWriter::new(sink, &types);
    pin_mut!(writer);
    let mut rows = from.prepare(&format!("{select} ORDER BY {order}"))?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let values = types.iter().enumerate().map(|(column, to)| value(row, column, to));
        let values: Vec<Box<dyn ToSql + Sync + Send>> = values.collect::<Result<_, _>>()?;
        writer.as_mut().write_raw(values.iter().map(|value| &**value as &dyn ToSql)).await?;
    }
    writer.finish().await?;
    let expected = from.query_row(&count, [], |row| row.get(0))?;
    let found = to.query_one(&count, &[]).await?.try_get(0)?;
    if found == expected { Ok(found) } else { Err(CopyError::Differs(name, found, expected)) }
}

/// Returns the value in a column, as a value of the type `to`.
fn value(row: &Row<'_>, column: usize, to: &Type) -> rusqlite::Result<Box<dyn ToSql + Sync + Send>> {
    Ok(match *to {
        Type::INT8 => Box::new(row.get::<_, Option<i64>>(column)?),
        Type::BYTEA => Box::new(row.get::<_, Option<Vec<u8>>>(column)?),
        _ => Box::new(row.get::<_, Option<String>>(column)?),
    })
}
