//! Turns an error of serde into a message for the client: the field and what is allowed. Never the value,
//! which may be a secret pasted into the wrong place.

/// Describes serde's `message` about the value at `path`. An unknown name is an unknown `kind`, and `receiver` takes the
/// known ones.
pub(super) fn describe((kind, receiver): (&str, &str), path: &str, message: &str) -> String {
    // The last "expected": the name comes from the client and may contain the word as well.
    if let Some((name, known)) =
        message.strip_prefix("unknown field `").and_then(|rest| rest.rsplit_once("`, expected "))
    {
        let known = known.trim_start_matches("one of ").replace('`', "");
        return format!("unknown {kind}{}; {receiver} takes {known}", quoted(name));
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
        "f32" | "f64" => "a number",
        "bool" | "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        _ => &integer(expected).unwrap_or_else(|| expected.replace('`', "")),
    };
    format!("{path} must be {expected}")
}

/// Describes an integer type of Rust.
fn integer(name: &str) -> Option<String> {
    macro_rules! range {
        ($($integer:ident)*) => {
            match name {
                $(stringify!($integer) => Some(format!("an integer from {} to {}", $integer::MIN, $integer::MAX)),)*
                _ => None,
            }
        };
    }
    range!(i8 i16 i32 i64 u8 u16 u32 u64)
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
