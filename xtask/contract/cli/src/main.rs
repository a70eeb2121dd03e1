//! Checks and compares OpenAPI 3.0 documents.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use checks::report::JSON;
use clap::{Parser, Subcommand};
use contract::acceptance::Acceptance;
use contract::{breaking, changelog, drift, lint};

// Most of the time of a comparison of large documents is in small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Checks and compares OpenAPI 3.0 documents.
///
/// Exit status: 0 without errors, 1 with errors or what else `--fail-on` names, 2 if a file, or a part that must be
/// compared, could not be read as OpenAPI 3.0.
#[derive(Parser)]
#[command(name = "contract", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check documents by themselves.
    #[command(after_long_help = JSON)]
    Lint {
        /// The documents, in YAML or JSON.
        #[arg(value_name = "FILE", required_unless_present_any = ["rules", "explain"])]
        documents: Vec<PathBuf>,
        #[command(flatten)]
        options: lint::Options,
    },
    /// Compare two versions of a document: report breaking changes and the version that they require.
    #[command(after_long_help = JSON)]
    Breaking {
        /// The version that clients rely on.
        base: PathBuf,
        /// The new version.
        revision: PathBuf,
        #[command(flatten)]
        options: breaking::Options,
    },
    /// Print the changes between two versions for users of the API.
    Changelog {
        /// The previous version.
        base: PathBuf,
        /// The new version.
        revision: PathBuf,
        #[command(flatten)]
        options: changelog::Options,
    },
    /// Compare a document with the one that the code generates.
    #[command(after_long_help = JSON)]
    Drift {
        /// The document, in YAML or JSON.
        document: PathBuf,
        /// The generated document.
        code: PathBuf,
        #[command(flatten)]
        options: Acceptance,
    },
    /// Serve an editor: a language server over standard input and output.
    Lsp {
        /// The version of `--document` that clients use now, also as REVISION:PATH of git.
        #[arg(long, value_name = "FILE", requires = "document")]
        base: Option<PathBuf>,
        /// The document that is compared with the base.
        #[arg(long, value_name = "FILE", requires = "base")]
        document: Option<PathBuf>,
    },
}

/// Returns the root of the repository around the current directory, or else that directory.
fn root() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let root = here.ancestors().find(|directory| directory.join(".git").exists()).map(Path::to_owned);
    root.unwrap_or(here)
}

fn main() -> ExitCode {
    let root = root();
    ExitCode::from(match Arguments::parse().command {
        Command::Lint { documents, options } => lint::run(&documents, &options, &root),
        Command::Breaking { base, revision, options } => breaking::run(&base, &revision, &options, &root),
        Command::Changelog { base, revision, options } => changelog::run(&base, &revision, &options, &root),
        Command::Drift { document, code, options } => drift::run(&document, &code, &options, &root),
        Command::Lsp { base, document } => {
            language_server::serve(Arc::new(language_server::Standalone { base, document }))
        }
    })
}
