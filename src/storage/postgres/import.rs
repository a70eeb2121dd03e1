//! The transaction of a copy, on a connection of its own.

use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::Client;

use super::connector::Connector;
use super::error::describe;
use super::opening;
use super::session::Session;
use crate::storage::options::{OpenError, StoreOptions};

/// The time limit of COMMIT, which may wait until a standby has received all rows.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(600);

/// A transaction that is rolled back if it is dropped.
pub(in crate::storage) struct Import {
    session: Session,
}

impl Import {
    /// Opens the database at `url`, creates its tables if there are none, and begins the transaction. Others may read `tables`
    /// meanwhile; their writes wait.
    ///
    /// # Errors
    /// One line that names the database and says what to do.
    pub(in crate::storage) async fn begin(
        url: &str,
        options: &StoreOptions,
        tables: &[&str],
    ) -> Result<Self, OpenError> {
        let connector = Connector::new(url, options)?;
        opening::open(&connector).await?;
        let failed = |why: &str| OpenError(format!("the target cannot be written: {why}"));
        let session = connector.connect().await.map_err(|error| failed(&error.to_string()))?;
        // A copy takes as long as it takes.
        let begin = format!(
            "{}; BEGIN; LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE",
            opening::NO_LIMITS,
            tables.join(", ")
        );
        session.client().batch_execute(&begin).await.map_err(|error| failed(&describe(&error)))?;
        Ok(Self { session })
    }

    pub(in crate::storage) fn client(&self) -> &Client {
        self.session.client()
    }

    /// Commits the transaction. The error is part of a line.
    pub(in crate::storage) async fn commit(self) -> Result<(), String> {
        let commit = async { Ok(self.session.client().batch_execute("COMMIT").await?) };
        let committed = self.session.transaction(Instant::now() + COMMIT_TIMEOUT, commit).await;
        committed.map_err(|error| error.to_string())
    }
}
