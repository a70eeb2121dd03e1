//! Where a setting comes from, and the error of a wrong one: the setting, the problem, and what is expected; never the
//! value, which may be a password.

use std::env;
use std::path::Path;

use figment::Metadata;
use figment::error::Kind;

/// Each setting with its default, or in a comment with an example.
pub(super) const SETTINGS: &str = include_str!("settings.toml");

/// The prefix of the variables of the environment.
pub(super) const PREFIX: &str = "ANIMAL_STORE_";

/// Whether Kubernetes injects a variable for a Service such as `animal-store` or `animal-store-ops` (Kubernetes
/// documentation, "Service", "Environment variables"), by its name without the prefix. `ANIMAL_STORE_PORT=8080` is a
/// mistake of an operator.
pub(super) fn is_of_kubernetes(name: &str) -> bool {
    let name = name.to_uppercase();
    let is_url = || env::var(format!("{PREFIX}{name}")).is_ok_and(|value| value.contains("://"));
    name.split('_').any(|word| word == "SERVICE")
        || name.contains("PORT_")
        || name.ends_with("PORT") && is_url()
}

/// A source of settings. A later one overrides an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source<'a> {
    Default,
    File(&'a Path),
    Environment,
    Flag,
}

impl<'a> Source<'a> {
    pub(super) fn of(metadata: Option<&'a Metadata>) -> Self {
        let Some(metadata) = metadata else { return Self::Default };
        // The names that figment gives to the sources in `Config::load`.
        match metadata.source.as_ref().and_then(figment::Source::file_path) {
            Some(path) => Self::File(path),
            None if metadata.name.starts_with("TOML") => Self::Default,
            None if metadata.name.contains("environment") => Self::Environment,
            None => Self::Flag,
        }
    }

    /// Returns where a setting was given: the name and the file, a variable, a flag, or the default.
    pub(super) fn location(self, setting: &str) -> String {
        // A key may be anything, for example a URL.
        let is_name = setting.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        let setting = if is_name { setting } else { "[redacted]" };
        match self {
            Self::Default => format!("the default of `{setting}`"),
            Self::File(path) if setting.is_empty() => path.display().to_string(),
            Self::File(path) => format!("`{setting}` in {}", path.display()),
            Self::Environment => format!("{PREFIX}{}", setting.replace('.', "__").to_uppercase()),
            Self::Flag => format!("--{}", setting.replace('_', "-")),
        }
    }
}

/// Why a configuration cannot be used, in one line: the setting, the problem, and what is expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(super) String);

/// Returns the error with this line.
pub(super) fn invalid(line: &str) -> ConfigError {
    ConfigError(format!("configuration: {line}").replace(char::is_control, " "))
}

/// Describes an error of figment in one line.
pub(super) fn describe(error: &figment::Error) -> ConfigError {
    // The last part is a number if one value of a list is invalid.
    let names = error.path.iter().take_while(|name| name.parse::<usize>().is_err());
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    if let Kind::MissingField(name) = &error.kind {
        names.push(name);
    }
    let setting = names.join(".");
    let mut lines = SETTINGS.lines().map(|line| line.trim_start_matches("# "));
    let example = lines.find(|line| line.starts_with(&setting)).unwrap_or_default();
    let problem = match &error.kind {
        Kind::Message(message) if setting.is_empty() => {
            // The next lines of this message repeat a line of the file, which may have a password.
            let problem = message.lines().next().unwrap_or_default();
            format!("{problem}; expected a file such as `animal-store config` prints")
        }
        Kind::UnknownField(_, known) => format!("no such setting; expected one of {}", known.join(", ")),
        Kind::UnknownVariant(_, known) => format!("expected one of {}", known.join(", ")),
        Kind::MissingField(_) => format!("missing; expected a setting such as `{example}`"),
        _ => format!("expected a setting such as `{example}`"),
    };
    let location = Source::of(error.metadata.as_ref()).location(&setting);
    invalid(&format!("{location}: {problem}"))
}
