//! The command line of the commands about the document. `cargo xtask` starts it.

use std::path::PathBuf;
use std::process::ExitCode;

use checks::registry;
use checks::report::{self, JSON};
use clap::{Parser, Subcommand};
use contract::{breaking, lint};
use jiff::Zoned;
use jiff::civil::Date;
use project::release::newest_release;
use project::workspace::own_spec;
use project::{check, dev, licences, lsp, release, rules, site};
use xtask::workspace::workspace;

/// The commands about the OpenAPI document. `cargo xtask --help` lists all commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare the OpenAPI document with the code.
    ///
    /// Reports every difference with its place in the document and in the Rust source.
    ///
    /// Exit status: 0 without differences, 1 with differences, 2 if the document cannot be read.
    #[command(after_long_help = JSON)]
    Check(check::Options),
    /// Check the OpenAPI document for errors and against the rules of this project.
    ///
    /// Exit status: 0 without errors, 1 with errors, 2 if the document cannot be read.
    #[command(after_long_help = JSON)]
    Lint {
        /// The document to check [default: openapi/animal-store.yaml].
        #[arg(long, value_name = "FILE")]
        spec: Option<PathBuf>,
        #[command(flatten)]
        options: lint::Options,
    },
    /// Report changes of the OpenAPI document that break clients, and the version that the changes need.
    ///
    /// Exit status: 0 without errors, 1 with a version that is too low or breaking changes that it does not allow, 2 if a
    /// document, or a part that must be compared, cannot be read.
    #[command(after_long_help = JSON)]
    Breaking {
        /// The document that clients use now [default: the newest in openapi/released].
        #[arg(long, value_name = "FILE")]
        base: Option<PathBuf>,
        /// The changed document [default: openapi/animal-store.yaml].
        #[arg(long, value_name = "FILE")]
        spec: Option<PathBuf>,
        #[command(flatten)]
        options: breaking::Options,
    },
    /// Release the OpenAPI document under its `info.version`, or verify the released documents.
    ///
    /// Writes VERSION.yaml, VERSION.json, the changes as VERSION.changes.json, and their checksums to openapi/released, and
    /// an entry to openapi/CHANGELOG.md. Writes nothing if the document has errors or differs from the code.
    ///
    /// Exit status: 0 if the release or verification succeeded, 1 if not, 2 if the code has no document.
    Release(release::Arguments),
    /// Serve the service while writing it: after each save, build, compare the document with the code, and restart.
    ///
    /// Prints one line for each event, and the errors of the compiler and of `check`; Ctrl-C ends. Database and API key
    /// are those of `serve`. A service that does not compile, or a document that cannot be read, leaves the old one
    /// running.
    Dev {
        /// The address that the service listens on; port 0 selects a free port at each start.
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
        bind: String,
    },
    /// Write the documentation of the API as static files, for any web server.
    ///
    /// The pages are those of `/docs`: each version, the changelog, the files with their checksums, commands for clients,
    /// and a feed of releases. They work from any directory, and without JavaScript.
    ///
    /// Exit status: 0, or 2 if a document cannot be read, or the directory is not empty.
    Site(site::Arguments),
    /// Check the licences and sources of the dependencies against deny.toml, without network access.
    Licences,
    /// Serve an editor: a language server for the OpenAPI document, over standard input and output.
    ///
    /// Reports what `lint`, `breaking` and, at each save, `check` report; leads from the document to the Rust code.
    Lsp(lsp::Options),
}

fn main() -> ExitCode {
    rules::add();
    let status = match Arguments::parse().command {
        Command::Check(options) => check::run(&options),
        // `cargo xtask check` has rules too.
        Command::Lint { options, .. } if options.rules => {
            report::write(&registry::table());
            Ok(0)
        }
        Command::Lint { spec, options } => {
            Ok(lint::run(&[spec.unwrap_or_else(own_spec)], &options, &workspace()))
        }
        Command::Breaking { base, spec, options } => {
            let spec = spec.unwrap_or_else(own_spec);
            let base = base.map_or_else(newest_release, Ok);
            base.map(|base| breaking::run(&base, &spec, &options, &workspace()))
        }
        Command::Release(arguments) => release::run(&arguments, utc_today()),
        Command::Dev { bind } => dev::run(&bind),
        Command::Site(arguments) => site::run(&arguments),
        Command::Licences => licences::run(),
        Command::Lsp(options) => Ok(lsp::run(&options)),
    };
    xtask::process::exit_code(status)
}

fn utc_today() -> Date {
    Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date()
}
