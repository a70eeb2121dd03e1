//! `cargo xtask check`: does the document say what the code does?

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use contract::command::exit_status;
use contract::document::Document;
use contract::drift::{Help, TOLERATED, compare};
use contract::finding::{Finding, Severity};
use contract::report::{self, About, Output};
use jiff::Zoned;

use crate::dropshot;
use crate::dropshot::source::Sources;
use crate::watch;
use crate::workspace::{own_spec, workspace};

/// The command that adds to the code what it lacks.
const SCAFFOLD: &str = "cargo xtask scaffold";

/// The options of `cargo xtask check`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// The document to compare, instead of the one in openapi/.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// How to show findings.
    #[command(flatten)]
    pub output: Output,
    /// Compare again whenever the document is saved, until Ctrl-C.
    ///
    /// Only the document is watched: a change of Rust code needs a new build, so start again after it.
    #[arg(long)]
    pub watch: bool,
    /// Print the table of differences that are not reported, and compare nothing.
    #[arg(long)]
    pub tolerated: bool,
    /// What the code says, as OpenAPI in JSON, instead of what the service says.
    #[arg(long, value_name = "FILE", hide = true)]
    pub code: Option<PathBuf>,
    /// The root of the sources that findings point to, instead of this workspace.
    #[arg(long, value_name = "DIRECTORY", hide = true)]
    pub root: Option<PathBuf>,
}

/// Compares the document with the code, and prints what differs.
pub fn run(options: &Options) -> ExitCode {
    if options.tolerated {
        print_tolerated();
        return ExitCode::SUCCESS;
    }
    let code = match code(options.code.as_deref()) {
        Ok(code) => code,
        Err(problem) => {
            anstream::eprintln!("error: {problem}");
            return ExitCode::from(2);
        }
    };
    let spec = options.spec.clone().unwrap_or_else(own_spec);
    if !options.watch {
        return ExitCode::from(check(&spec, &code, options));
    }
    let again = || {
        let (clear, time) = (std::io::stdout().is_terminal(), Zoned::now().strftime("%H:%M:%S"));
        anstream::print!("{}", if clear { "\x1b[2J\x1b[3J\x1b[H" } else { "" });
        anstream::println!("──── {time}");
        check(&spec, &code, options);
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

/// The code's side: that of the service, or the one in a file.
fn code(file: Option<&Path>) -> Result<Document, String> {
    let Some(file) = file else { return dropshot::document() };
    Document::load(file).map_err(|unreadable| format!("{}: {}", unreadable.path, unreadable.problem))
}

/// Compares once. Returns the exit code.
fn check(spec: &Path, code: &Document, options: &Options) -> u8 {
    let (path, text, mut findings) = match Document::load(spec) {
        Ok(document) => {
            let findings = compare(&document, code, Help { scaffold: Some(SCAFFOLD) });
            (document.path, document.text, findings)
        }
        Err(unreadable) => {
            let finding = Finding::from(&unreadable);
            (unreadable.path, unreadable.text, vec![finding])
        }
    };
    let root = options.root.clone().unwrap_or_else(workspace);
    let sources = if findings.is_empty() { Sources::none(&root) } else { Sources::read(&root) };
    sources.locate_all(&mut findings);
    let about = About { path: &path, text: &text, findings: &findings };
    let summary = format!("{path}: {}", summary(&findings));
    report::print(options.output.format, &[about], sources.shown(), &summary);
    exit_status(&findings)
}

/// Prints the table of differences that are not reported, in Markdown.
fn print_tolerated() {
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
        (0, 0) => format!("the document and the code agree{warnings}"),
        (0, errors) => format!("{}{warnings}", counted(errors, "difference")),
        (_, 0) => format!("could not be read{warnings}"),
        (_, errors) => format!("could not be read as a whole; {}{warnings}", counted(errors, "difference")),
    }
}
