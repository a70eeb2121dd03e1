//! The settings of the service and their sources, each of which overrides the one before: defaults, a TOML
//! file, the environment (`ANIMAL_STORE_REQUEST_TIMEOUT=5s`, `ANIMAL_STORE_LOG__LEVEL=debug`), flags.

use std::cmp::Ordering;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use figment::providers::{Env, Format, Serialized, Toml};
use figment::{Figment, Metadata};
use serde::{Deserialize, Serialize};

use crate::rate_limit::RateLimit;
use crate::server::ConnectionLimits;
use crate::server::tls::TlsFiles;
use crate::storage::{DatabaseKind, PostgresOptions};
use crate::telemetry::logging::Log;

mod effective;
mod error;
mod expected;
mod kubernetes;
mod limited_file;
mod listen_address;
mod permissions;
mod source;
pub mod terminal;
mod url_file;
mod warnings;

pub use error::ConfigError;
use error::{describe, invalid};
use expected::expected;
pub use listen_address::ListenAddress;
use source::{File, PREFIX, Source, location};
pub use url_file::read_url_file;
pub use warnings::password_in_flag;

/// The whole configuration. Durations are written as in `1m 30s`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address of the public listener; port 0 picks a free port.
    pub bind: ListenAddress,
    /// The address of the operators' listener; `None` for no such listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_bind: Option<ListenAddress>,
    /// The host names to which the operators' listener answers, besides `localhost` and IP addresses.
    pub ops_hosts: Vec<String>,
    /// The database: `sqlite:PATH` or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
    pub database: String,
    /// The file that `database` was read from. `None` if a source that is at least as strong has the URL itself.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// The certificate of the public listener; `None` for no TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsFiles>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: ListenAddress(SocketAddr::from(([127, 0, 0, 1], 8080))),
            database: "sqlite:animal-store.db".to_owned(),
            database_file: None,
            request_timeout: Duration::from_secs(10),
            shutdown_delay: Duration::ZERO,
            shutdown_grace: Duration::from_secs(8),
            lock_timeout: Duration::from_secs(2),
            write_queue: 4096,
            postgres: PostgresOptions::default(),
            log: Log::default(),
            rate_limit: None,
            connections: ConnectionLimits::default(),
            ops_bind: None,
            ops_hosts: Vec::new(),
            tls: None,
        }
    }
}

/// The new and the old name of a setting that was renamed.
const RENAMED: (&str, &str) = ("connections.send_timeout", "connections.read_timeout");

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
    pub bind: Option<ListenAddress>,
    /// `--ops-bind` of `serve`.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_bind: Option<ListenAddress>,
}

/// A configuration and the source of each setting.
pub struct Loaded {
    /// The settings.
    pub config: Config,
    figment: Figment,
    file: Option<File>,
    /// The variables that Kubernetes injected.
    injected: Vec<String>,
}

impl Loaded {
    /// Returns the source of a setting for messages: a flag, an environment variable, or a line of the
    /// configuration file.
    pub fn source(&self, setting: &str) -> String {
        match setting {
            "database" if self.config.database_file.is_some() => self.location("database_file"),
            setting => self.location(setting),
        }
    }

    fn location(&self, setting: &str) -> String {
        let (name, metadata) = self.given(setting);
        location(metadata, &name.split('.').collect::<Vec<_>>(), self.file.as_ref())
    }

