//! Numbers as they are written.

use std::fmt;
use std::ops::Deref;

use serde_json::Number as Nearest;

/// A number. It dereferences to the nearest one that JSON readers hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    nearest: Nearest,
    /// The digits, if the nearest number has others.
    digits: Option<Box<str>>,
}

impl Number {
    /// The number that a text means.
    pub(super) fn written(text: &str, nearest: Nearest) -> Self {
        /// The digits that a double holds.
        const HELD: usize = 15;
        let text = text.strip_prefix('+').unwrap_or(text);
        let has_exponent = text.contains(['e', 'E']);
        let is_fraction = text.contains('.') && !has_exponent;
        let text = if is_fraction { text.trim_end_matches('0').trim_end_matches('.') } else { text };
        let is_held = !nearest.is_f64() || text.bytes().filter(u8::is_ascii_digit).count() <= HELD;
        Self { nearest, digits: (!is_held).then(|| text.into()) }
    }

    /// Whether JSON readers that hold doubles have another number.
    pub fn is_rounded(&self) -> bool {
        self.digits.is_some()
    }
}

impl From<Nearest> for Number {
    fn from(nearest: Nearest) -> Self {
        Self { nearest, digits: None }
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
