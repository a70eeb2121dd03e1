//! The error of an invalid configuration: the setting, the problem, and what is expected; never a value that may
//! be a password.

use figment::error::{Actual, Kind};
use strsim::damerau_levenshtein;

use super::source::{File, Source, location};
use super::terminal::may_be_secret;
use super::{Config, names_and_values};

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
    // The last part is a number if one value of a list is invalid.
    let names = error.path.iter().take_while(|name| name.parse::<usize>().is_err());
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    if let Kind::MissingField(name) = &error.kind {
        names.push(name);
    }
    let setting = names.join(".");
    let problem = match &error.kind {
        Kind::UnknownField(..) => {
            let nearest = nearest(&setting, Source::of(error.metadata.as_ref()));
            format!(
                "no such setting; {}",
                nearest.map_or(HELP.to_owned(), |name| format!("did you mean {name}?"))
            )
        }
        Kind::MissingField(_) => format!("missing, {}", expected(&setting)),
        Kind::UnknownVariant(found, known) => {
            format!("{}expected one of {}", text(found), known.join(", "))
        }
        Kind::InvalidType(found, _) | Kind::InvalidValue(found, _) => {
            let found = match found {
                Actual::Str(found) => text(found),
                // Such as "signed int `-1`".
                other => format!("found {}, ", other.to_string().rsplit(' ').next().unwrap_or_default()),
            };
            format!("{found}{}", expected(&setting))
        }
        Kind::Message(message) => message.clone(),
        _ => expected(&setting),
    };
    invalid(&format!("{}: {problem}", location(error.metadata.as_ref(), &setting, file)))
}

const HELP: &str = "`animal-store config` prints all settings";

/// Returns the text that was found, unless it may be a database URL in the wrong place.
fn text(found: &str) -> String {
    if may_be_secret(found) { String::new() } else { format!("found {found:?}, ") }
}

/// Returns a valid value of a setting.
fn expected(setting: &str) -> String {
    match names_and_values(&Config::example()).get(setting) {
        Some(example) => format!("expected a value such as {example}"),
        None => format!("expected a table such as [{setting}]; {HELP}"),
    }
}

/// Returns the spelling of the setting that an unknown name resembles.
fn nearest(unknown: &str, source: Source) -> Option<String> {
    let known = names_and_values(&Config::example()).into_keys();
    let distances = known.map(|name| (damerau_levenshtein(unknown, &name), name));
    let (distance, name) = distances.min()?;
    (distance <= 1 + unknown.len() / 4).then(|| source.spelling(&name))
}
