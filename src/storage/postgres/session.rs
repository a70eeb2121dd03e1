//! One connection to the primary: its settings, its warnings and its time limits.
//!
//! An old primary that comes back before it is demoted is kept out: each promotion of a standby increases the timeline of the
//! cluster (PostgreSQL documentation, "Timelines"). A connection to a lower timeline than this process has seen is rejected,
//! and open ones are closed as soon as a higher one is seen.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use slog::{Logger, debug, warn};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::error::DbError;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error, SimpleQueryMessage, SimpleQueryRow, Socket,
};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::sync::CancellationToken;

use super::error::{ConnectError, PgError};
use crate::storage::options::StoreOptions;

type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// The function of PostgreSQL that waits for a synchronous standby after a commit. Both of its warnings say that the wait
/// was cancelled; their text depends on `lc_messages`, and their SQLSTATE is also that of other warnings.
const WAIT_FOR_STANDBY: &str = "SyncRepWaitForLSN";
/// The timeout of a request to cancel a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the timeline of a primary: the first eight hexadecimal digits of the name of its WAL file. Every role may
/// execute it. Fails on a standby.
pub(super) const CURRENT: &str = "SELECT substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)";

/// A connection to the primary.
pub(in crate::storage) struct Session {
    client: Client,
    /// The process of the server that serves this connection, as text.
    backend: String,
    pub(super) timeline: u32,
    tls: MakeRustlsConnect,
    /// The server committed without waiting for its synchronous standby.
    unreplicated: Arc<AtomicBool>,
    /// Cancelled when the connection is lost, or closed with the other queries on it.
    closed: CancellationToken,
}

