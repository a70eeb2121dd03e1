//! Findings for a person at a terminal: the lines of the file and those of the code, each with a caret,
//! and what to do.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::{About, Sources, from_here};
use crate::document::Span;
use crate::finding::{Finding, Severity};

pub(super) fn render(about: &About<'_>, sources: &Sources) -> String {
    let renderer = Renderer::styled();
    let shown = about.findings.iter().map(|finding| renderer.render(&[group(about, finding, sources)]));
    shown.map(|finding| finding + "\n\n").collect()
}

fn group<'a>(about: &About<'a>, finding: &'a Finding, sources: &'a Sources) -> Group<'a> {
    let level = match finding.severity {
        Severity::Info => Level::INFO,
        Severity::Warning => Level::WARNING,
        Severity::Error | Severity::Unreadable => Level::ERROR,
    };
    let code = (!finding.code.is_empty()).then(|| format!("code: {}", finding.code));
    let place = snippet(about.path.to_owned(), about.text, finding.span, AnnotationKind::Primary, code);
    let mut group = level.primary_title(finding.message.as_str()).id(finding.rule.as_str()).element(place);
    let source = finding.source.as_ref();
    if let Some((location, text)) = source.and_then(|it| Some((it, sources.text(&it.file)?))) {
        let lacks = finding.rule.ends_with("-not-in-code") && finding.instead.is_none();
        let label = match (finding.code.is_empty(), lacks) {
            (true, _) => "the code that this is about",
            (false, true) => "the code would have it here",
            (false, false) => "the code says otherwise here",
        };
        let path = from_here(sources.root(), &location.file);
        let label = Some(label.to_owned());
        group = group.element(snippet(path, text, location.span, AnnotationKind::Context, label));
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

/// The first line of a span, underlined, with one line before and after it. The renderer would go through the whole
/// text for each finding.
fn snippet(
    path: String,
    text: &str,
    span: Span,
    kind: AnnotationKind,
    label: Option<String>,
) -> Snippet<'_, Annotation<'_>> {
    let Span { start, end, mut line, .. } = span.first_line(text);
    let line_start = |position| text[..position].rfind('\n').map_or(0, |before| before + 1);
    let line_end = |position| text[position..].find('\n').map_or(text.len(), |length| position + length);
    let mut from = line_start(start);
    if from > 0 {
        from = line_start(from - 1);
        line = line.saturating_sub(1);
    }
    let to = line_end(text.len().min(line_end(end) + 1));
    let annotation = kind.span(start - from..end - from).label(label);
    Snippet::source(&text[from..to]).line_start(line.max(1)).path(path).annotation(annotation)
}
