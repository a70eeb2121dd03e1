//! The settings of the service and their sources, each of which overrides the one before: defaults, a TOML
//! file, the environment (`ANIMAL_STORE_REQUEST_TIMEOUT=5s`, `ANIMAL_STORE_LOG__LEVEL=debug`), flags.

use std::cmp::Ordering;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};
use serde::{Deserialize, Serialize};

use crate::service::RateLimit;
use crate::storage::{DatabaseKind, EXPECTED_URL, PostgresOptions, read_url_file};
use crate::telemetry::logging::Log;

mod source;
pub mod terminal;

pub use source::ConfigError;
use source::{PREFIX, SETTINGS, Source, describe, invalid, is_of_kubernetes};

/// The whole configuration. Durations are written as in `1m 30s`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The address of the public listener; port 0 picks a free port.
    pub bind: SocketAddr,
    /// The address of the operators' listener; `None` for no such listener.
    pub ops_bind: Option<SocketAddr>,
    /// The host names to which the operators' listener answers, besides `localhost` and IP addresses.
    #[serde(default)]
    pub ops_hosts: Vec<String>,
    /// The database: `sqlite:PATH` or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
    pub database: String,
    /// The file that `database` was read from. `None` if a source that is at least as strong has the URL itself.
    pub database_file: Option<PathBuf>,
    /// The time limit of a request: authentication, reading the input, the operation.
    #[serde(with = "humantime_serde")]
    pub request_timeout: Duration,
    /// How long the service accepts connections after a signal to stop, while `/readyz` returns 503.
    #[serde(with = "humantime_serde")]
    pub shutdown_delay: Duration,
    /// The time limit of requests in progress when the service stops.
    #[serde(with = "humantime_serde")]
    pub shutdown_grace: Duration,
    /// How long a write waits for a lock that another process holds.
    #[serde(with = "humantime_serde")]
    pub lock_timeout: Duration,
    /// The maximum number of waiting writes. The next one returns 503.
    pub write_queue: usize,
    /// The connections to a PostgreSQL database.
    pub postgres: PostgresOptions,
    /// The log on standard error.
    pub log: Log,
    /// The limits of connections to the public listener.
    pub connections: ConnectionLimits,
    /// The rate limit of each API key; `None` for no limit.
    pub rate_limit: Option<RateLimit>,
    /// The certificate of the public listener; `None` for no TLS.
    pub tls: Option<TlsFiles>,
    /// The sources of all settings.
    #[serde(skip, default = "Figment::new")]
    pub sources: Figment,
}

/// The limits of connections to a listener. Multiplied, they are the memory that clients can hold: see "Memory" in
/// `xtask/dist/README.md`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionLimits {
    /// The maximum number of connections; further ones wait in the kernel.
    pub max: usize,
    /// The maximum number of requests of all connections together, each until its client has taken the response.
    pub max_requests: usize,
    /// How long a TLS handshake may take, and how long a client may then take to send its first request.
    #[serde(with = "humantime_serde")]
    pub header_timeout: Duration,
    /// How long a connection stays open without a complete request and without a byte taken.
    #[serde(with = "humantime_serde")]
    pub idle_timeout: Duration,
    /// How long a client may take nothing while bytes wait for it.
    #[serde(with = "humantime_serde")]
    pub send_timeout: Duration,
    /// How old a connection may become. After half of this time, its client is told to open another one.
    #[serde(with = "humantime_serde")]
    pub max_age: Duration,
}

/// The files of the certificate and its private key, in PEM.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate chain, leaf first.
    pub certificate: PathBuf,
    /// The private key of the leaf, without a passphrase.
    pub private_key: PathBuf,
}

/// The configuration file, and the settings that have a flag. `None` leaves the setting as it is.
#[derive(Args, Clone, Debug, Default, Serialize)]
pub struct Flags {
    /// The database with the animals and API keys [default: sqlite:animal-store.db]
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// A file with the URL of the database, so that its password is not on the command line
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_file: Option<PathBuf>,
    /// A configuration file in TOML, such as `animal-store config` prints
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// `--bind` of `serve`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind: Option<SocketAddr>,
    /// `--ops-bind` of `serve`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_bind: Option<SocketAddr>,
}

