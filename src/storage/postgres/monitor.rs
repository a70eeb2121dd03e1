//! Watches the hosts, if the URL names several: polls each on a connection of its own, and publishes which ones to use
//! (`routing.rs`).
//!
//! The queries need no privileges. A host that does not respond in time counts as one that does not respond at all.

use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{join_all, select};
use slog::{Logger, warn};
use tokio::pin;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Client, Error};

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
pub(super) fn follow(mut address: Address, options: &StoreOptions) -> Address {
    let count = address.len();
    if count < 2 {
        return address;
    }
    let (sender, receiver) = watch::channel(Hosts::default());
    let state = Mutex::new(State { view: ClusterView::new(count), errors: vec![None; count] });
    let monitor = Arc::new(Monitor { address: address.clone(), options: options.clone(), state, sender });
    tokio::spawn(async move {
        let polling = join_all((0..count).map(|host| monitor.watch(host)));
        let unused = monitor.sender.closed();
        pin!(polling, unused);
        select(polling, unused).await;
    });
    address.in_use = Some(receiver);
    address
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

/// Returns the state of a host.
async fn seen(client: &Client) -> Result<HostStatus, Error> {
    let started = Instant::now();
    let row = client.query_one(POLL, &[]).await?;
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

impl Monitor {
    /// Polls a host for ever, on a new connection when there is none or it was lost.
    async fn watch(&self, host: usize) {
        loop {
            let started = Instant::now();
            let connected = timeout(TIMEOUT, self.address.connect_to(host, TargetSessionAttrs::Any)).await;
            let error = match connected.unwrap_or_else(|_| Err(self.address.silent(host))) {
                Ok((client, driver)) => {
                    let driving = async {
                        // The next poll reports an error.
                        let _ = driver.await;
                        pending().await
                    };
                    tokio::select! {
                        error = self.poll(host, &client) => error,
                        error = driving => error,
                    }
                }
                Err(error) => Some(error),
            };
            if let Some(error) = error {
                self.note(host, None, error);
                sleep_until(started + INTERVAL).await;
            }
        }
    }

    /// Polls a host until that fails. Returns the error; `None` if a connection ended that had worked, because the server
    /// may go on.
    async fn poll(&self, host: usize, client: &Client) -> Option<ConnectError> {
        let mut has_worked = false;
        loop {
            let started = Instant::now();
            let name = self.address.name(host).to_owned();
            match timeout(TIMEOUT, seen(client)).await {
                Ok(Ok(seen)) => {
                    let unused = match seen.is_standby {
                        true => ConnectError::ReadOnly { host: name },
                        false => ConnectError::Unconfirmed { host: name },
                    };
                    self.note(host, Some(seen), unused);
                    has_worked = true;
                }
                Ok(Err(error)) if error.is_closed() && has_worked => return None,
                Ok(Err(error)) => {
                    let code = error.code().map(|code| code.code().to_owned());
                    return Some(ConnectError::Refused { host: name, code, why: describe(&error) });
                }
                Err(_) => return Some(self.address.silent(host)),
            }
            sleep_until(started + INTERVAL).await;
        }
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
        let name = |host: Option<usize>| host.map_or("none", |host| self.address.name(host));
        let read = |routing: Routing| routing.read.map(|read| read.from.host);
        if (before.primary, read(before)) != (now.primary, read(now)) {
            warn!(log, "the hosts of the database in use changed";
                "primary" => name(now.primary), "reads" => name(read(now)));
        }
    }
}
