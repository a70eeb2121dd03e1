//! The settings of the service and their sources, each of which overrides the one before: defaults, a TOML
//! file, the environment (`ANIMAL_STORE_REQUEST_TIMEOUT=5s`, `ANIMAL_STORE_LOG__LEVEL=debug`), flags.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rate_limit::RateLimit;
use crate::storage::{DatabaseKind, PostgresOptions};
use crate::telemetry::logging::Log;

mod connections;
mod error;
mod loaded;
pub mod terminal;

pub use connections::{ConnectionLimits, TlsFiles};
pub use error::ConfigError;
use error::{PREFIX, describe, invalid, is_of_kubernetes, read_file};
pub use loaded::{Loaded, password_in_flag};

const URL: &str = "sqlite:PATH, such as \"sqlite:animal-store.db\", or postgres://USER:PASSWORD@HOST:PORT/DATABASE, with \
                   %40 for an @ in the password";

/// Examples, in TOML, of the settings whose default is none.
const EXAMPLES: [(&str, &str); 8] = [
    ("database_file", "\"database-url\""),
    ("ops_bind", "\"127.0.0.1:9090\""),
    ("ops_hosts", "[\"store.internal\"]"),
    ("postgres.schema", "\"public\""),
    ("rate_limit.period", "\"1s\""),
    ("rate_limit.requests", "100"),
    ("tls.certificate", "\"certificate.pem\""),
    ("tls.private_key", "\"key.pem\""),
];

/// The whole configuration. Durations are written as in `1m 30s`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address of the public listener; port 0 picks a free port.
    pub bind: SocketAddr,
    /// The address of the operators' listener; `None` for no such listener.
    pub ops_bind: Option<SocketAddr>,
    /// The host names to which the operators' listener answers, besides `localhost` and IP addresses.
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
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 8080)),
            ops_bind: None,
            ops_hosts: Vec::new(),
            database: "sqlite:animal-store.db".to_owned(),
            database_file: None,
            request_timeout: Duration::from_secs(10),
            shutdown_delay: Duration::ZERO,
            shutdown_grace: Duration::from_secs(8),
            lock_timeout: Duration::from_secs(2),
            write_queue: 4096,
            postgres: PostgresOptions::default(),
            log: Log::default(),
            connections: ConnectionLimits::default(),
            rate_limit: None,
            tls: None,
        }
    }
}

/// The configuration file, and the settings that have a flag. `None` leaves the setting as it is.
#[derive(Args, Clone, Debug, Default, Serialize)]
pub struct Flags {
    /// The database with the animals and API keys [default: sqlite:animal-store.db]
    #[arg(long, value_name = "sqlite:PATH|postgres://...")]
    pub database: Option<String>,
    /// A file with the URL of the database, so that its password is not on the command line
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    pub database_file: Option<PathBuf>,
    /// A configuration file in TOML, such as `animal-store config` prints
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// `--bind` of `serve`.
    #[arg(skip)]
    pub bind: Option<SocketAddr>,
    /// `--ops-bind` of `serve`.
    #[arg(skip)]
    pub ops_bind: Option<SocketAddr>,
}

impl Config {
    /// Reads the configuration from the file, if one is given, the environment and the flags.
    ///
    /// # Errors
    /// When the file cannot be read, a setting is unknown, or a value is invalid.
    pub fn load(flags: &Flags) -> Result<Loaded, ConfigError> {
        let file = flags.config.clone();
        let text = file.as_deref().map(read_file).transpose().map_err(|line| invalid(&line))?;
        let variables = Env::prefixed(PREFIX).filter(|name| !is_of_kubernetes(name.as_str())).split("__");
        let figment = Figment::from(Toml::string(text.as_deref().unwrap_or_default())).merge(variables);
        let flags = names_and_values(flags).into_iter();
        let figment =
            flags.fold(figment, |figment, (name, value)| figment.merge(Serialized::default(&name, value)));
        let config: Self = figment.extract().map_err(|error| describe(&error, file.as_deref()))?;
        let mut loaded = Loaded { config, figment, file };
        loaded.read_database_file()?;
        match loaded.config.out_of_bounds() {
            None => Ok(loaded),
            Some((setting, expected)) => {
                Err(invalid(&format!("{}: expected {expected}", loaded.source(setting))))
            }
        }
    }

    /// Returns the first setting whose value has the right type and is still invalid, and what is expected.
    fn out_of_bounds(&self) -> Option<(&'static str, &'static str)> {
        let Self { connections, postgres, .. } = self;
        if DatabaseKind::of(&self.database).is_none() {
            return Some(("database", URL));
        }
        if self.rate_limit.is_some_and(|it| it.period.as_secs() == 0 || it.period.subsec_nanos() > 0) {
            return Some(("rate_limit.period", "whole seconds, at least one"));
        }
        let times = [
            ("request_timeout", self.request_timeout),
            ("postgres.connect_timeout", postgres.connect_timeout),
            ("postgres.statement_timeout", postgres.statement_timeout),
            ("connections.handshake_timeout", connections.handshake_timeout),
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
            ("postgres.readers", postgres.readers),
            ("connections.max", connections.max),
            ("connections.max_requests", connections.max_requests),
        ];
        let wrong = counts.into_iter().find(|(_, count)| !(1..=1_000_000).contains(count));
        wrong.map(|(name, _)| (name, "a number from 1 to 1000000"))
    }
}

