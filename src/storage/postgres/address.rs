//! The URL of a database: its hosts, and connecting to the primary.
//!
//! `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETER=VALUE`, as in the PostgreSQL
//! documentation, "Connection URIs". Of several hosts, the monitor says which one to use (`monitor.rs`), so that the
//! store follows a failover. The connect timeout includes the handshake. Writes need a host that accepts them,
//! whatever the URL says.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{ConnectError, describe};
use super::routing::{ClusterView, Read, Routing, Target};
use super::tls;

/// How long a read waits for the monitor to find a host that may be read.
const WAIT: Duration = Duration::from_millis(500);
/// The idle time of a connection before TCP keepalive probes, and the time between them.
const KEEPALIVE: Duration = Duration::from_secs(5);
/// The maximum time that sent data and probes stay unacknowledged before the connection is closed.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(5);

/// Longer than any process runs.
const ALWAYS: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

type Connected = (Client, Connection<Socket, Stream>);
type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Migrations, which may take long.
    Opening,
    Writing,
    /// Queries that must use an index, whatever the statistics are.
    Reading,
}

/// The hosts, as the monitor publishes them.
pub(super) struct Hosts {
    pub(super) view: ClusterView,
    /// Which hosts to use; `None` until each was polled.
    pub(super) routing: Option<Routing>,
    /// Why each host is not used, unless it is.
    pub(super) errors: Vec<ConnectError>,
}

impl Hosts {
    /// Returns the only host, which is used without being polled.
    fn only() -> Self {
        let target = Target { host: 0, is_standby: false };
        let read = Some(Read { from: target, as_of: Instant::now() + ALWAYS });
        let routing = Some(Routing { primary: Some(target.host), read });
        Self { view: ClusterView::new(1), routing, errors: Vec::new() }
    }

    /// Returns the host that is used for this purpose.
    fn in_use(&self, purpose: Purpose) -> Option<Target> {
        let routing = self.routing?;
        match purpose {
            Purpose::Reading => routing.read.map(|read| read.from),
            Purpose::Opening | Purpose::Writing => {
                routing.primary.map(|host| Target { host, is_standby: false })
            }
        }
    }

    /// Returns the host that may be used for this purpose now.
    fn target(&self, purpose: Purpose) -> Option<Target> {
        let is_allowed = purpose != Purpose::Reading || self.routing?.read?.is_allowed(Instant::now());
        self.in_use(purpose).filter(|_| is_allowed)
    }
}

/// The address of a database.
#[derive(Clone)]
pub(super) struct Address {
    hosts: Vec<(String, Config)>,
    /// The time limit for a host whose configuration has none.
    connect_timeout: Duration,
    pub(super) database: String,
    pub(super) user: String,
    pub(super) tls: MakeRustlsConnect,
    /// What the monitor publishes.
    pub(super) published: watch::Receiver<Hosts>,
}

