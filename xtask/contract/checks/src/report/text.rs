//! Findings as text: the lines of the file and of the code, each with a caret, and the fix.

use std::env::current_dir;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use document::Span;

use super::overview::{joined, overview};
use super::{Report, Sources, plain};
use crate::finding::{File, Finding, Severity};

/// Formats the findings: an overview if they are many, then those that say the same as one.
pub(super) fn render(report: &Report<'_>) -> String {
    let renderer = Renderer::styled();
    let result = report.summary.lines().next().unwrap_or_default();
    let mut text = overview(result, report.files.iter().flat_map(|file| &file.findings));
    let is_long = !text.is_empty();
    for file in report.files {
        for mut finding in joined(&file.findings) {
            if is_long {
                // Without the lines of a waiver.
                finding.fix.truncate(finding.fix.find('\n').unwrap_or(finding.fix.len()));
            }
            text += &renderer.render(&[group(file, &finding, report.sources)]);
            text += "\n\n";
        }
    }
    text
}

fn group<'a>(file: &'a File, finding: &'a Finding, sources: &'a Sources) -> Group<'a> {
    let level = match finding.severity {
        Severity::Info => Level::INFO,
        Severity::Warning => Level::WARNING,
        Severity::Error | Severity::Unreadable => Level::ERROR,
    };
    let code = finding.says.as_ref().map(|says| format!("code: {}", says.code));
    let title = level.primary_title(finding.message.as_str()).id(finding.rule.as_str());
    let (group, path) = (Group::with_title(title), file.path.clone());
    let mut group = with_line(group, path, &file.text, finding.span, AnnotationKind::Primary, code);
    let source = finding.source.as_ref();
    if let Some((location, text)) = source.and_then(|it| Some((it, sources.files.get(&it.file)?))) {
        let (path, here) = (sources.root.join(&location.file), current_dir().unwrap_or_default());
        let path = path.strip_prefix(here).unwrap_or(&path).display().to_string();
        group =
            with_line(group, path, text, location.span, AnnotationKind::Context, Some("the code".to_owned()));
    }
    let shared = finding.pointer.starts_with("/components/") || finding.operations.len() > 1;
    let notes = [
        ("at", finding.pointer.clone()),
        ("used by", if shared { listed(&finding.operations, ", ") } else { String::new() }),
        ("was at", finding.elsewhere.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("also", listed(&finding.also, "\n")),
        ("impact", finding.impact.clone()),
    ];
    let notes = notes.into_iter().map(|(name, text)| (Level::NOTE.with_name(name), text));
    for (level, text) in notes.chain([(Level::HELP, finding.fix.clone())]) {
        if !text.is_empty() {
            // Without the control characters of a document, which a terminal interprets.
            let lines: Vec<String> = text.lines().map(plain).collect();
            group = group.element(level.message(lines.join("\n")));
        }
    }
    group
}

/// The limit of operations and of other places that a finding names.
const MAX_LISTED: usize = 10;

fn listed(items: &[String], joint: &str) -> String {
    let shown = items.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join(joint);
    match items.len().saturating_sub(MAX_LISTED) {
        0 => shown,
        more => format!("{shown}{joint}and {more} more"),
    }
}

/// The limit of bytes of a line before and after a place that the renderer gets. The renderer reads all of them
/// for each finding, and prints what fits on a line of a terminal.
const AROUND: usize = 400;

/// Adds the first line of a span, underlined, or a part of the line if it is long.
fn with_line<'a>(
    group: Group<'a>,
    path: String,
    text: &'a str,
    span: Span,
    kind: AnnotationKind,
    label: Option<String>,
) -> Group<'a> {
    let span = Span { end: span.end.min(span.start + AROUND), ..span }.first_line(text);
    let from = text.floor_char_boundary(span.start.saturating_sub(AROUND));
    let line_start = text[from..span.start].rfind('\n').map(|before| from + before + 1);
    let is_cut = from > 0 && line_start.is_none();
    let from = line_start.unwrap_or(from);
    let to = text.floor_char_boundary(span.end + AROUND);
    let to = text[span.end..to].find('\n').map_or(to, |length| span.end + length);
    let annotation = kind.span(span.start - from..span.end - from).label(label);
    let snippet = Snippet::source(&text[from..to]).line_start(span.line.max(1)).annotation(annotation);
    if !is_cut {
        return group.element(snippet.path(path));
    }
    // The renderer would count the column from the beginning of the shortened line.
    let origin = Origin::path(path).line(span.line).char_column(span.column);
    group.element(origin).element(snippet)
}
