//! The error of an invalid configuration: the setting, the problem, and what is expected; never a value that may
//! be a password.

use figment::error::{Actual, Kind};

use super::expected::expected;
use super::source::{File, location};
use super::terminal::may_be_secret;

/// An invalid configuration, in one line: the setting, the problem, and what is expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(super) String);

/// Returns the error with this line.
pub(super) fn invalid(line: &str) -> ConfigError {
    ConfigError(format!("configuration: {line}").replace(char::is_control, " "))
}

/// Describes an error of figment in one line.
pub(super) fn describe(error: &figment::Error, file: Option<&File>) -> ConfigError {
    let mut key: Vec<&str> = error.path.iter().map(String::as_str).collect();
    if let Kind::MissingField(name) = &error.kind {
        key.push(name);
    }
    // The setting is a list.
    while key.last().is_some_and(|name| name.parse::<usize>().is_ok()) {
        key.pop();
    }
    let location = location(error.metadata.as_ref(), &key, file);
    let setting = key.join(".");
    let expected = expected(&setting);
    let found = match &error.kind {
        Kind::UnknownField(_, known) => {
            return invalid(&format!("{location}: no such setting; expected one of {}", known.join(", ")));
        }
        Kind::MissingField(_) => "missing, ".to_owned(),
        Kind::DuplicateField(_) => "given with its old and its new name, ".to_owned(),
        Kind::UnknownVariant(found, _) => found_text(found),
        Kind::InvalidType(found, _) | Kind::InvalidValue(found, _) if setting != "database" => match found {
            Actual::Str(text) => found_text(text),
            other => format!("found {other}, "),
        },
        _ => String::new(),
    };
    invalid(&format!("{location}: {found}expected {expected}"))
}

/// Returns the text that was found, unless it may be a database URL in the wrong place.
fn found_text(text: &str) -> String {
    if may_be_secret(text) { String::new() } else { format!("found {text:?}, ") }
}