impl Address {
    /// Parses a URL. `connect_timeout` applies unless the URL has one. The error never repeats a part that may be a
    /// password.
    pub(super) fn parse(url: &str, connect_timeout: Duration) -> Result<Self, String> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut root, mut rest) = (None, None, Vec::new());
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match form_urlencoded::parse(parameter.as_bytes()).next() {
                Some((name, value)) if name == "sslmode" => mode = Some(value.into_owned()),
                Some((name, value)) if name == "sslrootcert" => root = Some(value.into_owned()),
                _ => rest.push(parameter),
            }
        }
        let (mode, tls) = tls::configure(mode.as_deref(), root.as_deref())?;
        let query = rest.join("&");
        let configs: Vec<Config> = each_host(base)
            .map(|base| format!("{base}?{query}").parse().map_err(|error| invalid_url(&error)))
            .collect::<Result<_, String>>()?;
        let mut hosts = Vec::new();
        for mut config in configs {
            if config.get_target_session_attrs() == TargetSessionAttrs::ReadOnly {
                return Err("target_session_attrs must be read-write, because the store writes".to_owned());
            }
            if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
                return Err("it has no host".to_owned());
            }
            config.ssl_mode(mode);
            if config.get_tcp_user_timeout().is_none() {
                config.tcp_user_timeout(TCP_USER_TIMEOUT);
            }
            if config.get_application_name().is_none() {
                config.application_name("animal-store");
            }
            config
                .keepalives_idle(config.get_keepalives_idle().min(KEEPALIVE))
                .keepalives_interval(KEEPALIVE);
            hosts.push((host_and_port(&config), config));
        }
        let first = &hosts.first().ok_or("it has no host")?.1;
        let user = first.get_user().ok_or("it has no user")?.to_owned();
        let database = first.get_dbname().unwrap_or(&user).to_owned();
        let published = watch::channel(Hosts::only()).1;
        Ok(Self { hosts, connect_timeout, database, user, tls, published })
    }

    /// The number of hosts.
    pub(super) fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Returns a host with its port.
    pub(super) fn name(&self, host: usize) -> &str {
        &self.hosts[host].0
    }

    fn connect_timeout(&self, host: usize) -> Duration {
        self.hosts[host].1.get_connect_timeout().copied().unwrap_or(self.connect_timeout)
    }

    /// Returns the error of a host that does not respond.
    pub(super) fn silent(&self, host: usize) -> ConnectError {
        ConnectError::Unreachable { host: self.name(host).to_owned(), why: "no response in time".to_owned() }
    }

    /// Connects to the host for this purpose.
    ///
    /// # Errors
    /// The error of that host, or of each host if none can be used.
    pub(super) async fn connect(&self, purpose: Purpose) -> Result<(Connected, Target), Vec<ConnectError>> {
        let target = self.target(purpose).await?;
        let attributes = match target.is_standby {
            true => TargetSessionAttrs::Any,
            false => TargetSessionAttrs::ReadWrite,
        };
        let connected = self.connect_to(target.host, attributes).await.map_err(|error| vec![error])?;
        Ok((connected, target))
    }

    /// Connects to a host that has these attributes.
    pub(super) async fn connect_to(
        &self,
        host: usize,
        attributes: TargetSessionAttrs,
    ) -> Result<Connected, ConnectError> {
        let (name, config) = &self.hosts[host];
        let limit = self.connect_timeout(host);
        let mut config = config.clone();
        config.target_session_attrs(attributes);
        match timeout(limit, config.connect(self.tls.clone())).await {
            Ok(connected) => connected.map_err(|error| connect_error(name.clone(), &error)),
            Err(_) => Err(self.silent(host)),
        }
    }

    /// Returns the host for this purpose, as soon as it may be used.
    ///
    /// # Errors
    /// The error of each host.
    pub(super) async fn target(&self, purpose: Purpose) -> Result<Target, Vec<ConnectError>> {
        let limit = if purpose == Purpose::Reading { WAIT } else { self.connect_timeout(0) };
        // Without a primary, writes fail at once.
        let is_final = |hosts: &Hosts| purpose == Purpose::Writing && hosts.routing.is_some();
        let mut hosts = self.published.clone();
        let found = hosts.wait_for(|hosts| hosts.target(purpose).is_some() || is_final(hosts));
        // Without a result in time, the last one has the errors.
        let _ = timeout(limit, found).await;
        let hosts = hosts.borrow();
        hosts.target(purpose).ok_or_else(|| hosts.errors.clone())
    }

    /// Completes when another host is used for this purpose in place of `target`.
    pub(super) async fn replaced(&self, target: Target, purpose: Purpose) {
        // Also when the same one has another role.
        let is_replaced = |hosts: &Hosts| hosts.in_use(purpose).is_some_and(|now| now != target);
        let mut hosts = self.published.clone();
        if hosts.wait_for(is_replaced).await.is_err() {
            // The hosts are not polled any more.
            std::future::pending().await
        }
    }
}

/// Returns the URL once for each of its hosts.
fn each_host(base: &str) -> impl Iterator<Item = String> {
    let start = base.find("://").map_or(0, |at| at + 3);
    let start = base[start..].find('@').map_or(start, |at| start + at + 1);
    let end = base[start..].find('/').map_or(base.len(), |at| start + at);
    let (before, hosts, after) = (&base[..start], &base[start..end], &base[end..]);
    hosts.split(',').map(move |host| format!("{before}{host}{after}"))
}

