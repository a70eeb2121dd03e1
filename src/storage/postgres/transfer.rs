//! The mark of the target of a copy, which is removed when the copy is complete: the migration [`COPYING`].
//!
//! Another process may discard a copy that is running. So each chunk is stored in a transaction that locks the mark of its
//! own copy.

use tokio_postgres::{Client, Error};
use uuid::Uuid;

use super::error::WriteResult;
use super::migrations::COPYING;
use super::{animals, idempotency, keys};
use crate::storage::copy::Chunk;

const BEGIN: &str = "INSERT INTO animal_store_migration (number, program) SELECT $1, $2 \
     WHERE NOT EXISTS (SELECT FROM animal) AND NOT EXISTS (SELECT FROM api_key) \
         AND NOT EXISTS (SELECT FROM idempotency_key) \
     ON CONFLICT DO NOTHING";

const LOCK: &str = "SELECT FROM animal_store_migration WHERE number = $1 AND program = $2 FOR SHARE";

const FINISH: &str = "DELETE FROM animal_store_migration WHERE number = $1 AND program = $2";

/// What the mark has in place of the version of a program.
fn name(copy: Uuid) -> String {
    format!("copy {copy}")
}

/// Marks an empty database. Returns `false` if it is not empty, or is marked.
pub(super) async fn begin(client: &Client, copy: Uuid) -> WriteResult<bool> {
    Ok(Ok(client.execute(BEGIN, &[&COPYING, &name(copy)]).await? == 1))
}

/// Stores a chunk of a copy, or nothing if the database does not have the mark of the copy. Returns whether it has.
pub(super) async fn import(client: &Client, copy: Uuid, chunk: Chunk) -> WriteResult<bool> {
    client.batch_execute("BEGIN").await?;
    let imported = lock_and_import(client, copy, chunk).await;
    let end = if matches!(imported, Ok(Ok(true))) { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(end).await;
    // The first error is the cause.
    let imported = imported?;
    ended?;
    Ok(imported)
}

async fn lock_and_import(client: &Client, copy: Uuid, chunk: Chunk) -> WriteResult<bool> {
    if client.query_opt(LOCK, &[&COPYING, &name(copy)]).await?.is_none() {
        return Ok(Ok(false));
    }
    let imported = match chunk {
        Chunk::Pets(pets) => animals::import(client, &pets).await,
        Chunk::IdempotencyKeys(keys) => idempotency::import(client, &keys).await,
        Chunk::Keys(keys) => keys::import(client, &keys).await,
    };
    Ok(imported?.map(|()| true))
}

/// Removes the mark. Returns `false` if there is none of this copy.
pub(super) async fn finish(client: &Client, copy: Uuid) -> WriteResult<bool> {
    Ok(Ok(client.execute(FINISH, &[&COPYING, &name(copy)]).await? == 1))
}

/// Empties the target of a copy, and removes the mark, in one transaction. The mark comes first, as in [`import`], so that
/// the two do not wait for each other.
pub(super) async fn discard(client: &Client) -> Result<(), Error> {
    let statements = format!(
        "DELETE FROM animal_store_migration WHERE number = {COPYING}; \
         TRUNCATE animal, api_key, idempotency_key; SELECT setval('animal_id', 1, false)"
    );
    client.batch_execute(&statements).await
}