impl Config {
    /// Reads the configuration from the file, if one is given, the environment and the flags.
    ///
    /// # Errors
    /// When the file cannot be read, a setting is unknown, or a value is invalid.
    pub fn load(flags: &Flags) -> Result<Self, ConfigError> {
        let mut figment = Figment::from(Toml::string(SETTINGS));
        if let Some(file) = &flags.config {
            figment = figment.merge(Toml::file_exact(file));
        }
        let variables = Env::prefixed(PREFIX).filter(|name| !is_of_kubernetes(name.as_str())).split("__");
        let figment = figment.merge(variables).merge(Serialized::defaults(flags));
        let config: Self = figment.extract().map_err(|error| describe(&error))?;
        let config = Self { sources: figment, ..config }.with_database_file()?;
        match config.out_of_bounds() {
            None => Ok(config),
            Some((setting, expected)) => {
                Err(invalid(&format!("{}: expected {expected}", config.location(setting))))
            }
        }
    }

    /// Reads the URL of the database from its file, unless a stronger source has the URL itself.
    fn with_database_file(mut self) -> Result<Self, ConfigError> {
        let Some(path) = &self.database_file else { return Ok(self) };
        match self.source("database").cmp(&self.source("database_file")) {
            Ordering::Greater => self.database_file = None,
            Ordering::Less => {
                self.database = read_url_file(path).map_err(|error| self.with_source("database", error))?;
            }
            Ordering::Equal => {
                let [file, url] = ["database_file", "database"].map(|name| self.source(name).location(name));
                return Err(invalid(&format!("{file}: not allowed together with {url}; give one of them")));
            }
        }
        Ok(self)
    }