    /// Returns the name with which a setting was given, and its origin; `None` for the default.
    fn given<'s>(&self, setting: &'s str) -> (&'s str, Option<&Metadata>) {
        let name = if setting == RENAMED.0 && self.figment.contains(RENAMED.1) { RENAMED.1 } else { setting };
        (name, self.figment.find_metadata(name))
    }

    /// Reads the URL of the database from its file, unless a stronger source has the URL itself.
    fn read_database_file(&mut self) -> Result<(), ConfigError> {
        let Some(path) = &self.config.database_file else { return Ok(()) };
        let [url, file] = ["database", "database_file"].map(|setting| Source::of(self.given(setting).1));
        match url.cmp(&file) {
            Ordering::Less => {
                let located = |problem| invalid(&format!("{}: {problem}", self.location("database_file")));
                self.config.database = url_file::read(path).map_err(located)?;
            }
            Ordering::Equal => {
                return Err(invalid(&format!(
                    "{}: not allowed together with {}; expected one of them from each source: a flag overrides \
                     the environment, which overrides the file",
                    self.location("database_file"),
                    self.location("database")
                )));
            }
            Ordering::Greater => self.config.database_file = None,
        }
        Ok(())
    }

    /// Adds the source of the setting that caused an error, and an example of a valid value.
    pub fn with_source(&self, setting: &str, error: impl std::fmt::Display) -> ConfigError {
        let example = match setting {
            // Errors of the store say what to do, and most of them are not about the URL.
            "database" => String::new(),
            _ => format!("; expected {}", expected(setting)),
        };
        ConfigError(format!("{error} (set by {}{example})", self.source(setting)))
    }
}

impl Config {
    /// Reads the configuration from the file, if one is given, the environment and the flags.
    ///
    /// # Errors
    /// When the file cannot be read, a setting is unknown, or a value is invalid.
    pub fn load(flags: &Flags) -> Result<Loaded, ConfigError> {
        let file = flags.config.as_deref().map(File::read).transpose().map_err(|line| invalid(&line))?;
        let injected = kubernetes::injected(PREFIX);
        let ignored: Vec<&str> = injected.iter().map(|name| &name[PREFIX.len()..]).collect();
        let figment = Figment::from(Toml::string(file.as_ref().map_or("", File::text)))
            .merge(Env::prefixed(PREFIX).ignore(&ignored).split("__"))
            .merge(Serialized::defaults(flags));
        let config: Self = figment.extract().map_err(|error| describe(&error, file.as_ref()))?;
        let mut loaded = Loaded { config, figment, file, injected };
        loaded.read_database_file()?;
        match loaded.config.validate() {
            Ok(()) => Ok(loaded),
            Err(setting) => {
                Err(invalid(&format!("{}: expected {}", loaded.source(setting), expected(setting))))
            }
        }
    }

    /// Returns the name of the first setting whose value is invalid.
    fn validate(&self) -> Result<(), &'static str> {
        let Self { connections, postgres, .. } = self;
        let is_number = |number: usize, max| (1..=max).contains(&number);
        let is_limit = |limit| (Duration::from_millis(100)..=Duration::from_secs(3_600)).contains(&limit);
        let is_whole = |period: Duration| period.as_secs() > 0 && period.subsec_nanos() == 0;
        let settings = [
            ("database", DatabaseKind::of(&self.database).is_some()),
            ("request_timeout", !self.request_timeout.is_zero()),
            ("write_queue", is_number(self.write_queue, 1_000_000)),
            ("connections.max", connections.max != Some(0)),
            ("connections.memory_without_key_mib", connections.memory_without_key_mib >= 8),
            ("connections.memory_mib", connections.memory_mib >= connections.memory_without_key_mib),
            ("postgres.readers", is_number(postgres.readers, 100)),
            ("postgres.writers", is_number(postgres.writers, 100)),
            ("postgres.connect_timeout", is_limit(postgres.connect_timeout)),
            ("postgres.statement_timeout", is_limit(postgres.statement_timeout)),
            ("rate_limit.period", self.rate_limit.is_none_or(|limit| is_whole(limit.period))),
        ];
        let times = connections.times().map(|(setting, limit)| (setting, !limit.is_zero()));
        let invalid = settings.into_iter().chain(times).find(|(_, is_valid)| !is_valid);
        invalid.map_or(Ok(()), |(setting, _)| Err(setting))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;

    use super::*;
    use crate::telemetry::logging::LogFormat;

    fn load_file(path: &Path) -> Result<Loaded, ConfigError> {
        Config::load(&Flags { config: Some(path.to_owned()), ..Flags::default() })
    }

