//! What an operator can set, and where a setting came from: defaults, then a TOML file, then the
//! environment (`ANIMAL_STORE_REQUEST_TIMEOUT=5s`, `ANIMAL_STORE_LOG__LEVEL=debug`), then flags.

use std::net::SocketAddr;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use figment::Figment;
use figment::error::Kind;
use figment::providers::{Env, Format, Serialized, Toml};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::rate_limit::RateLimit;
use crate::server::tls::TlsFiles;
use crate::telemetry::logging::Log;

mod effective;

/// The whole configuration. Durations are written as in `1m 30s`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where to listen, as `ADDRESS:PORT`; port 0 picks a free one.
    pub bind: SocketAddr,
    /// Where operators are told of health and metrics: `ADDRESS:PORT`, or a port on the loopback. Without
    /// it, nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_bind: Option<OpsBind>,
    /// Where the animals are, as `sqlite:PATH`.
    pub database: String,
    /// How long each step of a request may take: to judge its key, to read its body, to do what it asks.
    #[serde(with = "humantime_serde")]
    pub request_timeout: Duration,
    /// How long requests in flight may take to finish when the service is told to stop.
    #[serde(with = "humantime_serde")]
    pub shutdown_grace: Duration,
    /// How long a write waits for a lock that another process holds.
    #[serde(with = "humantime_serde")]
    pub lock_timeout: Duration,
    /// How many writes may wait before the next is answered 503.
    pub write_queue: usize,
    /// What goes to standard error.
    pub log: Log,
    /// How many requests a key may make; without it, any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// The certificate of the public listener; without it, no TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsFiles>,
}

/// An address, or a port on the loopback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct OpsBind(pub SocketAddr);

impl FromStr for OpsBind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let address = text.parse().or_else(|_| text.parse().map(loopback));
        address.map(Self).map_err(|_| "must be ADDRESS:PORT, or a port on the loopback")
    }
}

impl<'de> Deserialize<'de> for OpsBind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A bare port is a number in TOML and in the environment.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Port(u16),
            Address(String),
        }
        let text = match Written::deserialize(deserializer) {
            Ok(Written::Port(port)) => port.to_string(),
            Ok(Written::Address(address)) => address,
            Err(_) => String::new(),
        };
        text.parse().map_err(D::Error::custom)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 8080)),
            database: "sqlite:animal-store.db".to_owned(),
            request_timeout: Duration::from_secs(10),
            shutdown_grace: Duration::from_secs(8),
            lock_timeout: Duration::from_secs(2),
            write_queue: 4096,
            log: Log::default(),
            rate_limit: None,
            ops_bind: None,
            tls: None,
        }
    }
}

/// The settings that have a flag. `None` leaves the setting as it is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Flags {
    /// `--bind`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind: Option<SocketAddr>,
    /// `--ops-bind`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_bind: Option<OpsBind>,
    /// `--database`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
}

/// A configuration, and where each setting came from.
pub struct Loaded {
    /// The settings.
    pub config: Config,
    figment: Figment,
}

/// What is wrong with the configuration: where, which key, and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl Config {
    /// Reads the configuration: the file if there is one, the environment and the flags.
    ///
    /// # Errors
    /// When the file cannot be read, a key is unknown, or a value is not allowed.
    pub fn load(file: Option<&Path>, flags: Flags) -> Result<Loaded, ConfigError> {
        let mut figment = Figment::from(Serialized::defaults(Self::default()));
        if let Some(file) = file {
            figment = figment.merge(Toml::file_exact(file));
        }
        let figment =
            figment.merge(Env::prefixed("ANIMAL_STORE_").split("__")).merge(Serialized::defaults(flags));
        let config: Self = figment.extract().map_err(|error| ConfigError(describe(&error)))?;
        config.validate().map_err(|message| ConfigError(message.to_owned()))?;
        Ok(Loaded { config, figment })
    }

    fn validate(&self) -> Result<(), &'static str> {
        if self.request_timeout.is_zero() {
            return Err("request_timeout must be longer than zero");
        }
        if !(1..=1_000_000).contains(&self.write_queue) {
            return Err("write_queue must be from 1 to 1000000");
        }
        let whole_seconds = |period: Duration| period.as_secs() > 0 && period.subsec_nanos() == 0;
        if self.rate_limit.is_some_and(|limit| !whole_seconds(limit.period)) {
            return Err("rate_limit.period must be whole seconds, at least one");
        }
        Ok(())
    }
}

/// One line: the source, the key, and what is wrong with it.
fn describe(error: &figment::Error) -> String {
    let source = match &error.metadata {
        Some(metadata) => match &metadata.source {
            Some(figment::Source::File(path)) => format!("{}: ", path.display()),
            _ if metadata.name.contains("environment") => "environment: ".to_owned(),
            _ => format!("{}: ", metadata.name),
        },
        None => String::new(),
    };
    let key = if error.path.is_empty() { String::new() } else { format!("{}: ", error.path.join(".")) };
    let wrong = match &error.kind {
        Kind::UnknownField(_, known) => format!("there is no such setting; there are {}", known.join(", ")),
        Kind::MissingField(name) => format!("{name} is missing"),
        other => other.to_string(),
    };
    format!("configuration: {source}{key}{}", wrong.lines().collect::<Vec<_>>().join(" ").trim())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::telemetry::logging::LogFormat;

    fn load(toml: &str) -> Result<Config, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(toml.as_bytes()).unwrap();
        Config::load(Some(file.path()), Flags::default()).map(|loaded| loaded.config).map_err(|error| {
            let message = error.to_string();
            assert!(!message.contains('\n'), "more than one line: {message}");
            assert!(message.contains(&file.path().display().to_string()), "names no file: {message}");
            message
        })
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
        assert_eq!(Config::load(None, flags).unwrap().config.database, "sqlite:flag.db");
    }

    #[test]
    fn a_wrong_key_or_value_is_named() {
        assert!(load("databse = 'sqlite:x.db'").unwrap_err().contains("databse"));
        assert!(load("request_timeout = 'soon'").unwrap_err().contains("request_timeout"));
        assert!(
            load("[rate_limit]\nrequests = 0\nperiod = '1s'").unwrap_err().contains("rate_limit.requests")
        );
        assert!(load("bind = 'localhost'").unwrap_err().contains("bind"));
        assert!(load("= nonsense").unwrap_err().contains("configuration"));
    }

    #[test]
    fn a_missing_file_is_refused() {
        let loaded = Config::load(Some(Path::new("no/such/file.toml")), Flags::default());
        let error = loaded.err().unwrap().to_string();
        assert!(error.contains("no/such/file.toml"), "{error}");
    }
}
