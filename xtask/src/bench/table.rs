//! Figures: medians, and tables in Markdown.

use std::fmt::Write as _;
use std::time::Duration;

/// The middle of the values, or the mean of the two in the middle; 0 of none.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[count / 2],
        count => values[count / 2 - 1].midpoint(values[count / 2]),
    }
}

/// With thousands apart: `12,345`.
pub(super) fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// In milliseconds.
pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// A table in Markdown; the first row is its head, and numbers stand to the right.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let _ = writeln!(text, "| {} |", row.join(" | "));
        if number == 0 {
            let rest = "| ---: ".repeat(row.len().saturating_sub(1));
            let _ = writeln!(text, "| --- {rest}|");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median([]), 0.0);
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0.0, 999.4, 1000.0, 1_234_567.0].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
