//! The numbered SQL files, and applying those that a database lacks.
//!
//! The table `animal_store_migration` has a row for each file applied. All that a database lacks is applied
//! in one transaction, which first takes an advisory lock, so that replicas may start together: the first
//! works, the others wait and find it done. Where such a lock does nothing (CockroachDB) they may get in
//! each other's way. Then one of them fails, for a conflict or for what the other made, and looks again. A
//! file that was released is never edited; what changes comes as the next number.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

const MIGRATIONS: [&str; 3] =
    [include_str!("0001_animals.sql"), include_str!("0002_api_keys.sql"), include_str!("0003_secret.sql")];

/// The number of the newest file.
pub(super) const NEWEST: i64 = MIGRATIONS.len() as i64;

/// "Anml" twice; shared with nobody, we hope.
const LOCK: i64 = 0x416e_6d6c_416e_6d6c;

/// How often to look again after getting in somebody's way.
const ATTEMPTS: u32 = 10;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS animal_store_migration (
    number  bigint PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT current_timestamp
)";

/// The number of the last file that was applied. The table must be there.
pub(super) async fn version(client: &Client) -> Result<i64, Error> {
    let row = client.query_one("SELECT coalesce(max(number), 0) FROM animal_store_migration", &[]).await?;
    row.try_get(0)
}

/// Brings the database to [`NEWEST`].
pub(super) async fn migrate(client: &Client) -> Result<(), Error> {
    for _ in 1..ATTEMPTS {
        match attempt(client).await {
            Err(error) if is_conflict(&error) => {
                client.batch_execute("ROLLBACK").await?;
            }
            Err(error) => {
                // Nothing is lost if this fails too; the connection is given up either way.
                let _ = client.batch_execute("ROLLBACK").await;
                return Err(error);
            }
            done => return done,
        }
    }
    attempt(client).await
}

async fn attempt(client: &Client) -> Result<(), Error> {
    client.batch_execute("BEGIN").await?;
    client.query("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    client.batch_execute(TABLE).await?;
    let applied = version(client).await?;
    for (number, sql) in (1_i64..).zip(MIGRATIONS).filter(|(number, _)| *number > applied) {
        client.batch_execute(sql).await?;
        client.execute("INSERT INTO animal_store_migration (number) VALUES ($1)", &[&number]).await?;
    }
    client.batch_execute("COMMIT").await
}

/// Whether somebody else, who does the same, was in the way.
fn is_conflict(error: &Error) -> bool {
    error.code().is_some_and(|code| {
        [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::UNIQUE_VIOLATION,
            SqlState::DUPLICATE_TABLE,
            SqlState::DUPLICATE_OBJECT,
        ]
        .contains(code)
    })
}
