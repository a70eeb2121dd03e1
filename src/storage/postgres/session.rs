//! One connection: its settings, its warnings, its timeouts and its tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use scopeguard::ScopeGuard;
use slog::{debug, warn};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::{AsyncMessage, Client, Error};

use super::address::Address;
pub(super) use super::address::Purpose;
use super::error::PgError;
use super::routing::Target;
use crate::storage::options::StoreOptions;

/// How often an idle connection is tested. A server that was stopped or unplugged closes no connection.
pub(super) const TEST_INTERVAL: Duration = Duration::from_secs(1);
/// The time limit of a test.
const TEST_TIMEOUT: Duration = Duration::from_secs(2);
/// A connection on which nothing arrives for this long, although a query waits, is avoided.
pub(super) const STALL: Duration = Duration::from_millis(250);
/// The function of PostgreSQL that waits for a synchronous standby after a commit. Both of its warnings say that the wait
/// was cancelled; their text depends on `lc_messages`, and their SQLSTATE is also that of other warnings.
const WAIT_FOR_STANDBY: &str = "SyncRepWaitForLSN";
/// The timeout of a request to cancel a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection to a server.
pub(super) struct Session {
    client: Client,
    address: Address,
    /// The host, if there are several.
    target: Option<Target>,
    /// The server committed without waiting for its synchronous standby.
    unreplicated: Arc<AtomicBool>,
    /// The connection must not be used any more.
    discarded: AtomicBool,
    /// The task that sends and receives.
    driver: AbortHandle,
    /// Closed when that task ends.
    ended: watch::Receiver<()>,
    opened: Instant,
    /// The number of queries that wait for a result.
    waiting: AtomicUsize,
    /// When the last result arrived, or the first query was sent after an idle time: milliseconds after `opened`.
    progress: AtomicU64,
    /// The number of queries that were sent.
    sent: AtomicU64,
    /// The number of the last query that has a result. The server runs one query after the other.
    answered: AtomicU64,
}

/// Counts a query that waits for a result.
struct Waiting<'a>(&'a Session);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection that is discarded when its setup is not completed: a driver whose server does not respond never ends.
pub(super) type NewSession = ScopeGuard<Session, fn(Session)>;