/// Returns the only host of a configuration with its port.
fn host_and_port(config: &Config) -> String {
    let port = config.get_ports().first().copied().unwrap_or(5432);
    match (config.get_hosts().first(), config.get_hostaddrs().first()) {
        (Some(Host::Tcp(host)), _) => format!("{host}:{port}"),
        (Some(Host::Unix(path)), _) => format!("{}:{port}", path.display()),
        (None, Some(address)) => format!("{address}:{port}"),
        (None, None) => format!("?:{port}"),
    }
}

/// Describes the error without the parts of the URL, any of which may be a misplaced password.
fn invalid_url(error: &Error) -> String {
    let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    if why.starts_with("invalid value for option") {
        why
    } else if why.starts_with("unknown option") {
        "a parameter after the ? is unknown".to_owned()
    } else {
        "it must be like postgres://user:password@host:5432/database; in a password, escape characters \
         other than letters and digits, for example @ as %40"
            .to_owned()
    }
}

/// Describes why a connection to `host` failed.
pub(super) fn connect_error(host: String, error: &Error) -> ConnectError {
    let source = std::error::Error::source(error);
    let io = source.and_then(|source| source.downcast_ref::<std::io::Error>());
    match (error.code(), io) {
        (Some(code), _) => {
            ConnectError::Refused { host, code: Some(code.code().to_owned()), why: describe(error) }
        }
        // The error of tokio-postgres when a host does not have the `target_session_attrs`.
        (None, Some(io)) if io.to_string() == "database does not allow writes" => {
            ConnectError::ReadOnly { host }
        }
        (None, Some(io)) if !error.to_string().contains("TLS") => {
            ConnectError::Unreachable { host, why: io.to_string().replace(char::is_control, " ") }
        }
        (None, _) if error.is_closed() => {
            ConnectError::Unreachable { host, why: "the connection was closed".to_owned() }
        }
        (None, _) => ConnectError::Refused { host, code: None, why: describe(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(2);

    #[test]
    fn each_host_is_tried_separately() {
        let address =
            Address::parse("postgres://u:p%40,w@a:1,b,[::1]:3/d?target_session_attrs=any", LIMIT).unwrap();
        let names: Vec<_> = address.hosts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a:1", "b:5432", "::1:3"]);
        for (_, config) in &address.hosts {
            assert_eq!(config.get_hosts().len(), 1);
            assert_eq!(config.get_password(), Some(&b"p@,w"[..]));
        }
        assert_eq!((&*address.database, &*address.user), ("d", "u"));
    }

    #[test]
    fn parameters_of_the_url_are_kept() {
        let url = "postgresql://u@h/d?connect_timeout=7&application_name=mine&options=-c%20x.y%3D1";
        let config = Address::parse(url, LIMIT).unwrap().hosts.remove(0).1;
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(7)));
        assert_eq!(config.get_application_name(), Some("mine"));
        assert_eq!(config.get_options(), Some("-c x.y=1"));
        let address = Address::parse("postgresql://u@h/d", LIMIT).unwrap();
        assert_eq!(address.connect_timeout(0), LIMIT);
    }

    #[test]
    fn the_error_of_an_invalid_url_does_not_contain_a_password() {
        for (url, words) in [
            ("postgres://", "no host"),
            ("postgres:user@host/db", "must be like"),
            ("postgres://u:secret@h:port/d", "port"),
            ("postgres://u:sec@h/d?secret=1", "is unknown"),
            ("postgres://u:sec@secret:x/d", "port"),
            ("postgres://u:p%zz@h/secret%ff", "must be like"),
            ("postgres://u@h/d?sslmode=secret", "sslmode must be"),
            ("postgres://u@h/d?sslmode=verify-full&sslrootcert=/no/such.pem", "/no/such.pem cannot be read"),
            ("postgres://u@h/d?target_session_attrs=read-only", "must be read-write"),
            ("postgres://h/d", "no user"),
        ] {
            let error = Address::parse(url, LIMIT).err().unwrap();
            assert!(error.contains(words), "{url}: {error}");
            assert!(!error.contains("secret"), "{url}: {error}");
        }
    }
}
