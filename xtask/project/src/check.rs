//! `cargo xtask check`: compares the document with the code.

use std::path::PathBuf;

use checks::drift::TOLERATED;
use checks::finding::Finding;
use contract::acceptance::Acceptance;
use contract::drift;
use document::Document;
use xtask::workspace::workspace;

use crate::code;
use crate::source::Sources;
use crate::workspace::own_spec;

/// The options of `cargo xtask check`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// The document to compare [default: openapi/animal-store.yaml].
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// The options of `contract drift`.
    #[command(flatten)]
    pub drift: Acceptance,
    /// Print the table of differences that are not reported, and compare nothing.
    #[arg(long)]
    pub tolerated: bool,
    /// A program that prints the document of the code as `animal-store openapi` does, instead of a build of the service.
    #[arg(long, value_name = "PROGRAM", hide = true, conflicts_with = "code")]
    pub program: Option<PathBuf>,
    /// The document of the code as a JSON file, instead of that of the service.
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
        None => code::document(options.program.as_deref())?,
    };
    let spec = options.spec.clone().unwrap_or_else(own_spec);
    let root = options.root.clone().unwrap_or_else(workspace);
    let locate = |findings: &mut [Finding]| {
        let sources = if findings.is_empty() { Sources::none(&root) } else { Sources::read(&root) };
        sources.locate_all(findings);
        sources.shown().clone()
    };
    Ok(drift::compare(&spec, &code, &options.drift, &root, locate))
}