impl Session {
    /// Connects. The connection may take as long as a call after the server accepted it.
    pub(super) async fn connect(
        address: &Address,
        purpose: Purpose,
        options: &StoreOptions,
    ) -> Result<NewSession, PgError> {
        let ((client, mut connection), target) =
            address.connect(purpose).await.map_err(PgError::Unreachable)?;
        let unreplicated = Arc::new(AtomicBool::new(false));
        let (running, ended) = watch::channel(());
        let driver = tokio::spawn({
            let (unreplicated, log, address) = (unreplicated.clone(), options.log.clone(), address.clone());
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
                let _running = running;
                // A host that was replaced may never respond again, so queries on it end at once.
                tokio::select! {
                    () = receiving => {}
                    () = address.replaced(target, purpose) => {}
                }
            }
        })
        .abort_handle();
        let session = Self {
            client,
            address: address.clone(),
            target,
            unreplicated,
            discarded: AtomicBool::new(false),
            driver,
            ended,
            opened: Instant::now(),
            waiting: AtomicUsize::new(0),
            progress: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            answered: AtomicU64::new(0),
        };
        let session: NewSession = scopeguard::guard(session, |session| session.discard());
        session.set_up(options, session.client.batch_execute(&settings(purpose, options))).await?;
        Ok(session)
    }

    /// Runs a part of the setup, which may take as long as a call.
    pub(super) async fn set_up<T>(
        &self,
        options: &StoreOptions,
        part: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, PgError> {
        let deadline = Instant::now() + options.postgres.call_timeout();
        self.until(deadline, async { Ok(part.await?) }).await
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.discarded.load(Ordering::Relaxed)
    }

    /// The host, if there are several.
    pub(super) fn target(&self) -> Option<Target> {
        self.target
    }

    /// Whether a new query can expect a result soon.
    pub(super) fn is_responsive(&self) -> bool {
        self.is_usable() && (self.waiting.load(Ordering::Relaxed) == 0 || self.since_progress() < STALL)
    }

    fn since_progress(&self) -> Duration {
        self.opened.elapsed().saturating_sub(Duration::from_millis(self.progress.load(Ordering::Relaxed)))
    }

    fn made_progress(&self) {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.progress.store(now, Ordering::Relaxed);
    }

    /// Completes when the query that was sent last waits for another one and nothing arrives. If it waits for no other
    /// one, it may itself be slow, and completes only when the connection may be lost.
    pub(super) async fn stalled(&self) {
        let last = self.sent.load(Ordering::Relaxed);
        loop {
            sleep(STALL).await;
            let is_first = self.answered.load(Ordering::Relaxed) + 1 >= last;
            if !self.is_responsive() && (!is_first || self.since_progress() >= TEST_TIMEOUT) {
                return;
            }
        }
    }

    /// Completes when the connection is lost. Tests it while it is idle.
    pub(super) async fn lost(&self) {
        let mut ended = self.ended.clone();
        while self.is_usable() {
            if timeout(TEST_INTERVAL, ended.changed()).await.is_err() {
                self.test().await;
            }
        }
    }

    /// Discards the connection if it is idle and the server does not respond.
    pub(super) async fn test(&self) {
        if self.waiting.load(Ordering::Relaxed) == 0 && self.since_progress() >= TEST_INTERVAL {
            let checking = async { Ok(self.client.check_connection().await?) };
            // A failure discards the connection.
            let _ = self.until(Instant::now() + TEST_TIMEOUT, checking).await;
        }
    }

    /// Runs `work` with this session until `deadline`. After a failure of the connection or a timeout, the
    /// session is not used again.
    pub(super) async fn until<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, PgError>>,
    ) -> Result<T, PgError> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) == 0 {
            self.made_progress();
        }
        let waiting = Waiting(self);
        let number = self.sent.fetch_add(1, Ordering::Relaxed) + 1;
        let result = timeout_at(deadline, work).await.unwrap_or(Err(PgError::Timeout));
        if !matches!(result, Err(PgError::Timeout)) {
            self.answered.fetch_max(number, Ordering::Relaxed);
            self.made_progress();
        }
        drop(waiting);
        if result.as_ref().is_err_and(PgError::is_connection_failure) {
            self.discard();
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
fn settings(purpose: Purpose, options: &StoreOptions) -> String {
    let limit = options.postgres.statement_timeout;
    let (statement, lock) = match purpose {
        Purpose::Opening => (Duration::ZERO, Duration::from_secs(60)),
        Purpose::Writing | Purpose::Reading => {
            (limit, options.lock_timeout.clamp(Duration::from_millis(1), limit))
        }
    };
    let mut settings = format!(
        "SELECT set_config('statement_timeout', '{}', false), set_config('lock_timeout', '{}', false),
             set_config('client_min_messages', 'warning', false);
         SELECT set_config(name, 'on', false) FROM pg_settings
             WHERE name = 'synchronous_commit' AND setting = 'off';",
        statement.as_millis(),
        lock.as_millis(),
    );
    // These end the connection, also in the middle of a write. The store has its own time limits for statements, and tests
    // idle connections.
    settings += "SELECT set_config(name, '0', false) FROM pg_settings
        WHERE name IN ('idle_session_timeout', 'transaction_timeout');";
    // A server notices a client that vanished, so that an unfinished write does not keep its locks.
    settings +=
        "SELECT set_config(name, CASE WHEN name = 'tcp_keepalives_count' THEN '3' ELSE '2' END, false)
        FROM pg_settings
        WHERE name IN ('tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count');";
    if purpose == Purpose::Writing {
        // Statements that look for keys must use an index, also if they were planned while the table was empty.
        settings += "SELECT set_config(name, 'off', false) FROM pg_settings
            WHERE name IN ('enable_seqscan', 'enable_bitmapscan', 'jit');";
    }
    if purpose == Purpose::Reading {
        settings += "SELECT set_config(name, 'off', false) FROM pg_settings
            WHERE name IN ('enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit');";
        // Else PostgreSQL plans each page anew: for `LIMIT $2`, a generic plan seems to read a tenth of the table.
        settings += "SELECT set_config(name, 'force_generic_plan', false) FROM pg_settings
            WHERE name = 'plan_cache_mode';";
    }
    settings
}
