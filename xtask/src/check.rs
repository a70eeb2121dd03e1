//! `cargo xtask check`: compares the document with the code.

use std::path::{Path, PathBuf};

use checks::drift::{Help, TOLERATED, compare};
use checks::report::{self, About, Report};
use contract::{Output, exit_status};
use document::Document;
use document::finding::{Finding, summary};
use launcher::workspace::workspace;

use crate::dropshot;
use crate::dropshot::source::Sources;
use crate::workspace::own_spec;

/// The command that generates Rust code for missing operations and schemas.
const SCAFFOLD: &str = "cargo xtask scaffold";

/// The options of `cargo xtask check`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// The document to compare [default: openapi/animal-store.yaml].
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// The format of findings.
    #[command(flatten)]
    pub output: Output,
    /// Print the table of differences that are not reported, and compare nothing.
    #[arg(long)]
    pub tolerated: bool,
    /// The code's document as a JSON file, instead of that of the service.
    #[arg(long, value_name = "FILE", hide = true)]
    pub code: Option<PathBuf>,
    /// The root of the sources that findings point to, instead of this workspace.
    #[arg(long, value_name = "DIRECTORY", hide = true)]
    pub root: Option<PathBuf>,
}

/// Compares the document with the code, and prints the differences. Returns the exit status.
///
/// # Errors
/// A message, if the code has no document.
pub fn run(options: &Options) -> Result<u8, String> {
    if options.tolerated {
        println!("| tolerated | because |\n| --- | --- |");
        for tolerated in TOLERATED {
            println!("| {} | {} |", tolerated.what, tolerated.why);
        }
        return Ok(0);
    }
    let code = match &options.code {
        Some(file) => Document::load(file).map_err(|error| format!("{}: {}", error.path, error.problem))?,
        None => dropshot::document()?,
    };
    let spec = options.spec.clone().unwrap_or_else(own_spec);
    Ok(check(&spec, &code, options))
}

/// Returns the exit status.
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
    let files = [About { path: &path, text: &text, findings: &findings }];
    let summary = if findings.is_empty() {
        "the document and the code agree".to_owned()
    } else {
        summary(findings.iter().map(|finding| finding.severity))
    };
    let summary = format!("{path}: {summary}");
    let report = Report { command: "check", files: &files, sources: sources.shown(), summary: &summary };
    report::print(options.output.format, &report);
    exit_status(&findings)
}
