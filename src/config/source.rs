//! Where the value of a setting comes from.

use std::env;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use figment::Metadata;

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
