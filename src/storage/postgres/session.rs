//! One connection: its settings, its warnings and its timeouts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{StreamExt as _, stream};
use slog::{debug, warn};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::{AsyncMessage, Client, Error};
use tokio_util::sync::CancellationToken;

use super::address::Address;
pub(super) use super::address::Purpose;
use super::error::PgError;
use super::routing::Target;
use crate::storage::options::StoreOptions;

/// The function of PostgreSQL that waits for a synchronous standby after a commit. Both of its warnings say that the wait
/// was cancelled; their text depends on `lc_messages`, and their SQLSTATE is also that of other warnings.
const WAIT_FOR_STANDBY: &str = "SyncRepWaitForLSN";
/// The timeout of a request to cancel a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection to a server.
pub(super) struct Session {
    client: Client,
    address: Address,
    target: Target,
    /// The server committed without waiting for its synchronous standby.
    unreplicated: Arc<AtomicBool>,
    /// Cancelled when the connection is lost, or closed with the other queries on it.
    closed: CancellationToken,
}

impl Session {
    /// Connects and prepares statements. That may take as long as a call after the server accepted the connection.
    pub(super) async fn connect<T>(
        address: &Address,
        purpose: Purpose,
        options: &StoreOptions,
        prepare: impl for<'c> FnOnce(&'c Client) -> BoxFuture<'c, Result<T, Error>>,
    ) -> Result<(Self, T), PgError> {
        let ((client, mut connection), target) =
            address.connect(purpose).await.map_err(PgError::Unreachable)?;
        let unreplicated = Arc::new(AtomicBool::new(false));
        let closed = CancellationToken::new();
        tokio::spawn({
            let (unreplicated, log, address) = (unreplicated.clone(), options.log.clone(), address.clone());
            let (closed, ended) = (closed.clone(), closed.clone().drop_guard());
            let receiving = async move {
                let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
                while let Some(message) = messages.next().await {
                    match message {
                        // SQLSTATE class 00 is success, such as for a NOTICE.
                        Ok(AsyncMessage::Notice(notice)) if !notice.code().code().starts_with("00") => {
                            if notice.routine() == Some(WAIT_FOR_STANDBY) {
                                unreplicated.store(true, Ordering::SeqCst);
                            }
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
            };
            async move {
                let _ended = ended;
                // A host that was replaced may never respond again, so queries on it end at once.
                tokio::select! {
                    () = receiving => {}
                    () = address.replaced(target, purpose) => {}
                    () = closed.cancelled() => {}
                }
            }
        });
        // Without it, the task would wait for ever for a server that does not respond.
        let until_set_up = closed.clone().drop_guard();
        let session = Self { client, address: address.clone(), target, unreplicated, closed };
        let set_up = async {
            session.client.batch_execute(&settings(purpose, options)).await?;
            Ok(prepare(&session.client).await?)
        };
        let prepared = session.until(Instant::now() + options.postgres.call_timeout(), set_up).await?;
        until_set_up.disarm();
        Ok((session, prepared))
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.closed.is_cancelled()
    }

    pub(super) fn target(&self) -> Target {
        self.target
    }

    /// Completes when the connection is lost.
    pub(super) async fn lost(&self) {
        self.closed.cancelled().await;
    }

    /// Runs `work` with this session until `deadline`. After a failure of the connection or a timeout, the
    /// session is not used again.
    pub(super) async fn until<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, PgError>>,
    ) -> Result<T, PgError> {
        let result = timeout_at(deadline, work).await.unwrap_or(Err(PgError::Timeout));
        if result.as_ref().is_err_and(PgError::is_connection_failure) {
            self.closed.cancel();
        }
        result
    }

    /// Runs like [`Session::until`] one statement that writes, and no other at the same time. Fails if PostgreSQL warns
    /// that the commit may not have reached its synchronous standby. Other warnings, as of triggers, are logged only.
    pub(super) async fn write_until<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, PgError>>,
    ) -> Result<T, PgError> {
        self.unreplicated.store(false, Ordering::SeqCst);
        let result = self.until(deadline, work).await;
        if matches!(result, Err(PgError::Timeout)) {
            self.cancel();
        }
        if result.is_ok() && self.unreplicated.load(Ordering::SeqCst) {
            return Err(PgError::NotReplicated);
        }
        result
    }

    /// Asks the server to cancel the statement, so that abandoned sessions do not accumulate.
    fn cancel(&self) {
        let (token, tls) = (self.client.cancel_token(), self.address.tls.clone());
        tokio::spawn(async move {
            // If this fails too, the server finds the connection closed.
            let _ = timeout(CANCEL_TIMEOUT, token.cancel_query(tls)).await;
        });
    }
}

/// Returns the statements that set up a connection. A compatible server may lack some of the settings.
fn settings(purpose: Purpose, options: &StoreOptions) -> String {
    let limit = options.postgres.statement_timeout;
    let (statement, lock) = match purpose {
        Purpose::Opening => (Duration::ZERO, Duration::from_secs(60)),
        Purpose::Writing | Purpose::Reading => {
            (limit, options.lock_timeout.clamp(Duration::from_millis(1), limit))
        }
    };
    let (statement, lock) = (statement.as_millis().to_string(), lock.as_millis().to_string());
    let mut settings = vec![
        ("statement_timeout", &*statement),
        ("lock_timeout", &*lock),
        ("client_min_messages", "warning"),
        // These end the connection, also in the middle of a write. The store has its own time limits for statements.
        ("idle_session_timeout", "0"),
        ("idle_in_transaction_session_timeout", "0"),
        ("transaction_timeout", "0"),
        // A server notices a client that vanished, so that an unfinished write does not keep its locks.
        ("tcp_keepalives_idle", "2"),
        ("tcp_keepalives_interval", "2"),
        ("tcp_keepalives_count", "3"),
    ];
    if purpose != Purpose::Opening {
        // Statements must use an index, also if they were planned while the table was empty.
        settings.extend([("enable_seqscan", "off"), ("enable_bitmapscan", "off"), ("jit", "off")]);
    }
    if purpose == Purpose::Reading {
        // Else PostgreSQL plans each page anew: for `LIMIT $2`, a generic plan seems to read a tenth of the table.
        settings.extend([("enable_sort", "off"), ("plan_cache_mode", "force_generic_plan")]);
    }
    let values: Vec<String> = settings.iter().map(|(name, value)| format!("('{name}', '{value}')")).collect();
    format!(
        "SELECT set_config(name, value, false) \
             FROM pg_settings JOIN (VALUES {}) AS wanted (name, value) USING (name); \
         SELECT set_config(name, 'on', false) FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'off'",
        values.join(", ")
    )
}
