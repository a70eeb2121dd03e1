//! Watches the hosts, if the URL names several: polls each on a connection of its own, and publishes which ones to use
//! (`routing.rs`).
//!
//! The queries need no privileges. A host that does not respond in time counts as one that does not respond at all.

use std::time::Duration;

use futures::future::{join_all, select};
use slog::warn;
use tokio::pin;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Client, Error};
use tokio_util::task::AbortOnDropHandle;

use super::address::{Address, Hosts, connect_error};
use super::error::ConnectError;
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
    let errors = (0..count).map(|host| address.silent(host)).collect();
    let (sender, receiver) = watch::channel(Hosts { view: ClusterView::new(count), routing: None, errors });
    let monitor = Monitor { address: address.clone(), options: options.clone(), hosts: sender };
    tokio::spawn(async move {
        let polling = join_all((0..count).map(|host| monitor.watch(host)));
        let unused = monitor.hosts.closed();
        pin!(polling, unused);
        select(polling, unused).await;
    });
    address.published = receiver;
    address
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

struct Monitor {
    address: Address,
    options: StoreOptions,
    hosts: watch::Sender<Hosts>,
}

/// The connection on which a host is polled, with the task that sends and receives.
type Polled = Option<(Client, AbortOnDropHandle<Result<(), Error>>)>;

impl Monitor {
    /// Polls a host for ever, on a new connection when there is none or it was lost.
    async fn watch(&self, host: usize) {
        let mut connection = None;
        loop {
            let (started, has_worked) = (Instant::now(), connection.is_some());
            let polled = timeout(TIMEOUT, self.poll(host, &mut connection)).await;
            match polled.unwrap_or_else(|_| Err(self.address.silent(host))) {
                Ok(seen) => {
                    let name = self.address.name(host).to_owned();
                    let unused = match seen.is_standby {
                        true => ConnectError::ReadOnly { host: name },
                        false => ConnectError::Unconfirmed { host: name },
                    };
                    self.note(host, Some(seen), unused);
                }
                // The server may go on.
                Err(_) if has_worked && connection.take_if(|(client, _)| client.is_closed()).is_some() => {
                    continue;
                }
                Err(error) => {
                    connection = None;
                    self.note(host, None, error);
                }
            }
            sleep_until(started + INTERVAL).await;
        }
    }

    /// Polls a host once, on a new connection if there is none.
    async fn poll(&self, host: usize, connection: &mut Polled) -> Result<HostStatus, ConnectError> {
        let (client, _) = match connection {
            Some(connection) => connection,
            none => {
                let (client, driver) = self.address.connect_to(host, TargetSessionAttrs::Any).await?;
                // The next query reports its error.
                none.insert((client, AbortOnDropHandle::new(tokio::spawn(driver))))
            }
        };
        seen(client).await.map_err(|error| connect_error(self.address.name(host).to_owned(), &error))
    }

    /// Notes the result of a poll, and publishes which hosts to use.
    fn note(&self, host: usize, seen: Option<HostStatus>, error: ConnectError) {
        self.hosts.send_modify(|hosts| {
            hosts.view.polled(host, seen);
            // Nobody asks for the error of a host in use.
            hosts.errors[host] = error;
            if hosts.view.is_complete() {
                let routing = hosts.view.decide(Instant::now());
                self.report(hosts.routing.replace(routing), routing);
            }
        });
    }

    /// Reports the hosts in use to the metrics, and a change of them to the log.
    fn report(&self, before: Option<Routing>, now: Routing) {
        let role = now.read.map(|read| if read.from.is_standby { "standby" } else { "primary" });
        let age = now.read.map(|read| read.as_of.elapsed());
        self.options.metrics.reads_from(role.zip(age));
        let Some(before) = before else { return };
        let name = |host: Option<usize>| host.map_or("none", |host| self.address.name(host));
        let read = |routing: Routing| routing.read.map(|read| read.from.host);
        if (before.primary, read(before)) != (now.primary, read(now)) {
            warn!(self.options.log, "the hosts of the database in use changed";
                "primary" => name(now.primary), "reads" => name(read(now)));
        }
    }
}
