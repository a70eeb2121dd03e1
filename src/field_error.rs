//! What serde found wrong, in words for a client: the field and what is allowed. Never the value, which
//! may be a secret pasted into the wrong place.

use std::fmt::{self, Display};

/// What is wrong with a query.
#[derive(Debug)]
pub(crate) enum ParameterError {
    Unknown {
        name: String,
        known: &'static [&'static str],
    },
    Repeated(&'static str),
    Missing(&'static str),
    /// The end of a sentence that begins with the parameter's name.
    Value(String),
}

impl ParameterError {
    /// The sentence, about the parameter `name`.
    pub(crate) fn message(self, name: &str) -> String {
        match self {
            Self::Unknown { name, known } => {
                format!("unknown query parameter{}; this operation takes {}", quoted(&name), known.join(", "))
            }
            Self::Repeated(name) => format!("{name} must be given only once"),
            Self::Missing(name) => format!("{name} must be given"),
            Self::Value(message) => format!("{name} {message}"),
        }
    }
}

impl serde::de::Error for ParameterError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Value(message.to_string())
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::Unknown { name: field.to_owned(), known: expected }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::Repeated(field)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

impl Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for ParameterError {}

/// The sentence about a JSON body. `path` is where serde_path_to_error saw it.
pub(crate) fn body_message(path: &str, error: &serde_json::Error) -> String {
    let whole = error.to_string();
    if !error.is_data() {
        // Of the text itself, these say no more than a position.
        return format!("the body is not valid JSON: {whole}");
    }
    let message = whole.rsplit_once(" at line ").map_or(&*whole, |(message, _)| message);
    if let Some((name, known)) =
        message.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected "))
    {
        let known = known.trim_start_matches("one of ").replace('`', "");
        return format!("unknown field{}; the body takes {known}", quoted(name));
    }
    if let Some(name) = named(message, "missing field `") {
        return format!("{name} is missing");
    }
    if let Some(name) = named(message, "duplicate field `") {
        return format!("{name} must be given only once");
    }
    format!("{path} {message}")
}

fn named<'a>(message: &'a str, prefix: &str) -> Option<&'a str> {
    message.strip_prefix(prefix)?.strip_suffix('`')
}

/// A name that a client made up, if it is safe to repeat: short, plain, and no API key.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if (1..=32).contains(&name.len()) && name.chars().all(plain) && !name.contains("ask_") {
        format!(" \"{name}\"")
    } else {
        String::new()
    }
}
