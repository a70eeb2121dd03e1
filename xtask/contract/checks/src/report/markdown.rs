//! Findings as Markdown: the summary, and a table in which the text of a document is shown as it is written.
//!
//! The text comes from documents that anyone may have written. It must not end a table cell, become a link, a picture
//! or HTML, mention a person (`@name`) or refer to an issue (`#1`). GitHub looks for these after it has read the
//! Markdown, so an escaped `@` still mentions; a zero-width space after it prevents that.

use super::{Report, plain};
use crate::finding::{Finding, Location, Severity};

/// The limit of bytes of a table. GitHub accepts comments of up to 65,536 characters, and one may have two tables.
const MAX_TABLE: usize = 30_000;
/// The limit of bytes of a text in a cell.
const MAX_TEXT: usize = 2_000;
/// A zero-width space.
const SPACE: &str = "&#8203;";

pub(super) fn render(report: &Report<'_>) -> String {
    let headline =
        if report.summary.is_empty() { "Not checked: a file cannot be read." } else { report.summary };
    let mut page = format!("**{}: {}**\n", text(report.command), text(headline));
    let number = report.findings().count();
    if number > 0 {
        page += "\n|  | finding | place |\n| --- | --- | --- |\n";
    }
    for (position, (path, _, finding)) in report.findings().enumerate() {
        let row = row(finding, &path);
        if page.len() + row.len() > MAX_TABLE {
            return format!("{page}\n… and {} more.\n", number - position);
        }
        page += &row;
    }
    page
}

fn row(finding: &Finding, path: &str) -> String {
    let severity = match (&finding.accepted, finding.severity) {
        (Some(_), _) => "accepted",
        (None, Severity::Info) => "note",
        (None, Severity::Warning) => "warning",
        (None, Severity::Error) => "**error**",
        (None, Severity::Unreadable) => "**unreadable**",
    };
    let what = match &finding.accepted {
        Some(reason) => format!("{} {}", text(&finding.message), text(reason)),
        None => text(&finding.in_one_line()),
    };
    let mut place = code(&format!("{path}:{}", finding.span.line));
    for (word, other) in [("code:", &finding.source), ("was", &finding.elsewhere)] {
        if let Some(Location { file, span, .. }) = other {
            place += &format!(", {word} {}", code(&format!("{file}:{}", span.line)));
        }
    }
    format!("| {severity} | {what} ({}) | {place} |\n", code(&finding.rule))
}

/// Returns a text on one line. Its parts between backticks become code; a backtick without a partner is text.
fn text(text: &str) -> String {
    let text = shortened(text);
    let paired = text.matches('`').count() / 2 * 2;
    let parts = text.split('`').enumerate().map(|(position, part)| match position {
        _ if position > paired => format!("&#96;{}", escaped(part)),
        _ if position % 2 == 1 => code(part),
        _ => escaped(part),
    });
    parts.collect()
}

/// Returns a text as code on one line.
fn code(text: &str) -> String {
    let text = plain(shortened(text));
    match text.contains(['`', '|', '\\']) {
        _ if text.trim().is_empty() => text,
        // In a table, a code span cannot have a backslash before a `|`.
        true => format!("<code>{}</code>", escaped(&text)),
        false => format!("`{text}`"),
    }
}

fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// Replaces each character that has a meaning in Markdown, HTML or on GitHub.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in plain(text).chars() {
        match character {
            '@' | '#' => escaped.extend([&character.to_string(), SPACE]),
            '&' | '<' | '>' | '|' | '\\' | '`' | '*' | '_' | '~' | '[' | ']' | '$' => {
                escaped.push_str(&format!("&#{};", u32::from(character)));
            }
            _ => escaped.push(character),
        }
    }
    // GitHub links these without any markup.
    escaped.replace("://", &format!(":{SPACE}//")).replace("www.", &format!("www{SPACE}."))
}
