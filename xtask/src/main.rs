//! The commands; `cargo xtask help` lists them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use contract::command::{breaking, lint};
use contract::report::JSON;
use jiff::Zoned;
use jiff::civil::Date;
use xtask::interop::Part;
use xtask::release::newest_release;
use xtask::workspace::{own_spec, workspace};
use xtask::{bench, check, ci, faults, interop, licences, release, scaffold, serve};

/// Work on the animal store and its OpenAPI document.
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
    /// Exit status: 0 if they agree, 1 if they differ, 2 if the document could not be read.
    #[command(after_long_help = JSON)]
    Check(check::Options),
    /// Check the OpenAPI document by itself.
    ///
    /// Exit status: 0 without errors, 1 with errors, 2 if the document could not be read.
    #[command(after_long_help = JSON)]
    Lint {
        /// The document to check, instead of the one in openapi/.
        #[arg(long, value_name = "FILE")]
        spec: Option<PathBuf>,
        #[command(flatten)]
        options: lint::Options,
    },
    /// Compare the OpenAPI document with a released one: what breaks clients, and which version it needs.
    ///
    /// Exit status: 0 if nothing breaks, 1 if something does or the version is too low, 2 if a document
    /// could not be read.
    #[command(after_long_help = JSON)]
    Breaking {
        /// The version that clients rely on [default: the newest in openapi/released/].
        #[arg(long, value_name = "FILE")]
        base: Option<PathBuf>,
        /// The version that they will get, instead of the one in openapi/.
        #[arg(long, value_name = "FILE")]
        spec: Option<PathBuf>,
        #[command(flatten)]
        options: breaking::Options,
    },
    /// Release the document under its version, or verify what was released.
    ///
    /// Exit status: 0 if done or in order, 1 if refused or not in order, 2 if something could not be read.
    Release(release::Arguments),
    /// Print the Rust that the OpenAPI document asks for and the code lacks.
    ///
    /// The code compiles, `check` has no finding about it, and its operations answer 501. An operation that cannot
    /// be written is an error with its reason.
    Scaffold(scaffold::Arguments),
    /// Build the service and run it with a development database and key, both in target/dev.
    ///
    /// Delete target/dev to begin with an empty store.
    Serve {
        /// Where to listen; port 0 takes a free one.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
        bind: String,
        /// Build with optimisations.
        #[arg(long)]
        release: bool,
    },
    /// Do what CI does: formatting, clippy, check, all tests. Stops at the first that fails.
    Ci,
    /// Check the licences and sources of the dependencies against deny.toml.
    Licences,
    /// Inject faults and print a table of their effects.
    ///
    /// Uses strace, libfaketime and util-linux where they are installed. With STORE_TESTS_REQUIRE_TOOLS=1 a
    /// missing one is a failure.
    Faults {
        /// Five hundred kills instead of twenty, a hundred thousand malformed requests instead of ten.
        #[arg(long)]
        long: bool,
        /// Break an optimised build.
        #[arg(long)]
        release: bool,
    },
    /// Measure what requests to the service cost.
    ///
    /// Needs wrk, and for PostgreSQL its server programs.
    Bench(bench::Arguments),
    /// Check the document and the service with third-party tools.
    ///
    /// Needs npm with node (20 or newer), python3 with venv, and chromium. Installs the rest into target/interop.
    Interop {
        /// Only these [default: all].
        parts: Vec<Part>,
    },
}

fn main() -> ExitCode {
    let status = match Arguments::parse().command {
        Command::Check(options) => check::run(&options),
        Command::Lint { spec, options } => {
            Ok(lint::run(&spec.unwrap_or_else(own_spec), &options, &workspace()))
        }
        Command::Breaking { base, spec, options } => {
            let spec = spec.unwrap_or_else(own_spec);
            let base = base.map_or_else(newest_release, Ok);
            base.map(|base| breaking::run(&base, &spec, &options, &workspace()))
        }
        Command::Release(arguments) => release::run(&arguments, utc_today()),
        Command::Scaffold(arguments) => scaffold::run(&arguments),
        Command::Serve { bind, release } => serve::run(&bind, release),
        Command::Ci => ci::run(),
        Command::Licences => licences::run(),
        Command::Faults { long, release } => faults::run(long, release),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Interop { parts } => interop::run(&parts),
    };
    ExitCode::from(status.unwrap_or_else(|problem| {
        anstream::eprintln!("error: {problem}");
        2
    }))
}

fn utc_today() -> Date {
    Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date()
}