    fn load(toml: &str) -> Result<Config, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(toml.as_bytes()).unwrap();
        load_file(file.path()).map(|loaded| loaded.config).map_err(|error| {
            let message = error.to_string();
            assert!(!message.contains('\n'), "more than one line: {message}");
            assert!(
                message.contains(&file.path().display().to_string()),
                "does not name the file: {message}"
            );
            message
        })
    }

    /// Returns the place with the path of the file, the path, and the message.
    fn load_named(toml: &str, place: &str) -> (String, String, String) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), toml).unwrap();
        let path = file.path().display().to_string();
        let error = load_file(file.path()).err().expect(toml);
        (place.replace("FILE", &path), path, error.to_string())
    }

    #[test]
    fn a_file_overrides_defaults_and_flags_override_the_file() {
        let config =
            load("database = 'sqlite:file.db'\nrequest_timeout = '3s'\n[log]\nformat = 'json'").unwrap();
        assert_eq!(config.database, "sqlite:file.db");
        assert_eq!(config.request_timeout, Duration::from_secs(3));
        assert_eq!(config.log, Log { format: LogFormat::Json, ..Log::default() });
        assert_eq!(config.bind, Config::default().bind);

        let flags = Flags { database: Some("sqlite:flag.db".to_owned()), ..Flags::default() };
        assert_eq!(Config::load(&flags).unwrap().config.database, "sqlite:flag.db");
    }

    #[test]
    fn a_wrong_key_or_value_is_named() {
        for (toml, place, words) in [
            ("\ndatabse = 'sqlite:x.db'", "`databse` in FILE, line 2", "expected one of bind, "),
            ("request_timeout = 'soon'", "`request_timeout` in FILE, line 1", "such as \"10s\""),
            (
                "# 1\n[log]\nlevel = 'loud'",
                "`log.level` in FILE, line 3",
                "found \"loud\", expected \"error\"",
            ),
            ("log = { one_in = 'x' }", "`log.one_in` in FILE, line 1", "found \"x\", expected a number"),
            ("[rate_limit]\nrequests = 0\nperiod = '1s'", "`rate_limit.requests` in FILE, line 2", "from 1"),
            (
                "\n[rate_limit]\nrequests = 5",
                "`rate_limit.period` in FILE, line 2",
                "missing, expected whole",
            ),
            ("bind = 'localhost'", "`bind` in FILE, line 1", "such as 8080"),
            ("\n\nwrite_queue = 0", "`write_queue` in FILE, line 3", "1 to 1000000"),
            (
                "[connections]\nmemory_without_key_mib = 7",
                "`connections.memory_without_key_mib` in FILE, line 2",
                "from 8",
            ),
            ("[connections]\nmemory_mib = 95", "`connections.memory_mib` in FILE, line 2", "such as 192"),
            ("[postgres]\nreaders = 0", "`postgres.readers` in FILE, line 2", "1 to 100, such as 8"),
            (
                "[postgres]\nwriters = 'x'",
                "`postgres.writers` in FILE, line 2",
                "found \"x\", expected a number",
            ),
            (
                "[postgres]\n\nstatement_timeout = '1ms'",
                "`postgres.statement_timeout` in FILE, line 3",
                "such as \"3500ms\"",
            ),
            (
                "[postgres]\nconnect_timeout = '2h'",
                "`postgres.connect_timeout` in FILE, line 2",
                "100ms to 1h, such as \"2s\"",
            ),
            ("[postgres]\npool = 1", "`postgres.pool` in FILE, line 2", "expected one of readers, writers, "),
            ("database = 5", "`database` in FILE, line 1", "sqlite:animal-store.db"),
            ("bind = 1\n= nonsense", "FILE, line 2: not TOML", "such as `bind = "),
        ] {
            let (place, file, message) = load_named(toml, place);
            assert!(message.starts_with(&format!("configuration: {place}: ")), "{file}: {message}");
            assert!(message.contains(words), "{words} is not in: {message}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let error = load_file(Path::new("no/such/file.toml")).err().unwrap().to_string();
        assert!(error.contains("no/such/file.toml"), "{error}");
    }
}
