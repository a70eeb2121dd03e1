//! Migrations: applies the numbered SQL files that a database lacks.
//!
//! The table `animal_store_migration` has a row for each applied file, with the version of the program that
//! applied it, which an older program names when it refuses the database. Missing files are applied in one
//! transaction, which first takes an advisory lock, so that replicas can start together: the first one
//! migrates, the others wait. A released file is never edited; a change is a new file.
//! Crates that were left: `src/DECISIONS.md`, Storage.

use tokio_postgres::{Client, Error};

const MIGRATIONS: [&str; 6] = [
    include_str!("0001_animals.sql"),
    include_str!("0002_api_keys.sql"),
    include_str!("0003_secret.sql"),
    include_str!("0004_key_use.sql"),
    include_str!("0005_idempotency_keys.sql"),
    include_str!("0006_responses.sql"),
];

/// The number of the newest migration.
pub(super) const NEWEST: i64 = MIGRATIONS.len() as i64;

/// The key of the advisory lock: "Anml" twice.
const LOCK: i64 = 0x416e_6d6c_416e_6d6c;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS animal_store_migration (
    number  bigint PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT current_timestamp
);
-- The version of the program that applied the migration, since migration 4.
ALTER TABLE animal_store_migration ADD COLUMN IF NOT EXISTS program text";

/// Returns the number of the last applied migration. The table must exist.
pub(super) async fn version(client: &Client) -> Result<i64, Error> {
    let row = client.query_one("SELECT coalesce(max(number), 0) FROM animal_store_migration", &[]).await?;
    row.try_get(0)
}

/// Returns the version of the program that applied the last migration after [`NEWEST`], if it is known.
pub(super) async fn newer_program(client: &Client) -> Option<String> {
    let sql = "SELECT program FROM animal_store_migration WHERE number > $1 ORDER BY number DESC LIMIT 1";
    // The table may have changed.
    client.query_opt(sql, &[&NEWEST]).await.ok()??.try_get(0).ok()?
}

/// Migrates the database to [`NEWEST`], as the version `program` of this program. After an error, the transaction ends with
/// the connection.
pub(super) async fn migrate(client: &Client, program: &str) -> Result<(), Error> {
    client.batch_execute("BEGIN").await?;
    client.query("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    client.batch_execute(TABLE).await?;
    let applied = version(client).await?;
    for (number, sql) in (1_i64..).zip(MIGRATIONS).filter(|(number, _)| *number > applied) {
        client.batch_execute(sql).await?;
        let insert = "INSERT INTO animal_store_migration (number, program) VALUES ($1, $2)";
        client.execute(insert, &[&number, &program]).await?;
    }
    client.batch_execute("COMMIT").await
}
