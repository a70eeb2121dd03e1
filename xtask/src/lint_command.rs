//! `cargo xtask lint`: is the file well made?

use std::path::PathBuf;
use std::process::ExitCode;

use jiff::civil::Date;

use crate::check::{exit_code, own_spec, workspace};
use crate::finding::{Finding, Severity};
use crate::report::Sources;
use crate::report::{self, About, Format};
use crate::written::Document;
use contract::lint::{lint, rules};

/// Lints the file, or the one that belongs here, and prints what is wrong with it.
pub fn run(spec: Option<PathBuf>, today: Date, format: Format) -> ExitCode {
    let (path, text, findings) = match Document::load(&spec.unwrap_or_else(own_spec)) {
        Ok(document) => {
            let findings = lint(&document, today);
            (document.path, document.text, findings)
        }
        Err(unreadable) => {
            let finding = Finding::from(&unreadable);
            (unreadable.path, unreadable.text, vec![finding])
        }
    };
    let about = About { path: &path, text: &text, findings: &findings };
    report::print(format, &[about], &Sources::new(&workspace()), &format!("{path}: {}", summary(&findings)));
    ExitCode::from(exit_code(&findings))
}

/// Prints the table of rules, in Markdown.
pub fn print_rules() {
    println!("| rule | severity | demand | origin |\n| --- | --- | --- | --- |");
    for rule in rules() {
        println!("| `{}` | {} | {} | {} |", rule.name, rule.severity, rule.explanation, rule.origin);
    }
}

fn summary(findings: &[Finding]) -> String {
    let counted = |severity, what| {
        let count = findings.iter().filter(|finding| finding.severity == severity).count();
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{plural}"))
    };
    if findings.iter().any(|finding| finding.severity == Severity::Unreadable) {
        return "could not be read".to_owned();
    }
    let counts = [counted(Severity::Error, "error"), counted(Severity::Warning, "warning")];
    let counts: Vec<_> = counts.into_iter().flatten().collect();
    if counts.is_empty() { "nothing to mend".to_owned() } else { counts.join(", ") }
}
