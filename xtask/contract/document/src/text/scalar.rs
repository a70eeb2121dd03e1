//! Scalars in the core schema of YAML 1.2.2, section 10.3.2, with numbers as they are written.

use std::fmt;
use std::ops::Deref;

use granit_parser::ScalarStyle;
use serde_json::Number as Nearest;

use super::tree::{Value, shortened};

/// A number. It dereferences to the nearest one that JSON readers hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    nearest: Nearest,
    /// The digits, if the nearest number has others.
    digits: Option<Box<str>>,
}

impl Number {
    /// Whether JSON readers that hold doubles have another number.
    pub fn is_rounded(&self) -> bool {
        self.digits.is_some()
    }
}

impl Deref for Number {
    type Target = Nearest;

    fn deref(&self) -> &Nearest {
        &self.nearest
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.digits {
            Some(digits) => formatter.write_str(digits),
            None => self.nearest.fmt(formatter),
        }
    }
}

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
        _ => number(text)?.map_or_else(|| Value::String(text.to_owned()), Value::Number),
    })
}

fn number(text: &str) -> Result<Option<Number>, String> {
    /// The digits that a double holds.
    const HELD: usize = 15;
    // Most scalars are words, and are rejected here.
    if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return Ok(None);
    }
    let exact = |nearest| Ok(Some(Number { nearest, digits: None }));
    let unholdable =
        || format!("`{}` is a number that JSON cannot represent; quote it if it is text", shortened(text));
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        let digits = text.strip_prefix(prefix).filter(|digits| !digits.is_empty());
        if let Some(digits) = digits.filter(|digits| digits.chars().all(|c| c.is_digit(radix))) {
            return exact(u64::from_str_radix(digits, radix).map_err(|_| unholdable())?.into());
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(unholdable());
    }
    let integer = text.parse::<i64>().map(Nearest::from);
    if let Ok(number) = integer.or_else(|_| text.parse::<u64>().map(Nearest::from)) {
        return exact(number);
    }
    // Rust and YAML have the same syntax of decimal numbers, except for names such as `inf`.
    let is_name = unsigned.starts_with(|first: char| first.is_alphabetic());
    let Some(number) = text.parse().ok().filter(|_| !is_name) else { return Ok(None) };
    let nearest = Nearest::from_f64(number).ok_or_else(unholdable)?;
    let text = text.strip_prefix('+').unwrap_or(text);
    let is_fraction = text.contains('.') && !text.contains(['e', 'E']);
    let text = if is_fraction { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    let is_held = text.bytes().filter(u8::is_ascii_digit).count() <= HELD;
    Ok(Some(Number { nearest, digits: (!is_held).then(|| text.into()) }))
}
