//! Findings for a program: one array, whose shape `cargo xtask check --help` describes.

use serde::Serialize;

use super::Sources;
use super::{About, from_root};
use crate::finding::Finding;

#[derive(Serialize)]
struct Shown<'a> {
    rule: &'a str,
    severity: String,
    message: &'a str,
    pointer: &'a str,
    file: String,
    line: usize,
    column: usize,
    end: Position,
    source: Option<Source<'a>>,
    elsewhere: &'a str,
    says: Says<'a>,
    fix: &'a str,
    operations: &'a [String],
}

/// Lines and columns begin with 1; columns count characters.
#[derive(Serialize)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

#[derive(Serialize)]
struct Source<'a> {
    file: &'a str,
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct Says<'a> {
    document: &'a str,
    code: &'a str,
}

pub(super) fn render(about: &[About<'_>], sources: &Sources) -> String {
    let shown: Vec<_> = about
        .iter()
        .flat_map(|about| {
            let file = from_root(sources.root(), about.path);
            about.findings.iter().map(move |finding| show(finding, file.clone(), about.text))
        })
        .collect();
    // Text, numbers and lists always become JSON.
    let json = serde_json::to_string_pretty(&shown).unwrap_or_default();
    format!("{json}\n")
}

fn show<'a>(finding: &'a Finding, file: String, text: &str) -> Shown<'a> {
    Shown {
        rule: &finding.rule,
        severity: finding.severity.to_string(),
        message: &finding.message,
        pointer: &finding.pointer,
        file,
        line: finding.span.line,
        column: finding.span.column,
        end: end(finding, text),
        source: finding.source.as_ref().map(|source| Source {
            file: &source.file,
            line: source.span.line,
            column: source.span.column,
        }),
        elsewhere: &finding.elsewhere,
        says: Says { document: &finding.file, code: &finding.code },
        fix: &finding.fix,
        operations: &finding.operations,
    }
}

/// Where a finding ends: the place after its last character.
pub(super) fn end(finding: &Finding, text: &str) -> Position {
    let start = text.floor_char_boundary(finding.span.start.min(text.len()));
    let end = text.floor_char_boundary(finding.span.end.clamp(start, text.len()));
    let within = &text[start..end];
    match within.rfind('\n') {
        None => Position { line: finding.span.line, column: finding.span.column + within.chars().count() },
        Some(last) => Position {
            line: finding.span.line + within.matches('\n').count(),
            column: within[last + 1..].chars().count() + 1,
        },
    }
}
