//! Writes: one task commits all waiting writes in one transaction (group commit).
//!
//! A commit costs far more than a row, so the task takes everything in the queue, up to [`MAX_BATCH`], and completes the
//! writes when the server has committed. The next batch collects meanwhile; there is no timer.
//!
//! Failure modes of a write, beside those of every engine (`../store.rs`):
//!
//! - A statement fails, the connection is lost or the server does not respond in time: the whole batch is
//!   `Unavailable` or `Broken`, and the connection is closed. It is unknown whether the server committed, so nothing is
//!   sent again, which could store it twice.
//! - It waits longer than the maximum duration of a call, including its time in the queue: `Unavailable`.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::batch::WriteSession;
use super::connector::Connector;
use super::error::PgError;
use crate::storage::expiry::SteadyClock;
use crate::storage::metrics::Access;
use crate::storage::queue::{Batches, MAX_BATCH, QueuedWrite};

/// The minimum time for a batch, even if its oldest caller stops waiting earlier. After an outage the queue
/// is full of old writes, and without a minimum every attempt would time out.
const MIN_BATCH_TIME: Duration = Duration::from_secs(1);

/// The state of the task that writes.
pub(super) struct Writer {
    /// `None` before the first write and after a failure.
    connection: Option<WriteSession>,
    clock: SteadyClock,
    connector: Arc<Connector>,
}

impl Writer {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self { connection: None, clock: SteadyClock::default(), connector }
    }

    /// Writes until the queue is closed.
    pub(super) async fn run(mut self, mut batches: Batches) {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        while batches.take(&mut batch).await {
            let failure = self.write(&mut batch).await.err();
            for queued in batch.drain(..) {
                queued.write.complete(failure.as_ref().map(PgError::store_error));
            }
        }
    }

    /// Writes a batch and reports the result.
    async fn write(&mut self, batch: &mut [QueuedWrite]) -> Result<(), PgError> {
        let options = &self.connector.options;
        let reported = |access, failure: PgError| {
            failure.report(options, access);
            failure
        };
        let Some(oldest) = batch.first() else { return Ok(()) };
        let limit = options.postgres.call_timeout();
        let until = (oldest.since + limit).max(Instant::now() + MIN_BATCH_TIME);
        let connection = match self.connection.take().filter(WriteSession::is_usable) {
            Some(connection) => connection,
            None => {
                let opened = timeout_at(until, WriteSession::open(&self.connector)).await;
                let opened = opened.unwrap_or(Err(PgError::Timeout));
                let (connection, now) = opened.map_err(|failure| reported(Access::Connect, failure))?;
                self.clock.see(now);
                connection
            }
        };
        let connection = self.connection.insert(connection);
        let committed = connection.commit(batch, &mut self.clock, until).await;
        let committed = committed.inspect_err(|_| self.connector.suspect());
        options.metrics.committed(committed.map_err(|failure| reported(Access::Write, failure))?);
        Ok(())
    }
}
