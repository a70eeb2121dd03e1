//! `cargo xtask check`: does the file say what the code does?

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::Zoned;
use jiff::civil::Date;
use serde_json::Value;

use crate::compare::{TOLERATED, compare};
use crate::finding::{Finding, Severity};
use crate::report::{self, About, Format};
use crate::served;
use crate::source::Sources;
use crate::watch;
use crate::written::Document;

/// The file, from the root of the workspace.
const SPEC: &str = "openapi/animal-store.yaml";

/// What `cargo xtask check` was asked.
#[derive(Debug)]
pub struct Options {
    /// The file to compare, instead of the one of this workspace.
    pub spec: Option<PathBuf>,
    /// The day that sunset dates are judged by.
    pub today: Date,
    /// What findings are shown as.
    pub format: Format,
    /// Whether to go on whenever the file is saved.
    pub watch: bool,
}

/// Compares the file with the code, and prints what differs.
pub fn run(options: &Options) -> ExitCode {
    let served = match served::document() {
        Ok(served) => served,
        Err(problem) => {
            anstream::eprintln!("error: the code describes no interface: {problem}");
            return ExitCode::from(2);
        }
    };
    let spec = options.spec.clone().unwrap_or_else(own_spec);
    if !options.watch {
        return ExitCode::from(check(&spec, &served, options));
    }
    let again = || {
        let (clear, time) = (std::io::stdout().is_terminal(), Zoned::now().strftime("%H:%M:%S"));
        anstream::print!("{}", if clear { "\x1b[2J\x1b[3J\x1b[H" } else { "" });
        anstream::println!("──── {time}");
        check(&spec, &served, options);
        anstream::println!(
            "Waiting for {} to be saved; start again after a change of Rust code. Ctrl-C ends it.",
            spec.display()
        );
    };
    match watch::until_stopped(&spec, again) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            anstream::eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Compares once. Returns the exit code.
fn check(spec: &Path, served: &Value, options: &Options) -> u8 {
    let (path, text, mut findings) = match Document::load(spec) {
        Ok(document) => {
            let findings = compare(&document, served, options.today);
            (document.path, document.text, findings)
        }
        Err(unreadable) => {
            let finding = Finding::from(&unreadable);
            (unreadable.path, unreadable.text, vec![finding])
        }
    };
    let root = workspace();
    let sources = if findings.is_empty() { Sources::none(&root) } else { Sources::read(&root) };
    sources.locate_all(&mut findings);
    let about = About { path: &path, text: &text, findings: &findings };
    report::print(options.format, &[about], sources.shown(), &format!("{path}: {}", summary(&findings)));
    exit_code(&findings)
}

/// 0 when the two agree, 1 when they do not, 2 when the file could not be read.
pub fn exit_code(findings: &[Finding]) -> u8 {
    match findings.iter().map(|finding| finding.severity).max() {
        None | Some(Severity::Info | Severity::Warning) => 0,
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

/// The document of this workspace, as one would write its path from here.
pub(crate) fn own_spec() -> PathBuf {
    let spec = workspace().join(SPEC);
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| spec.strip_prefix(here).ok().map(Path::to_owned));
    relative.unwrap_or(spec)
}
