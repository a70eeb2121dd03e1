//! The error of an invalid configuration: the setting, the problem, and what is expected; never the value, which may be
//! a password.

use std::path::Path;

use figment::error::Kind;
use strsim::damerau_levenshtein;

use super::examples;
use super::source::{Source, location};

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
