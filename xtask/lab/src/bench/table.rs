//! Medians, number formatting, and Markdown tables.

/// Returns the median; 0 for no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[count / 2],
        count => values[count / 2 - 1].midpoint(values[count / 2]),
    }
}

/// Rounds to a whole number and separates thousands: `12,345`.
pub fn grouped(value: f64) -> String {
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

/// Formats a Markdown table. `head` contains the separators between columns. All columns but the first are aligned right.
pub(super) fn table(head: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let rule = "| ---: ".repeat(head.matches('|').count());
    let rows = rows.map(|row| format!("| {} |\n", row.join(" | ")));
    format!("| {head} |\n| --- {rule}|\n{}", rows.collect::<String>())
}