/// Returns a valid value of each setting, by name.
fn examples() -> BTreeMap<String, String> {
    let defaults = names_and_values(&Config::default()).into_iter();
    let defaults = defaults.map(|(name, value)| (name, value.to_string()));
    defaults.chain(EXAMPLES.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

/// Returns the settings that have a value, by name.
fn names_and_values(settings: &impl Serialize) -> BTreeMap<String, Value> {
    fn add(found: &mut BTreeMap<String, Value>, name: String, value: Value) {
        match value {
            Value::Null => {}
            Value::Object(table) => table.into_iter().for_each(|(key, value)| {
                let name = if name.is_empty() { key } else { format!("{name}.{key}") };
                add(found, name, value);
            }),
            value => drop(found.insert(name, value)),
        }
    }
    let mut found = BTreeMap::new();
    // Texts, numbers and tables of them always become JSON.
    add(&mut found, String::new(), serde_json::to_value(settings).unwrap_or_default());
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::telemetry::logging::LogFormat;

    fn load_file(path: &Path) -> Result<Loaded, ConfigError> {
        Config::load(&Flags { config: Some(path.to_owned()), ..Flags::default() })
    }

    #[test]
    fn a_file_overrides_defaults_and_flags_override_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let toml = "database = 'sqlite:file.db'\nrequest_timeout = '3s'\n[log]\nformat = 'json'";
        std::fs::write(file.path(), toml).unwrap();
        let config = load_file(file.path()).unwrap().config;
        assert_eq!(config.database, "sqlite:file.db");
        assert_eq!(config.request_timeout, Duration::from_secs(3));
        assert_eq!(config.log, Log { format: LogFormat::Json, ..Log::default() });
        assert_eq!(config.bind, Config::default().bind);

        let config = Some(file.path().to_owned());
        let flags = Flags { config, database: Some("sqlite:flag.db".to_owned()), ..Flags::default() };
        assert_eq!(Config::load(&flags).unwrap().config.database, "sqlite:flag.db");
    }

    #[test]
    fn a_wrong_name_or_value_is_located_and_the_expected_one_is_named() {
        for (toml, place, problem) in [
            ("\ndatabse = 'sqlite:x.db'", "`databse` in FILE", "no such setting; did you mean `database`?"),
            ("log_level = 'info'", "`log_level` in FILE", "no such setting; did you mean `log.level`?"),
            (
                "[postgres]\nconect_timeout = '1s'",
                "`postgres.conect_timeout` in FILE",
                "no such setting; did you mean `postgres.connect_timeout`?",
            ),
            ("pool = 1", "`pool` in FILE", "no such setting; `animal-store config` prints all settings"),
            ("request_timeout = 'soon'", "`request_timeout` in FILE", "expected a value such as \"10s\""),
            ("request_timeout = 10", "`request_timeout` in FILE", "expected a value such as \"10s\""),
            ("request_timeout = '0s'", "`request_timeout` in FILE", "expected a duration from 1ms to 24h"),
            (
                "# 1\n[log]\nlevel = 'loud'",
                "`log.level` in FILE",
                "expected one of error, warning, info, debug, trace",
            ),
            ("postgres = { readers = 'x' }", "`postgres.readers` in FILE", "expected a value such as 8"),
            (
                "log = 'json'",
                "`log` in FILE",
                "expected a table such as [log]; `animal-store config` prints all settings",
            ),
            (
                "[rate_limit]\nrequests = 0\nperiod = '1s'",
                "`rate_limit.requests` in FILE",
                "expected a value such as 100",
            ),
            (
                "\n[rate_limit]\nrequests = 5",
                "`rate_limit.period` in FILE",
                "missing, expected a value such as \"1s\"",
            ),
            (
                "[rate_limit]\nrequests = 5\nperiod = '1500ms'",
                "`rate_limit.period` in FILE",
                "expected whole seconds, at least one",
            ),
            ("bind = 'localhost'", "`bind` in FILE", "expected a value such as \"127.0.0.1:8080\""),
            ("\n\nwrite_queue = 0", "`write_queue` in FILE", "expected a number from 1 to 1000000"),
            ("write_queue = -1", "`write_queue` in FILE", "expected a value such as 4096"),
            (
                "[postgres]\nconnect_timeout = '25h'",
                "`postgres.connect_timeout` in FILE",
                "expected a duration from 1ms to 24h",
            ),
            ("ops_hosts = ['a', 5]", "`ops_hosts` in FILE", "expected a value such as [\"store.internal\"]"),
            ("database = 5", "`database` in FILE", "expected a value such as \"sqlite:animal-store.db\""),
            ("database = 'a.db'", "`database` in FILE", URL),
            (
                "bind = 1\n= nonsense",
                "FILE",
                "TOML parse error at line 2, column 1; expected lines such as `bind = \"127.0.0.1:8080\"`",
            ),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), toml).unwrap();
            let place = place.replace("FILE", &file.path().display().to_string());
            let message = load_file(file.path()).err().expect(toml).to_string();
            let found = message.strip_prefix(&format!("configuration: {place}: ")).expect(&message);
            assert!(found == problem || found == format!("expected {problem}"), "{message}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let error = load_file(Path::new("no/such/file.toml")).err().unwrap().to_string();
        assert!(error.contains("no/such/file.toml"), "{error}");
    }
}
