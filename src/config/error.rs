//! Where a setting comes from, and the error of a wrong one: the setting, the problem, and what is expected; never the
//! value, which may be a password.

use std::env;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use figment::Metadata;
use figment::error::Kind;
use strsim::damerau_levenshtein;

use super::examples;

/// No more of a configuration file is read, because `/dev/zero` has no end.
const MAX_BYTES: u64 = 1024 * 1024;

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

/// The kinds of sources. A later one overrides an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Source {
    Default,
    File,
    Environment,
    Flag,
}

impl Source {
    pub(super) fn of(metadata: Option<&Metadata>) -> Self {
        match metadata.map(|metadata| &*metadata.name) {
            None => Self::Default,
            // The names that figment gives to the sources in `Config::load`.
            Some(name) if name.starts_with("TOML") => Self::File,
            Some(name) if name.contains("environment") => Self::Environment,
            Some(_) => Self::Flag,
        }
    }

    /// Returns the spelling of a setting in this source.
    pub(super) fn spelling(self, setting: &str) -> String {
        match self {
            Self::Default | Self::File => format!("`{setting}`"),
            Self::Environment => format!("{PREFIX}{}", setting.replace('.', "__").to_uppercase()),
            Self::Flag => format!("--{}", setting.replace('_', "-")),
        }
    }
}

/// Reads a configuration file.
///
/// # Errors
/// One line, when the file cannot be read.
pub(super) fn read_file(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
    read.map(|_| text).map_err(|error| {
        let path = path.display();
        format!("{path} cannot be read: {error}; expected a file such as `animal-store config` prints")
    })
}

/// Returns where a setting was given, for messages: the file, a variable, a flag or the default.
pub(super) fn location(metadata: Option<&Metadata>, setting: &str, file: Option<&Path>) -> String {
    let source = Source::of(metadata);
    // A key may be anything, for example a URL.
    let is_name = setting.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let spelling = source.spelling(if is_name { setting } else { "[redacted]" });
    match (source, file) {
        (Source::Default, _) => format!("the default of {spelling}"),
        (Source::File, Some(file)) => format!("{spelling} in {}", file.display()),
        _ => spelling,
    }
}

/// An invalid configuration, in one line: the setting, the problem, and what is expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(super) String);

/// Returns the error with this line.
pub(super) fn invalid(line: &str) -> ConfigError {
    ConfigError(format!("configuration: {line}").replace(char::is_control, " "))
}

/// Describes an error of figment in one line.
pub(super) fn describe(error: &figment::Error, file: Option<&Path>) -> ConfigError {
    // The last part is a number if one value of a list is invalid.
    let names = error.path.iter().take_while(|name| name.parse::<usize>().is_err());
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    if let Kind::MissingField(name) = &error.kind {
        names.push(name);
    }
    let setting = names.join(".");
    if let (Kind::Message(message), Some(file), true) = (&error.kind, file, setting.is_empty()) {
        // The next lines of this message repeat a line of the file, which may have a password.
        let place = message.lines().next().unwrap_or_default();
        let example = "expected lines such as `bind = \"127.0.0.1:8080\"`";
        return invalid(&format!("{}: {place}; {example}", file.display()));
    }
    let problem = match &error.kind {
        Kind::UnknownField(..) => nearest(&setting, Source::of(error.metadata.as_ref()))
            .map_or(format!("no such setting; {HELP}"), |name| {
                format!("no such setting; did you mean {name}?")
            }),
        Kind::MissingField(_) => format!("missing, {}", expected(&setting)),
        Kind::UnknownVariant(_, known) => format!("expected one of {}", known.join(", ")),
        _ => expected(&setting),
    };
    invalid(&format!("{}: {problem}", location(error.metadata.as_ref(), &setting, file)))
}

const HELP: &str = "`animal-store config` prints all settings";

/// Returns a valid value of a setting.
fn expected(setting: &str) -> String {
    match examples().get(setting) {
        Some(example) => format!("expected a value such as {example}"),
        None => format!("expected a table such as [{setting}]; {HELP}"),
    }
}

/// Returns the spelling of the setting that an unknown name resembles.
fn nearest(unknown: &str, source: Source) -> Option<String> {
    let distances = examples().into_keys().map(|name| (damerau_levenshtein(unknown, &name), name));
    let (distance, name) = distances.min()?;
    (distance <= 1 + unknown.len() / 4).then(|| source.spelling(&name))
}
