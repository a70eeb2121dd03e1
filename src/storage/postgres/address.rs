//! The URL of a database: its hosts, and how to connect to each.
//!
//! `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETER=VALUE`, as in the PostgreSQL documentation,
//! "Connection URIs". tokio-postgres parses it, except for `sslmode` and `sslrootcert` (`tls.rs`).

use std::time::Duration;

use futures::future::join_all;
use tokio::net::lookup_host;
use tokio::time::timeout;
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres::{Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::ConnectError;
use super::tls;

/// The idle time of a connection before TCP keepalive probes, and the time between them.
const KEEPALIVE: Duration = Duration::from_secs(5);
/// The maximum time that sent data and probes stay unacknowledged before the connection is closed.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(5);

/// One address of one host.
#[derive(Clone)]
pub(super) struct Endpoint {
    /// The host and its port, for messages.
    pub(super) name: String,
    /// An error if the host has no address.
    pub(super) config: Result<Config, ConnectError>,
}

/// The address of a database.
pub(super) struct Address {
    config: Config,
    pub(super) tls: MakeRustlsConnect,
    pub(super) database: String,
    pub(super) user: String,
    /// The time limit for each address of a host, from the lookup of its name to the first statement.
    pub(super) connect_timeout: Duration,
}

impl Address {
    /// Parses a URL. `connect_timeout` applies unless the URL has one. The error never repeats a part that may be a
    /// password.
    pub(super) fn parse(url: &str, connect_timeout: Duration) -> Result<Self, String> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut root, mut rest) = (None, None, Vec::new());
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            // In a URL a plus sign is not a space, as it is in a form (RFC 3986, section 2.2).
            match form_urlencoded::parse(parameter.replace('+', "%2B").as_bytes()).next() {
                Some((name, value)) if name == "sslmode" => mode = Some(value.into_owned()),
                Some((name, value)) if name == "sslrootcert" => root = Some(value.into_owned()),
                _ => rest.push(parameter),
            }
        }
        let (mode, tls) = tls::configure(mode.as_deref(), root.as_deref())?;
        let parsed: Result<Config, Error> = format!("{base}?{}", rest.join("&")).parse();
        let mut config = parsed.map_err(|error| invalid_url(&error))?;
        if config.get_target_session_attrs() == TargetSessionAttrs::ReadOnly {
            return Err("target_session_attrs must be read-write, because the store writes".to_owned());
        }
        let (hosts, addresses) = (config.get_hosts().len(), config.get_hostaddrs().len());
        if hosts == 0 && addresses == 0 {
            return Err("it has no host".to_owned());
        }
        if hosts > 0 && addresses > 0 && hosts != addresses {
            return Err("hostaddr must have one address for each host".to_owned());
        }
        config.ssl_mode(mode);
        let user = config.get_user().ok_or("it has no user")?.to_owned();
        let database = config.get_dbname().unwrap_or(&user).to_owned();
        let connect_timeout = config.get_connect_timeout().copied().unwrap_or(connect_timeout);
        Ok(Self { config, tls, database, user, connect_timeout })
    }

    /// Returns each address of each host, in the order of the URL.
    pub(super) async fn each(&self) -> Vec<Endpoint> {
        let hosts = self.config.get_hosts().len().max(self.config.get_hostaddrs().len());
        join_all((0..hosts).map(|index| self.addresses(index))).await.concat()
    }

    /// Returns the addresses of a host. Those of a name are looked up, so that each has a time limit of its own.
    async fn addresses(&self, index: usize) -> Vec<Endpoint> {
        let ports = self.config.get_ports();
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        let mut config = self.without_host();
        config.port(port);
        let one = |name: String, config| vec![Endpoint { name, config: Ok(config) }];
        let host = match (self.config.get_hosts().get(index), self.config.get_hostaddrs().get(index)) {
            (Some(Host::Unix(path)), _) => {
                config.host_path(path);
                return one(format!("{}:{port}", path.display()), config);
            }
            (Some(Host::Tcp(host)), Some(address)) => {
                config.host(host).hostaddr(*address);
                return one(format!("{host}:{port} ({address})"), config);
            }
            (Some(Host::Tcp(host)), None) => host,
            (None, Some(address)) => {
                config.hostaddr(*address);
                return one(format!("{address}:{port}"), config);
            }
            (None, None) => return Vec::new(),
        };
        config.host(host);
        let name = format!("{host}:{port}");
        let why = match timeout(self.connect_timeout, lookup_host((&**host, port))).await {
            Ok(Ok(found)) => {
                let each = found.map(|address| {
                    let mut config = config.clone();
                    config.hostaddr(address.ip());
                    let is_name = host.parse() != Ok(address.ip());
                    let name = if is_name { format!("{name} ({})", address.ip()) } else { name.clone() };
                    Endpoint { name, config: Ok(config) }
                });
                return each.collect();
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "its address was not found in time".to_owned(),
        };
        let error = ConnectError::Unreachable { host: name.clone(), why };
        vec![Endpoint { name, config: Err(error) }]
    }

    /// Returns the configuration without hosts and ports, which cannot be removed from a `Config`.
    fn without_host(&self) -> Config {
        let from = &self.config;
        let mut config = Config::new();
        config
            .user(&self.user)
            .dbname(&self.database)
            .application_name(from.get_application_name().unwrap_or("animal-store"))
            .ssl_mode(from.get_ssl_mode())
            .ssl_negotiation(from.get_ssl_negotiation())
            .channel_binding(from.get_channel_binding())
            .connect_timeout(self.connect_timeout)
            .keepalives_idle(from.get_keepalives_idle().min(KEEPALIVE))
            .keepalives_interval(KEEPALIVE)
            .tcp_user_timeout(from.get_tcp_user_timeout().copied().unwrap_or(TCP_USER_TIMEOUT))
            // A session asks for more than whether it may write (`session.rs`).
            .target_session_attrs(TargetSessionAttrs::Any);
        if let Some(password) = from.get_password() {
            config.password(password);
        }
        if let Some(options) = from.get_options() {
            config.options(options);
        }
        config
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

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(2);

    async fn names(url: &str) -> Vec<String> {
        let address = Address::parse(url, LIMIT).unwrap();
        address.each().await.into_iter().map(|endpoint| endpoint.name).collect()
    }

    #[tokio::test]
    async fn each_address_of_each_host_is_tried_separately() {
        let url = "postgres://u:p%40,w@127.0.0.1:1,127.0.0.2,[::1]:3/d?target_session_attrs=any";
        assert_eq!(names(url).await, ["127.0.0.1:1", "127.0.0.2:5432", "::1:3"]);
        let url = "postgres://u@a:1,a:2/d?hostaddr=127.0.0.1,127.0.0.2";
        assert_eq!(names(url).await, ["a:1 (127.0.0.1)", "a:2 (127.0.0.2)"]);
        assert_eq!(names("postgres:///d?host=/tmp&user=u").await, ["/tmp:5432"]);
        let found = names("postgres://u@localhost:5/d").await;
        assert!(found.contains(&"localhost:5 (127.0.0.1)".to_owned()), "{found:?}");
    }

    #[tokio::test]
    async fn parameters_of_the_url_are_kept() {
        let url =
            "postgresql://u:p%40,w@127.0.0.1/d?connect_timeout=7&application_name=mine&options=-c%20x.y%3D1";
        let address = Address::parse(url, LIMIT).unwrap();
        assert_eq!((&*address.database, &*address.user), ("d", "u"));
        let config = address.each().await.remove(0).config.unwrap();
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(7)));
        assert_eq!(config.get_application_name(), Some("mine"));
        assert_eq!(config.get_options(), Some("-c x.y=1"));
        assert_eq!(config.get_password(), Some(&b"p@,w"[..]));
        assert_eq!(Address::parse("postgresql://u@h/d", LIMIT).unwrap().connect_timeout, LIMIT);
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
            ("postgres://u@h/d?sslmode=verify-full&sslrootcert=/no/a+b.pem", "/no/a+b.pem cannot be read"),
            ("postgres://u@h/d?target_session_attrs=read-only", "must be read-write"),
            ("postgres://u@h,i/d?hostaddr=127.0.0.1", "one address for each host"),
            ("postgres://h/d", "no user"),
        ] {
            let error = Address::parse(url, LIMIT).err().unwrap();
            assert!(error.contains(words), "{url}: {error}");
            assert!(!error.contains("secret"), "{url}: {error}");
        }
    }
}
