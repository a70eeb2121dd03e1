//! The values of scalars in the core schema of YAML 1.2.2, section 10.3.2.

use saphyr_parser::{ScalarStyle, Tag};
use serde_json::Number;

use super::tree::{Value, shortened};

/// The value of a scalar.
///
/// # Errors
/// Returns a message for a tag without a counterpart in JSON, for text that does not match its tag, and for a
/// number that is too large for JSON readers.
pub(super) fn value(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let Some(tag) = tag else {
        return match style {
            ScalarStyle::Plain => plain(text),
            _ => Ok(Value::String(text.to_owned())),
        };
    };
    let name = core_tag(tag)?;
    let value = if name == "str" { Value::String(text.to_owned()) } else { plain(text)? };
    match (name, &value) {
        ("str", Value::String(_))
        | ("int" | "float", Value::Number(_))
        | ("bool", Value::Bool(_))
        | ("null", Value::Null) => Ok(value),
        _ => Err(format!("`{}` does not match its tag `!!{}`", shortened(text), shortened(name))),
    }
}

/// The name of a tag of the core schema.
///
/// # Errors
/// Returns a message for any other tag.
pub(super) fn core_tag(tag: &Tag) -> Result<&str, String> {
    if tag.is_yaml_core_schema() {
        return Ok(&tag.suffix);
    }
    Err(format!(
        "the tag `{}` is not part of the core schema of YAML; remove it",
        shortened(&tag.to_string())
    ))
}

fn plain(text: &str) -> Result<Value, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match number(text)? {
            Some(number) => Value::Number(number),
            None => Value::String(text.to_owned()),
        },
    })
}

fn number(text: &str) -> Result<Option<Number>, String> {
    // Most scalars are words, and are rejected here.
    if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return Ok(None);
    }
    let unholdable =
        || format!("`{}` is a number that JSON cannot represent; quote it if it is text", shortened(text));
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        let digits = text.strip_prefix(prefix).filter(|digits| !digits.is_empty());
        if let Some(digits) = digits.filter(|digits| digits.chars().all(|c| c.is_digit(radix))) {
            let number = u64::from_str_radix(digits, radix).map_err(|_| unholdable())?;
            return Ok(Some(number.into()));
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(unholdable());
    }
    if let Ok(number) = text.parse::<i64>() {
        return Ok(Some(number.into()));
    }
    if let Ok(number) = text.parse::<u64>() {
        return Ok(Some(number.into()));
    }
    // Rust and YAML have the same syntax of decimal numbers, except for names such as `inf`.
    let is_name = unsigned.starts_with(|first: char| first.is_alphabetic());
    match text.parse().ok().filter(|_| !is_name) {
        Some(number) => Number::from_f64(number).map(Some).ok_or_else(unholdable),
        None => Ok(None),
    }
}
