//! Writes: one task commits all waiting writes in one transaction (group commit).
//!
//! A commit costs far more than a row, so the task takes everything in the queue, and completes the writes when the server
//! has committed. The next batch collects meanwhile; there is no timer.
//!
//! Every transaction takes the lock of all writers first (`animals.rs`). Additions without idempotency keys are one
//! statement. An idempotency key is looked for after the lock, so an addition sees each earlier one with the same key.
//!
//! Failure modes of a write, beside those of every engine (`../store.rs`):
//!
//! - A statement fails, the connection is lost or the server does not respond in time: the whole batch is
//!   `Unavailable` or `Broken`, and the connection is closed. It is unknown whether the server committed, so nothing is
//!   sent again, which could store it twice.
//! - It waits longer than the maximum duration of a call, including its time in the queue: `Unavailable`.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::animals;
use super::connector::Connector;
use super::error::PgError;
use super::session::Session;
use crate::storage::idempotency::SteadyClock;
use crate::storage::metrics::Access;
use crate::storage::queue::{self, QueuedWrite};
use crate::storage::types::StoreError;

/// The minimum time for a batch, even if its oldest caller stops waiting earlier. After an outage the queue
/// is full of old writes, and without a minimum every attempt would time out.
const MIN_BATCH_TIME: Duration = Duration::from_secs(1);
/// The time after which a commit is suspected to wait in vain for the standby of an old primary.
const SLOW: Duration = Duration::from_secs(1);

/// The state of the task that writes.
pub(super) struct Writer {
    /// `None` before the first write and after a failure to connect.
    connection: Option<Open>,
    clock: SteadyClock,
    connector: Arc<Connector>,
}

/// A connection for writing with its prepared statements.
struct Open {
    session: Session,
    statements: animals::Statements,
}

impl queue::Writer for Writer {
    async fn commit(&mut self, batch: &mut [QueuedWrite]) -> Result<(), StoreError> {
        let Some(oldest) = batch.first() else { return Ok(()) };
        let limit = self.connector.options.postgres.call_timeout();
        let until = (oldest.since + limit).max(Instant::now() + MIN_BATCH_TIME);
        let connector = self.connector.clone();
        let report = |access, failure: PgError| failure.report(&connector.options, access);
        let open = match self.connection.take().filter(|open| open.session.is_usable()) {
            Some(open) => open,
            None => self.open(until).await.map_err(|failure| report(Access::Connect, failure))?,
        };
        let Open { session, statements } = self.connection.insert(open);
        let writing = async {
            // What else is committed shows that the database can be written.
            if batch.iter().all(|queued| queued.write.is_check()) {
                check_writable(session.client()).await?;
            }
            statements.execute(session.client(), batch, &mut self.clock).await
        };
        let looking = async {
            sleep(SLOW).await;
            connector.look_at_all().await;
            pending().await
        };
        let committed = tokio::select! {
            committed = session.transaction(until, writing) => committed,
            never = looking => never,
        };
        committed.inspect_err(|_| connector.suspect()).map_err(|failure| report(Access::Write, failure))
    }
}

impl Writer {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self { connection: None, clock: SteadyClock::default(), connector }
    }

    /// Opens a connection, and looks at the clock of its server.
    async fn open(&mut self, until: Instant) -> Result<Open, PgError> {
        let opening = async {
            let session = self.connector.connect().await?;
            let client = session.client();
            let preparing =
                async { Ok((animals::Statements::prepare(client).await?, animals::now(client).await?)) };
            let (statements, now) = session.until(until, preparing).await?;
            Ok((Open { session, statements }, now))
        };
        let (open, now) = timeout_at(until, opening).await.unwrap_or(Err(PgError::Timeout))?;
        self.clock.see(now);
        Ok(open)
    }
}

// Rows that take more than `work_mem` go to a temporary file, which takes its space from the disk of the database: a row
// of a table would not show that the disk is full while it fits into a page that exists. The message goes to the WAL, so
// its commit waits for the synchronous standby: an old primary, which has none, fails.
const CHECK: &str = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean; \
     SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true); \
     SELECT count(*) FROM unnest(array_fill(repeat('x', 1000), ARRAY[1000])); \
     SELECT pg_logical_emit_message(true, 'animal-store', 'check') WHERE NOT pg_is_in_recovery()";

/// Checks that the server is not read-only, that its disk has space for 1 MB, more than a batch takes, and that it commits.
async fn check_writable(client: &Client) -> Result<(), PgError> {
    let results = match client.simple_query(CHECK).await {
        // `temp_file_limit` does not allow the temporary file.
        Err(error) if error.code() == Some(&SqlState::CONFIGURATION_LIMIT_EXCEEDED) => return Ok(()),
        results => results?,
    };
    let mut rows = results.iter().filter_map(|result| match result {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    match rows.next().and_then(|row| row.get(0)) {
        Some("f") => Ok(()),
        _ => Err(PgError::ReadOnly),
    }
}
