//! Watches the hosts, if the URL names several: polls each on a connection of its own, and publishes which ones to use
//! (`routing.rs`).
//!
//! The queries need no privileges. A host that does not respond in time counts as one that does not respond at all.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{join_all, select};
use slog::{Logger, warn};
use tokio::pin;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_postgres::{Client, Error, Statement};

use super::address::{Address, Hosts};
use super::error::{ConnectError, describe};
use super::routing::{ClusterView, HostStatus, Routing};
use crate::storage::options::StoreOptions;

/// How often each host is polled.
const INTERVAL: Duration = Duration::from_millis(250);
/// The time limit of a poll, including the connection.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Selects the fields of [`HostStatus`]. The subquery is evaluated once, so that a promotion during the query does not mix the
/// two roles. A standby shows the timeline that it follows only after a restartpoint or after it has written changed pages.
const POLL: &str = "SELECT is_standby, \
         CASE WHEN is_standby \
             THEN greatest((pg_control_checkpoint()).timeline_id, (pg_control_recovery()).min_recovery_end_timeline)::bigint \
             ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint \
         END AS timeline, \
         (CASE WHEN is_standby THEN greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) \
             ELSE pg_current_wal_flush_lsn() END - '0/0'::pg_lsn)::bigint AS received_lsn, \
         (coalesce(pg_last_wal_replay_lsn(), '0/0') - '0/0'::pg_lsn)::bigint AS replay_lsn, \
         current_setting('synchronous_standby_names') <> '' \
             AND current_setting('synchronous_commit') <> 'local' AS is_synchronous \
     FROM (SELECT pg_is_in_recovery() AS is_standby OFFSET 0) AS role";

/// Starts to watch the hosts of `address`, if there are several. Returns the address that follows them. Must be called
/// within a tokio runtime. The watch ends when the last copy of the address is dropped.
pub(super) fn follow(address: Address, options: &StoreOptions) -> Address {
    let count = address.len();
    if count < 2 {
        return address;
    }
    let (sender, receiver) = watch::channel(Hosts::default());
    let state = Mutex::new(State { view: ClusterView::new(count), errors: vec![None; count] });
    let monitor = Arc::new(Monitor { address: address.clone(), options: options.clone(), state, sender });
    tokio::spawn(async move {
        let polling = join_all((0..count).map(|host| monitor.poll(host)));
        let unused = monitor.sender.closed();
        pin!(polling, unused);
        select(polling, unused).await;
    });
    address.following(receiver)
}

struct Monitor {
    address: Address,
    options: StoreOptions,
    state: Mutex<State>,
    sender: watch::Sender<Hosts>,
}

struct State {
    view: ClusterView,
    /// Why each host is not used.
    errors: Vec<Option<ConnectError>>,
}

/// A connection for polls.
struct Connection {
    client: Client,
    poll: Statement,
    driver: AbortHandle,
}

impl Connection {
    async fn open(
        client: Client,
        driver: impl Future<Output = Result<(), Error>> + Send + 'static,
    ) -> Result<Self, Error> {
        let driver = tokio::spawn(async move {
            // The next poll reports an error.
            let _ = driver.await;
        });
        // Ends the driver also if the statement is not accepted.
        let guard = scopeguard::guard(driver.abort_handle(), |driver| driver.abort());
        let poll = client.prepare(POLL).await?;
        Ok(Self { client, poll, driver: scopeguard::ScopeGuard::into_inner(guard) })
    }

    /// Returns the state of the host.
    async fn seen(&self) -> Result<HostStatus, Error> {
        let started = Instant::now();
        let row = self.client.query_one(&self.poll, &[]).await?;
        let lsn = |column: &str| row.try_get(column).map(|lsn: i64| lsn.unsigned_abs());
        Ok(HostStatus {
            started,
            ended: Instant::now(),
            is_standby: row.try_get("is_standby")?,
            timeline: row.try_get("timeline")?,
            received_lsn: lsn("received_lsn")?,
            replay_lsn: lsn("replay_lsn")?,
            is_synchronous: row.try_get("is_synchronous")?,
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Monitor {
    /// Polls a host for ever.
    async fn poll(&self, host: usize) {
        let mut connection = None;
        loop {
            let started = Instant::now();
            let polled = timeout(TIMEOUT, self.ask(host, &mut connection)).await;
            let name = || self.address.name(host);
            let polled = polled.unwrap_or_else(|_| {
                Err(ConnectError::Unreachable { host: name(), why: "no response in time".to_owned() })
            });
            if polled.is_err() {
                connection = None;
            }
            let error = match &polled {
                Err(error) => error.clone(),
                Ok(seen) if seen.is_standby => ConnectError::ReadOnly { host: name() },
                Ok(_) => ConnectError::Unconfirmed { host: name() },
            };
            self.note(host, polled.ok(), error);
            sleep_until(started + INTERVAL).await;
        }
    }

    /// Asks a host for its state, on a new connection if there is none or it was lost.
    async fn ask(
        &self,
        host: usize,
        connection: &mut Option<Connection>,
    ) -> Result<HostStatus, ConnectError> {
        if let Some(open) = connection
            && let Ok(seen) = open.seen().await
        {
            return Ok(seen);
        }
        // The connection may have ended while the server goes on.
        *connection = None;
        let (client, driver) = self.address.connect_to_any(host).await?;
        let opening = async {
            let open = connection.insert(Connection::open(client, driver).await?);
            open.seen().await
        };
        opening.await.map_err(|error: Error| {
            let code = error.code().map(|code| code.code().to_owned());
            ConnectError::Refused { host: self.address.name(host), code, why: describe(&error) }
        })
    }

    /// Notes the result of a poll, and publishes which hosts to use.
    fn note(&self, host: usize, seen: Option<HostStatus>, error: ConnectError) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.view.polled(host, seen);
        state.errors[host] = Some(error);
        if !state.view.is_complete() {
            return;
        }
        let routing = state.view.decide(Instant::now());
        let role = routing.read.map(|read| if read.from.is_standby { "standby" } else { "primary" });
        let age = routing.read.map(|read| read.as_of.elapsed());
        self.options.metrics.reads_from(role.zip(age));
        // Of a host in use there is no error.
        let errors = state.errors.iter().flatten().cloned().collect();
        let before = self.sender.send_replace(Hosts { routing: Some(routing), errors });
        self.log(before.routing, routing, &self.options.log);
    }

    /// Logs a change of the hosts in use.
    fn log(&self, before: Option<Routing>, now: Routing, log: &Logger) {
        let Some(before) = before else { return };
        let name = |host: Option<usize>| host.map_or("none".to_owned(), |host| self.address.name(host));
        let read = |routing: Routing| routing.read.map(|read| read.from.host);
        if (before.primary, read(before)) != (now.primary, read(now)) {
            warn!(log, "the hosts of the database in use changed";
                "primary" => name(now.primary), "reads" => name(read(now)));
        }
    }
}