impl Session {
    /// Connects to the host `name` and sets the connection up.
    ///
    /// # Errors
    /// Also if the host is a standby or an old primary.
    pub(super) async fn open(
        name: &str,
        config: &Config,
        tls: &MakeRustlsConnect,
        settings: &str,
        highest: &watch::Sender<u32>,
        log: &Logger,
    ) -> Result<Self, ConnectError> {
        let failed = |error: Error| ConnectError::new(name, &error);
        let (client, mut connection) = config.connect(tls.clone()).await.map_err(failed)?;
        let rows = tokio::select! {
            rows = client.simple_query(settings) => rows.map_err(failed)?,
            ended = receive(&mut connection, |_| {}) => {
                return Err(ended.map_err(failed).err().unwrap_or_else(|| ConnectError::closed(name.to_owned())));
            }
        };
        let row = rows.iter().rev().find_map(|row| match row {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        // NULL on a standby.
        let timeline =
            row.and_then(|row: &SimpleQueryRow| row.get(0)).and_then(|it| u32::from_str_radix(it, 16).ok());
        let timeline = timeline.ok_or_else(|| ConnectError::Standby { host: name.to_owned() })?;
        let backend = row.and_then(|row| row.get(1)).unwrap_or_default().to_owned();
        let mut later = admitted(highest, timeline).map_err(|seen| {
            let why = format!("it is an old primary: its timeline is {timeline}, but {seen} was seen before");
            ConnectError::Old { host: name.to_owned(), why }
        })?;
        let (unreplicated, closed) = (Arc::new(AtomicBool::new(false)), CancellationToken::new());
        let session = Self {
            client,
            backend,
            timeline,
            tls: tls.clone(),
            unreplicated: unreplicated.clone(),
            closed: closed.clone(),
        };
        let (log, name) = (log.clone(), name.to_owned());
        tokio::spawn(async move {
            let _ended = closed.clone().drop_guard();
            // Some warnings come with each statement.
            let mut logged = HashSet::new();
            let warned = |notice: DbError| {
                if notice.routine() == Some(WAIT_FOR_STANDBY) {
                    unreplicated.store(true, Ordering::SeqCst);
                }
                if logged.insert((notice.code().code().to_owned(), notice.routine().map(str::to_owned))) {
                    warn!(log, "the database warned"; "hint" => notice.hint(),
                        "message" => notice.message(), "code" => notice.code().code());
                }
            };
            // A host that was replaced may never respond again, so queries on it end at once.
            tokio::select! {
                ended = receive(&mut connection, warned) => if let Err(error) = ended {
                    debug!(log, "a connection to the database ended"; "error" => %error);
                },
                Ok(_) = later.wait_for(|highest| *highest > timeline) => {
                    warn!(log, "closing a connection to an old primary"; "host" => name);
                }
                () = closed.cancelled() => {}
            }
        });
        Ok(session)
    }

    pub(super) fn backend(&self) -> &str {
        &self.backend
    }

    pub(in crate::storage) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.closed.is_cancelled()
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

    /// Runs a transaction like [`Session::until`], and nothing else at the same time. After any failure the session is
    /// closed, so that nothing of it is committed later. Fails if PostgreSQL warns that the commit may not have reached its
    /// synchronous standby. Other warnings, as of triggers, are logged only.
    pub(in crate::storage) async fn transaction<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, PgError>>,
    ) -> Result<T, PgError> {
        self.unreplicated.store(false, Ordering::SeqCst);
        let mut result = timeout_at(deadline, work).await.unwrap_or(Err(PgError::Timeout));
        if result.is_ok() && self.unreplicated.load(Ordering::SeqCst) {
            result = Err(PgError::NotReplicated);
        }
        if matches!(result, Err(PgError::Timeout)) {
            self.cancel();
        }
        if result.is_err() {
            self.closed.cancel();
        }
        result
    }

    /// Asks the server to cancel the statement, so that abandoned sessions do not accumulate.
    fn cancel(&self) {
        let (token, tls) = (self.client.cancel_token(), self.tls.clone());
        tokio::spawn(async move {
            // If this fails too, the server finds the connection closed.
            let _ = timeout(CANCEL_TIMEOUT, token.cancel_query(tls)).await;
        });
    }
}

/// Receives messages until the connection ends.
async fn receive(
    connection: &mut Connection<Socket, Stream>,
    mut warned: impl FnMut(DbError),
) -> Result<(), Error> {
    while let Some(message) = std::future::poll_fn(|context| connection.poll_message(context)).await {
        match message? {
            // SQLSTATE class 00 is success, such as for a NOTICE.
            AsyncMessage::Notice(notice) if !notice.code().code().starts_with("00") => warned(notice),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the statements that set up a connection, whatever the settings of the server, the database and the user are. The
/// last one returns the timeline, or NULL on a standby, and the process of the server. `schema` is the one with the tables; `None` for the first of
/// `search_path`.
pub(super) fn settings(schema: Option<&str>, options: &StoreOptions) -> String {
    let limit = options.postgres.statement_timeout;
    let lock = options.lock_timeout.clamp(Duration::from_millis(1), limit).as_millis().to_string();
    let limit = limit.as_millis().to_string();
    let schema = schema.map(|schema| format!("\"{}\"", schema.replace('"', "\"\"")));
    let mut settings = vec![
        ("statement_timeout", &*limit),
        ("lock_timeout", &*lock),
        // A client that stops in a transaction holds the lock of all writers.
        ("idle_in_transaction_session_timeout", &*limit),
        // These end the connection, also in the middle of a write.
        ("idle_session_timeout", "0"),
        ("transaction_timeout", "0"),
        // A server notices a client that vanished, so that an unfinished write does not keep its locks.
        ("tcp_keepalives_idle", "2"),
        ("tcp_keepalives_interval", "2"),
        ("tcp_keepalives_count", "3"),
        ("tcp_user_timeout", "5000"),
        // A batch sees what was committed before it got the lock.
        ("default_transaction_isolation", "read committed"),
        // A policy that hides rows is an error.
        ("row_security", "off"),
        ("TimeZone", "UTC"),
        ("client_min_messages", "warning"),
        // Statements must use an index, also if they were planned while the table was empty.
        ("enable_seqscan", "off"),
        ("enable_bitmapscan", "off"),
        ("enable_sort", "off"),
        ("jit", "off"),
        // Else PostgreSQL plans each page anew: for `LIMIT $2`, a generic plan seems to read a tenth of the table.
        ("plan_cache_mode", "force_generic_plan"),
    ];
    if let Some(schema) = &schema {
        settings.push(("search_path", schema));
    }
    let values: Vec<String> =
        settings.iter().map(|(name, value)| format!("('{name}', '{}')", value.replace('\'', "''"))).collect();
    // A compatible server may lack some of the settings.
    format!(
        "SELECT set_config(name, value, false) \
             FROM pg_settings JOIN (VALUES {}) AS wanted (name, value) USING (name); \
         SELECT set_config('synchronous_commit', 'on', false) \
             WHERE current_setting('synchronous_commit') <> 'remote_apply'; \
         SELECT CASE WHEN NOT pg_is_in_recovery() THEN ({CURRENT}) END, pg_backend_pid()",
        values.join(", ")
    )
}

/// Notes the timeline of a new connection in `highest`, the highest one that this process has seen. Returns a receiver of
/// later changes; an error with the highest timeline if that is another one.
fn admitted(highest: &watch::Sender<u32>, found: u32) -> Result<watch::Receiver<u32>, u32> {
    highest.send_if_modified(|highest| {
        let is_higher = found > *highest;
        *highest = found.max(*highest);
        is_higher
    });
    let later = highest.subscribe();
    let seen = *later.borrow();
    if seen > found { Err(seen) } else { Ok(later) }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn a_higher_timeline_replaces_lower_ones_for_good() {
        let highest = watch::Sender::new(0);
        let first = admitted(&highest, 3).unwrap();
        let mut second = admitted(&highest, 3).unwrap();
        assert!(!first.has_changed().unwrap());
        let third = admitted(&highest, 4).unwrap();
        assert_eq!(second.wait_for(|it| *it > 3).now_or_never().map(|it| *it.unwrap()), Some(4));
        assert_eq!(admitted(&highest, 3).err(), Some(4));
        assert!(!third.has_changed().unwrap());
    }
}
