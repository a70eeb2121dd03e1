//! The values of scalars in the core schema of YAML 1.2.2, section 10.3.2.

use granit_parser::ScalarStyle;
use serde_json::Number as Nearest;

use super::number::Number;
use super::tree::{Value, shortened};

/// The value of a scalar.
///
/// # Errors
/// Returns a message for a number that is too large for JSON readers.
pub(super) fn value(text: &str, style: ScalarStyle) -> Result<Value, String> {
    Ok(match text {
        _ if style != ScalarStyle::Plain => Value::String(text.to_owned()),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match number(text)? {
            Some(number) => Value::Number(Number::written(text, number)),
            None => Value::String(text.to_owned()),
        },
    })
}

fn number(text: &str) -> Result<Option<Nearest>, String> {
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
        Some(number) => Nearest::from_f64(number).map(Some).ok_or_else(unholdable),
        None => Ok(None),
    }
}
