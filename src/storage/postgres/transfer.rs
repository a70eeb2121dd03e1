//! The mark of the target of a copy, which is removed when the copy is complete: the migration [`COPYING`].

use tokio_postgres::{Client, Error};

use super::failure::WriteResult;
use super::migrations::COPYING;

const BEGIN: &str = "INSERT INTO animal_store_migration (number, program) SELECT $1, 'a copy' \
     WHERE NOT EXISTS (SELECT FROM animal) AND NOT EXISTS (SELECT FROM api_key) \
         AND NOT EXISTS (SELECT FROM idempotency_key) \
     ON CONFLICT DO NOTHING";

const FINISH: &str = "DELETE FROM animal_store_migration WHERE number = $1";

/// Marks an empty database. Returns `false` if it is not empty, or is marked.
pub(super) async fn begin(client: &Client) -> WriteResult<bool> {
    Ok(Ok(client.execute(BEGIN, &[&COPYING]).await? == 1))
}

/// Removes the mark. Returns `false` if there is none.
pub(super) async fn finish(client: &Client) -> WriteResult<bool> {
    Ok(Ok(client.execute(FINISH, &[&COPYING]).await? == 1))
}

/// Empties the target of an interrupted copy, and removes the mark, in one transaction.
pub(super) async fn discard(client: &Client) -> Result<(), Error> {
    let statements = format!(
        "TRUNCATE animal, api_key, idempotency_key; SELECT setval('animal_id', 1, false); \
         DELETE FROM animal_store_migration WHERE number = {COPYING}"
    );
    client.batch_execute(&statements).await
}
