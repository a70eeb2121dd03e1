//! One connection: its settings, its warnings and its timeouts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use slog::{Logger, debug, warn};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::{AsyncMessage, Client};

use super::address::Address;
use super::failure::Failure;

/// The maximum duration of a call. Well below the request timeout, so that the caller gets a result and is
/// not cancelled.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(5);
/// The `statement_timeout`. Shorter than the caller waits, so that the caller learns the result.
const STATEMENT_TIMEOUT: Duration = Duration::from_millis(3_500);
/// The timeout of a request to cancel a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Migrations, which may take long.
    Opening,
    Writing,
    /// Queries that must use an index, whatever the statistics are.
    Reading,
}

/// A connection to a primary.
pub(super) struct Session {
    client: Client,
    address: Address,
    /// The server sent a warning.
    warned: Arc<AtomicBool>,
    /// The connection must not be used any more.
    discarded: AtomicBool,
    /// The task that sends and receives.
    driver: AbortHandle,
}

impl Session {
    pub(super) async fn connect(
        address: &Address,
        purpose: Purpose,
        lock_timeout: Duration,
        log: &Logger,
    ) -> Result<Self, Failure> {
        let (client, mut connection) = address.connect().await.map_err(Failure::Unreachable)?;
        let warned = Arc::new(AtomicBool::new(false));
        let driver = tokio::spawn({
            let (warned, log) = (warned.clone(), log.clone());
            async move {
                let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
                while let Some(message) = messages.next().await {
                    match message {
                        // SQLSTATE class 00 is success, such as for a NOTICE.
                        Ok(AsyncMessage::Notice(notice)) if !notice.code().code().starts_with("00") => {
                            warned.store(true, Ordering::SeqCst);
                            warn!(log, "the database warned"; "message" => notice.message(),
                                "code" => notice.code().code());
                        }
                        Ok(_) => {}
                        Err(error) => {
                            debug!(log, "a connection to the database ended"; "error" => %error);
                            break;
                        }
                    }
                }
            }
        })
        .abort_handle();
        let session =
            Self { client, address: address.clone(), warned, discarded: AtomicBool::new(false), driver };
        session.client.batch_execute(&settings(purpose, lock_timeout)).await?;
        session.warned.store(false, Ordering::SeqCst);
        Ok(session)
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.discarded.load(Ordering::Relaxed)
    }

    /// Runs `work` with this session until `deadline`. After a failure of the connection or a timeout, the
    /// session is not used again.
    pub(super) async fn until<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let result = timeout_at(deadline, work).await.unwrap_or(Err(Failure::Timeout));
        if result.as_ref().is_err_and(Failure::is_connection_failure) {
            self.discard();
        }
        result
    }

    /// Runs like [`Session::until`] one statement that writes, and no other at the same time. A warning is a
    /// failure: PostgreSQL warns when a commit did not reach its synchronous standby.
    pub(super) async fn write_until<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.warned.store(false, Ordering::SeqCst);
        let result = self.until(deadline, work).await;
        if matches!(result, Err(Failure::Timeout)) {
            self.cancel();
        }
        if result.is_ok() && self.warned.load(Ordering::SeqCst) {
            return Err(Failure::CommitWarning);
        }
        result
    }

    /// Closes the connection, including the other queries on it.
    fn discard(&self) {
        self.discarded.store(true, Ordering::Relaxed);
        self.driver.abort();
    }

    /// Asks the server to cancel the statement, so that abandoned sessions do not accumulate.
    fn cancel(&self) {
        let (token, tls) = (self.client.cancel_token(), self.address.tls().clone());
        tokio::spawn(async move {
            // If this fails too, the server finds the connection closed.
            let _ = timeout(CANCEL_TIMEOUT, token.cancel_query(tls)).await;
        });
    }
}

/// Returns the statements that set up a connection. Settings that a compatible server may lack are selected
/// from `pg_settings`.
fn settings(purpose: Purpose, lock_timeout: Duration) -> String {
    let (statement, lock) = match purpose {
        Purpose::Opening => (Duration::ZERO, Duration::from_secs(60)),
        Purpose::Writing | Purpose::Reading => {
            (STATEMENT_TIMEOUT, lock_timeout.clamp(Duration::from_millis(1), STATEMENT_TIMEOUT))
        }
    };
    let mut settings = format!(
        "SELECT set_config('statement_timeout', '{}', false), set_config('lock_timeout', '{}', false);
         SELECT set_config(name, 'on', false) FROM pg_settings
             WHERE name = 'synchronous_commit' AND setting = 'off';",
        statement.as_millis(),
        lock.as_millis(),
    );
    if purpose == Purpose::Reading {
        settings += "SELECT set_config(name, 'off', false) FROM pg_settings
            WHERE name IN ('enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit');";
    }
    settings
}
