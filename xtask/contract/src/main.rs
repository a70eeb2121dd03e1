//! Checks and compares OpenAPI 3.0 documents.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use contract::command::{self, lint};
use contract::report::JSON;

/// Checks and compares OpenAPI 3.0 documents.
///
/// Exit status: 0 if nothing is wrong, 1 if something is, 2 if a file could not be read.
#[derive(Parser)]
#[command(name = "contract", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check a document by itself.
    #[command(after_long_help = JSON)]
    Lint {
        /// The document, in YAML or JSON.
        #[arg(value_name = "FILE", required_unless_present_any = ["rules", "explain"])]
        document: Option<PathBuf>,
        #[command(flatten)]
        options: lint::Options,
    },
}

fn main() -> ExitCode {
    let root = std::env::current_dir().unwrap_or_default();
    ExitCode::from(match Arguments::parse().command {
        Command::Lint { document, options } => lint::run(&document.unwrap_or_default(), &options, &root),
    })
}
