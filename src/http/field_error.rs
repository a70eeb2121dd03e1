//! What serde found wrong, in words for a client: the field and what is allowed. Never the value, which
//! may be a secret pasted into the wrong place.

use std::borrow::Cow;
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
        Self::Value(without_value(&message.to_string()).into_owned())
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
    format!("{path} {}", without_value(message))
}

/// serde repeats a value of the wrong type before it says what it expected; only that is passed on.
fn without_value(message: &str) -> Cow<'_, str> {
    let Some((_, expected)) = message.rsplit_once(", expected ") else { return message.into() };
    let expected = match expected {
        "i32" => "an integer of 32 bits",
        "i64" => "an integer of 64 bits",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        _ => expected,
    };
    format!("must be {}", expected.replace('`', "")).into()
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

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Bear,
        Block,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only ever refused")]
    struct Toy {
        #[serde(default)]
        count: i32,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        tags: Vec<String>,
    }

    #[test]
    fn a_value_is_never_repeated() {
        for (json, message) in [
            (r#"{"count": "ask_1, expected i64"}"#, "count must be an integer of 32 bits"),
            (r#"{"count": 70000000000}"#, "count must be an integer of 32 bits"),
            (r#"{"kind": "ask_1"}"#, "kind must be bear or block"),
            (r#"{"tags": "ask_1"}"#, "tags must be a list"),
            (r#"{"tags": [true]}"#, "tags[0] must be a string"),
        ] {
            let mut reader = serde_json::Deserializer::from_str(json);
            let error = serde_path_to_error::deserialize::<_, Toy>(&mut reader).unwrap_err();
            assert_eq!(body_message(&error.path().to_string(), error.inner()), message);
        }
    }
}
