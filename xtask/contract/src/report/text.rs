//! Findings for a person at a terminal: the lines of the file and those of the code, each with a caret,
//! and what to do.

use crate::document::Span;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{About, Sources, from_here};
use crate::finding::{Finding, Severity};

pub(super) fn render(about: &About<'_>, sources: &Sources) -> String {
    let renderer = Renderer::styled();
    let mut rendered = String::new();
    for finding in about.findings {
        let source = source(finding, sources);
        rendered.push_str(&renderer.render(&[group(about, finding, source.as_ref())]));
        rendered.push_str("\n\n");
    }
    rendered
}

/// The other end of a finding.
struct Source<'a> {
    path: String,
    excerpt: Excerpt<'a>,
    label: &'static str,
}

fn source<'a>(finding: &Finding, sources: &'a Sources) -> Option<Source<'a>> {
    let location = finding.source.as_ref()?;
    let text = sources.text(&location.file)?;
    let lacks = finding.rule.ends_with("-not-in-code") && finding.instead.is_none();
    let label = match (finding.code.is_empty(), lacks) {
        (true, _) => "the code that this is about",
        (false, true) => "the code would have it here",
        (false, false) => "the code says otherwise here",
    };
    let path = from_here(sources.root(), &location.file);
    Some(Source { path, excerpt: Excerpt::around(text, &location.span), label })
}

fn group<'a>(about: &About<'a>, finding: &'a Finding, source: Option<&'a Source<'a>>) -> Group<'a> {
    let level = match finding.severity {
        Severity::Info => Level::INFO,
        Severity::Warning => Level::WARNING,
        Severity::Error | Severity::Unreadable => Level::ERROR,
    };
    let excerpt = Excerpt::around(about.text, &finding.span);
    let annotation = AnnotationKind::Primary.span(excerpt.start..excerpt.end);
    let annotation = match finding.code.is_empty() {
        true => annotation,
        false => annotation.label(format!("code: {}", finding.code)),
    };
    let snippet = Snippet::source(excerpt.text).line_start(excerpt.line).path(about.path);
    let mut group = level
        .primary_title(finding.message.as_str())
        .id(finding.rule.as_str())
        .element(snippet.annotation(annotation));
    if let Some(Source { path, excerpt, label }) = source {
        let annotation = AnnotationKind::Context.span(excerpt.start..excerpt.end).label(*label);
        let snippet = Snippet::source(excerpt.text).line_start(excerpt.line).path(path);
        group = group.element(snippet.annotation(annotation));
    }
    if !finding.pointer.is_empty() {
        group = group.element(Level::NOTE.with_name("at").message(finding.pointer.as_str()));
    }
    let shared = finding.pointer.starts_with("/components/") || finding.operations.len() > 1;
    if shared && !finding.operations.is_empty() {
        group = group.element(Level::NOTE.with_name("used by").message(finding.operations.join(", ")));
    }
    if !finding.elsewhere.is_empty() {
        group = group.element(Level::NOTE.with_name("was at").message(finding.elsewhere.as_str()));
    }
    if finding.fix.is_empty() {
        return group;
    }
    group.element(Level::HELP.message(finding.fix.as_str()))
}

/// The line at fault, and one line before and after it. The renderer would go through the whole of it for each finding.
struct Excerpt<'a> {
    text: &'a str,
    /// The number of its first line.
    line: usize,
    /// What to underline, as offsets into `text`; no more than one line.
    start: usize,
    end: usize,
}

impl<'a> Excerpt<'a> {
    fn around(text: &'a str, span: &Span) -> Self {
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let end = text.floor_char_boundary(span.end.clamp(start, line_end));
        let mut from = line_start(text, start);
        let mut line = span.line;
        if from > 0 {
            from = line_start(text, from - 1);
            line = line.saturating_sub(1);
        }
        let next = text.get(line_end + 1..).unwrap_or_default();
        let to = next.find('\n').map_or(text.len(), |length| line_end + 1 + length);
        Self { text: &text[from..to], line: line.max(1), start: start - from, end: end - from }
    }
}

fn line_start(text: &str, position: usize) -> usize {
    text[..position].rfind('\n').map_or(0, |before| before + 1)
}
