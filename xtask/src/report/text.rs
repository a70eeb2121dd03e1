//! Findings for a person at a terminal: the lines of the file, a caret, both sides, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::finding::{Finding, Severity};

/// How many lines before and after the one at fault are shown.
const CONTEXT: usize = 1;
/// How many findings are shown in full.
const MAX_SHOWN: usize = 200;

/// All findings about the file `path` with this text. `colour` adds ANSI escapes.
pub fn render(path: &str, text: &str, findings: &[Finding], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut rendered = String::new();
    for finding in findings.iter().take(MAX_SHOWN) {
        rendered.push_str(&renderer.render(&[group(path, text, finding)]));
        rendered.push_str("\n\n");
    }
    if let Some(more) = findings.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        rendered.push_str(&format!("… and {more} more\n\n"));
    }
    rendered
}

fn group<'a>(path: &'a str, text: &'a str, finding: &'a Finding) -> Group<'a> {
    let level = match finding.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error | Severity::Unreadable => Level::ERROR,
    };
    let excerpt = Excerpt::around(text, finding);
    let label = if finding.code.is_empty() { String::new() } else { format!("code: {}", finding.code) };
    let annotation = AnnotationKind::Primary.span(excerpt.start..excerpt.end);
    let annotation = if label.is_empty() { annotation } else { annotation.label(label) };
    let snippet = Snippet::source(excerpt.text).line_start(excerpt.line).path(path).annotation(annotation);
    let mut group = level.primary_title(finding.message.as_str()).id(finding.rule.as_str()).element(snippet);
    if !finding.pointer.is_empty() {
        group = group.element(Level::NOTE.with_name("at").message(finding.pointer.as_str()));
    }
    let shared = finding.pointer.starts_with("/components/") || finding.operations.len() > 1;
    if shared && !finding.operations.is_empty() {
        group = group.element(Level::NOTE.with_name("used by").message(finding.operations.join(", ")));
    }
    if finding.fix.is_empty() {
        return group;
    }
    group.element(Level::HELP.message(finding.fix.as_str()))
}

/// A few lines of the file. The renderer would go through the whole of it for each finding.
struct Excerpt<'a> {
    text: &'a str,
    /// The number of its first line.
    line: usize,
    /// What to underline, as offsets into `text`; no more than one line.
    start: usize,
    end: usize,
}

impl<'a> Excerpt<'a> {
    fn around(text: &'a str, finding: &Finding) -> Self {
        let start = text.floor_char_boundary(finding.span.start.min(text.len()));
        let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let end = text.floor_char_boundary(finding.span.end.clamp(start, line_end));
        let mut from = line_start(text, start);
        let mut line = finding.span.line;
        for _ in 0..CONTEXT {
            if from > 0 {
                from = line_start(text, from - 1);
                line = line.saturating_sub(1);
            }
        }
        let mut to = line_end;
        for _ in 0..CONTEXT {
            if to < text.len() {
                to = text[to + 1..].find('\n').map_or(text.len(), |length| to + 1 + length);
            }
        }
        Self { text: &text[from..to], line: line.max(1), start: start - from, end: end - from }
    }
}

fn line_start(text: &str, position: usize) -> usize {
    text[..position].rfind('\n').map_or(0, |before| before + 1)
}
