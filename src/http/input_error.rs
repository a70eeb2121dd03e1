//! Turns an error of serde into a message for the client: the field and what is allowed. Never the value,
//! which may be a secret pasted into the wrong place.

/// The words for one kind of input.
pub(super) struct Words {
    unknown: &'static str,
    receiver: &'static str,
}

pub(super) const QUERY: Words = Words { unknown: "unknown query parameter", receiver: "this operation" };
pub(super) const BODY: Words = Words { unknown: "unknown field", receiver: "the body" };

/// Describes serde's `message` about the value at `path`.
pub(super) fn describe(words: &Words, path: &str, message: &str) -> String {
    // The last "expected": the name comes from the client and may contain the word as well.
    if let Some((name, known)) =
        message.strip_prefix("unknown field `").and_then(|rest| rest.rsplit_once("`, expected "))
    {
        let known = known.trim_start_matches("one of ").replace('`', "");
        return format!("{}{}; {} takes {known}", words.unknown, quoted(name), words.receiver);
    }
    if let Some(name) = field(message, "missing field `") {
        return format!("{name} is missing");
    }
    if let Some(name) = field(message, "duplicate field `") {
        return format!("{name} must be given only once");
    }
    // serde repeats a value of the wrong type before it says what it expected.
    let Some((_, expected)) = message.rsplit_once(", expected ") else { return format!("{path} {message}") };
    let expected = match expected {
        "i32" => "an integer of 32 bits",
        "i64" => "an integer of 64 bits",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        _ => expected,
    };
    format!("{path} must be {}", expected.replace('`', ""))
}

fn field<'a>(message: &'a str, prefix: &str) -> Option<&'a str> {
    message.strip_prefix(prefix)?.strip_suffix('`')
}

/// Quotes a name that the client sent, if it is safe to repeat: short, plain, and not an API key.
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
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "never deserialized with success")]
    struct Toy {
        #[serde(default)]
        count: i32,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        tags: Vec<String>,
    }

    #[test]
    fn the_message_does_not_repeat_the_value() {
        for (json, expected) in [
            (r#"{"count": "ask_1, expected i64"}"#, "count must be an integer of 32 bits"),
            (r#"{"count": 70000000000}"#, "count must be an integer of 32 bits"),
            (r#"{"kind": "ask_1"}"#, "kind must be bear or block"),
            (r#"{"tags": "ask_1"}"#, "tags must be a list"),
            (r#"{"tags": [true]}"#, "tags[0] must be a string"),
            (r#"{"ask_1`, expected ask_2": 1}"#, "unknown field; the body takes count, kind, tags"),
        ] {
            let mut reader = serde_json::Deserializer::from_str(json);
            let error = serde_path_to_error::deserialize::<_, Toy>(&mut reader).unwrap_err();
            let message = error.inner().to_string();
            let (message, _position) = message.rsplit_once(" at line ").unwrap();
            assert_eq!(describe(&BODY, &error.path().to_string(), message), expected);
        }
    }
}
