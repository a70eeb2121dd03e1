//! `cargo xtask check`: does the file say what the code does?

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use animal_store::yaml::Span;
use jiff::civil::Date;

use crate::compare::{TOLERATED, compare};
use crate::finding::{Finding, Severity, Subject};
use crate::report;
use crate::served;
use crate::written::{Document, Unreadable};

/// The file, from the root of the workspace.
const SPEC: &str = "openapi/animal-store.yaml";

/// Compares the file, or the one that belongs here, with the code, and prints what differs.
pub fn run(spec: Option<PathBuf>, today: Date) -> ExitCode {
    let spec = spec.unwrap_or_else(own_spec);
    let served = match served::document() {
        Ok(served) => served,
        Err(problem) => {
            anstream::eprintln!("error: the code describes no interface: {problem}");
            return ExitCode::from(2);
        }
    };
    let (path, text, findings) = match Document::load(&spec) {
        Ok(document) => {
            let findings = compare(&document, &served, today);
            (document.path, document.text, findings)
        }
        Err(unreadable) => {
            let finding = unread(&unreadable);
            (unreadable.path, unreadable.text, vec![finding])
        }
    };
    anstream::print!("{}", report::render(&path, &text, &findings, true));
    let code = exit_code(&findings);
    anstream::println!("{path}: {}", summary(&findings));
    ExitCode::from(code)
}

/// 0 when the two agree, 1 when they do not, 2 when the file could not be read.
pub fn exit_code(findings: &[Finding]) -> u8 {
    match findings.iter().map(|finding| finding.severity).max() {
        None | Some(Severity::Warning) => 0,
        Some(Severity::Error) => 1,
        Some(Severity::Unreadable) => 2,
    }
}

/// Prints the table of differences that count for nothing, in Markdown.
pub fn print_tolerated() {
    println!("| tolerated | because |\n| --- | --- |");
    for tolerated in TOLERATED {
        println!("| {} | {} |", tolerated.what, tolerated.why);
    }
}

/// A file that could not be read, as a finding.
pub fn unread(unreadable: &Unreadable) -> Finding {
    let problem = &unreadable.problem;
    let mut lines = unreadable.text.split_inclusive('\n');
    let start: usize = lines.by_ref().take(problem.line - 1).map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let within =
        line.char_indices().nth(problem.column - 1).map_or(line.trim_end().len(), |(offset, _)| offset);
    let start = start + within;
    let span = Span { start, end: start, line: problem.line, column: problem.column };
    Finding::new(Severity::Unreadable, "unreadable", "", span)
        .message(&Subject::document(), format!("{}.", problem.message))
        .fix("Nothing was compared. Mend this first.")
}

fn summary(findings: &[Finding]) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let warnings = match count(Severity::Warning) {
        0 => String::new(),
        warnings => format!(", {}", counted(warnings, "warning")),
    };
    match (count(Severity::Unreadable), count(Severity::Error)) {
        (0, 0) => format!("the file and the code say the same{warnings}"),
        (0, errors) => format!("{}{warnings}", counted(errors, "difference")),
        (unreadable, 0) => format!("could not be read, {}{warnings}", counted(unreadable, "problem")),
        (unreadable, errors) => {
            let problems = counted(unreadable, "problem");
            format!("could not be read as a whole, {problems}; {}{warnings}", counted(errors, "difference"))
        }
    }
}

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = manifest.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned());
    manifest.parent().unwrap_or(&manifest).to_owned()
}

/// The document that belongs here, as one would write its path.
pub(crate) fn own_spec() -> PathBuf {
    let spec = workspace().join(SPEC);
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| spec.strip_prefix(here).ok().map(Path::to_owned));
    relative.unwrap_or(spec)
}
