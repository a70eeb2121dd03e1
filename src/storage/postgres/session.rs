//! One connection: its settings, its warnings, and the time it may take.

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

/// How long the server may work on one statement. Less than the caller waits, so that what the caller
/// learns is what happened.
const STATEMENT: Duration = Duration::from_millis(3_500);
/// How long a request to cancel may take.
const CANCEL: Duration = Duration::from_secs(2);

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Migrations, which may take long.
    Opening,
    Writing,
    /// Queries that must use an index, whatever the planner believes to know about the tables.
    Reading,
}

/// A connection to a server that takes writes.
pub(super) struct Session {
    client: Client,
    address: Address,
    /// The server sent a warning.
    warned: Arc<AtomicBool>,
    /// Must not be used any more.
    spoiled: AtomicBool,
    /// What moves the bytes.
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
                        // SQLSTATE class 00 is success; all others are worth a warning.
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
            Self { client, address: address.clone(), warned, spoiled: AtomicBool::new(false), driver };
        session.client.batch_execute(&settings(purpose, lock_timeout)).await?;
        session.warned.store(false, Ordering::SeqCst);
        Ok(session)
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.spoiled.load(Ordering::Relaxed)
    }

    /// Waits for `work` with this session until `deadline`. When it fails with the connection or is late,
    /// the session is not used again.
    pub(super) async fn until<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let done = timeout_at(deadline, work).await.unwrap_or(Err(Failure::Late));
        if done.as_ref().is_err_and(Failure::is_of_connection) {
            self.spoil();
        }
        done
    }

    /// As [`Session::until`] for one statement that writes and nobody else's. Success with a warning is no
    /// success: PostgreSQL says in this way that a commit did not reach the standby that it should reach.
    pub(super) async fn write_until<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.warned.store(false, Ordering::SeqCst);
        let done = self.until(deadline, work).await;
        if matches!(done, Err(Failure::Late)) {
            self.cancel();
        }
        if done.is_ok() && self.warned.load(Ordering::SeqCst) {
            return Err(Failure::Doubtful);
        }
        done
    }

    /// Lets go of the connection, with what others wait for on it.
    fn spoil(&self) {
        self.spoiled.store(true, Ordering::Relaxed);
        self.driver.abort();
    }

    /// Asks the server to end what it does, so that connections which nobody waits for do not pile up.
    fn cancel(&self) {
        let (token, tls) = (self.client.cancel_token(), self.address.tls().clone());
        tokio::spawn(async move {
            // A server that does not answer this either will find the connection closed.
            let _ = timeout(CANCEL, token.cancel_query(tls)).await;
        });
    }
}

/// The statements that make a connection fit for its purpose. Settings are looked up in `pg_settings`
/// where a server that speaks PostgreSQL's protocol may lack them.
fn settings(purpose: Purpose, lock_timeout: Duration) -> String {
    let (statement, lock) = match purpose {
        Purpose::Opening => (Duration::ZERO, Duration::from_secs(60)),
        Purpose::Writing | Purpose::Reading => {
            (STATEMENT, lock_timeout.clamp(Duration::from_millis(1), STATEMENT))
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