    fn source(&self, setting: &str) -> Source<'_> {
        Source::of(self.sources.find_metadata(setting))
    }

    /// Returns where a setting was given, for messages: a flag, a variable of the environment, or the file.
    pub fn location(&self, setting: &str) -> String {
        let is_url_in_file = setting == "database" && self.database_file.is_some();
        let setting = if is_url_in_file { "database_file" } else { setting };
        self.source(setting).location(setting)
    }

    /// Returns the error that a setting causes, with its source.
    pub fn with_source(&self, setting: &str, error: impl Display) -> ConfigError {
        ConfigError(format!("{error} (set by {})", self.location(setting)))
    }

    /// Returns the first setting whose value has the right type and is still invalid, and what is expected.
    fn out_of_bounds(&self) -> Option<(&'static str, &'static str)> {
        let Self { connections, postgres, .. } = self;
        if DatabaseKind::of(&self.database).is_none() {
            return Some(("database", EXPECTED_URL));
        }
        let valid = Duration::from_secs(1)..=Duration::from_hours(24);
        if self.rate_limit.is_some_and(|it| !valid.contains(&it.period) || it.period.subsec_nanos() > 0) {
            return Some(("rate_limit.period", "whole seconds, from 1s to 24h"));
        }
        if !(1..=100).contains(&postgres.readers) {
            return Some(("postgres.readers", "a number from 1 to 100"));
        }
        let times = [
            ("request_timeout", self.request_timeout),
            ("postgres.connect_timeout", postgres.connect_timeout),
            ("postgres.statement_timeout", postgres.statement_timeout),
            ("connections.header_timeout", connections.header_timeout),
            ("connections.idle_timeout", connections.idle_timeout),
            ("connections.send_timeout", connections.send_timeout),
            ("connections.max_age", connections.max_age),
        ];
        let valid = Duration::from_millis(1)..=Duration::from_hours(24);
        if let Some((name, _)) = times.into_iter().find(|(_, time)| !valid.contains(time)) {
            return Some((name, "a duration from 1ms to 24h"));
        }
        let counts = [
            ("write_queue", self.write_queue),
            ("connections.max", connections.max),
            ("connections.max_requests", connections.max_requests),
        ];
        let wrong = counts.into_iter().find(|(_, count)| !(1..=1_000_000).contains(count));
        wrong.map(|(name, _)| (name, "a number from 1 to 1000000"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::telemetry::logging::LogFormat;

    fn load_file(path: &Path) -> Result<Config, ConfigError> {
        Config::load(&Flags { config: Some(path.to_owned()), ..Flags::default() })
    }

    #[test]
    fn a_file_overrides_defaults_and_flags_override_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let toml = "database = 'sqlite:file.db'\nrequest_timeout = '3s'\n[log]\nformat = 'json'";
        std::fs::write(file.path(), toml).unwrap();
        let config = load_file(file.path()).unwrap();
        assert_eq!(config.database, "sqlite:file.db");
        assert_eq!(config.request_timeout, Duration::from_secs(3));
        assert_eq!((config.log.format, config.log.level), (LogFormat::Json, slog::Level::Info));
        assert_eq!(config.shutdown_grace, Duration::from_secs(8));

        let config = Some(file.path().to_owned());
        let flags = Flags { config, database: Some("sqlite:flag.db".to_owned()), ..Flags::default() };
        assert_eq!(Config::load(&flags).unwrap().database, "sqlite:flag.db");
    }

    #[test]
    fn a_wrong_name_or_value_is_located_and_the_expected_one_is_named() {
        for (toml, place, problem) in [
            (
                "\ndatabse = 'sqlite:x.db'",
                "`databse` in FILE",
                "no such setting; expected one of bind, ops_bind, ops_hosts, database, database_file, \
                 request_timeout, shutdown_delay, shutdown_grace, lock_timeout, write_queue, postgres, log, \
                 connections, rate_limit, tls",
            ),
            (
                "[postgres]\nconect_timeout = '1s'",
                "`postgres.conect_timeout` in FILE",
                "no such setting; expected one of readers, connect_timeout, statement_timeout, schema",
            ),
            (
                "request_timeout = 'soon'",
                "`request_timeout` in FILE",
                "expected a setting such as `request_timeout = \"10s\"`",
            ),
            (
                "request_timeout = 10",
                "`request_timeout` in FILE",
                "expected a setting such as `request_timeout = \"10s\"`",
            ),
            ("request_timeout = '0s'", "`request_timeout` in FILE", "expected a duration from 1ms to 24h"),
            (
                "# 1\n[log]\nlevel = 'loud'",
                "`log.level` in FILE",
                "expected one of error, warning, info, debug, trace",
            ),
            (
                "postgres = { readers = 'x' }",
                "`postgres.readers` in FILE",
                "expected a setting such as `postgres.readers = 8`",
            ),
            ("log = 'json'", "`log` in FILE", "expected a setting such as `log.level = \"info\"`"),
            (
                "[rate_limit]\nrequests = 0\nperiod = '1s'",
                "`rate_limit.requests` in FILE",
                "expected a setting such as `rate_limit.requests = 100`",
            ),
            (
                "\n[rate_limit]\nrequests = 5",
                "`rate_limit.period` in FILE",
                "missing; expected a setting such as `rate_limit.period = \"1s\"`",
            ),
            (
                "[rate_limit]\nrequests = 5\nperiod = '1500ms'",
                "`rate_limit.period` in FILE",
                "expected whole seconds, from 1s to 24h",
            ),
            (
                "[rate_limit]\nrequests = 5\nperiod = '99999999999y'",
                "`rate_limit.period` in FILE",
                "expected whole seconds, from 1s to 24h",
            ),
            ("[postgres]\nreaders = 101", "`postgres.readers` in FILE", "expected a number from 1 to 100"),
            (
                "bind = 'localhost'",
                "`bind` in FILE",
                "expected a setting such as `bind = \"127.0.0.1:8080\"`",
            ),
            ("\n\nwrite_queue = 0", "`write_queue` in FILE", "expected a number from 1 to 1000000"),
            ("write_queue = -1", "`write_queue` in FILE", "expected a setting such as `write_queue = 4096`"),
            (
                "[postgres]\nconnect_timeout = '25h'",
                "`postgres.connect_timeout` in FILE",
                "expected a duration from 1ms to 24h",
            ),
            (
                "ops_hosts = ['a', 5]",
                "`ops_hosts` in FILE",
                "expected a setting such as `ops_hosts = [\"store.internal\"]`",
            ),
            (
                "database = 5",
                "`database` in FILE",
                "expected a setting such as `database = \"sqlite:animal-store.db\"`",
            ),
            ("database = 'a.db'", "`database` in FILE", EXPECTED_URL),
            (
                "bind = 1\n= nonsense",
                "FILE",
                "TOML parse error at line 2, column 1; expected a file such as `animal-store config` prints",
            ),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), toml).unwrap();
            let place = place.replace("FILE", &file.path().display().to_string());
            let message = load_file(file.path()).expect_err(toml).to_string();
            let found = message.strip_prefix(&format!("configuration: {place}: ")).expect(&message);
            assert!(found == problem || found == format!("expected {problem}"), "{message}\n{problem}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let error = load_file(Path::new("no/such/file.toml")).unwrap_err().to_string();
        assert!(error.contains("no/such/file.toml"), "{error}");
    }
}
