//! The commands; `cargo xtask help` lists them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use jiff::Zoned;
use jiff::civil::Date;
use xtask::outside::Part;
use xtask::report::Output;
use xtask::{
    bench, breaking_command, check, ci, faults, licences, lint_command, outside, release, scaffold, serve,
};

/// What `--format json` prints, for the help.
const JSON: &str = r#"`--format json` prints an array with an object for each finding:
  rule        name of the rule, in kebab-case
  severity    "error", "warning", "info", or "unreadable" where the document could not be understood
  message     what is wrong, as a sentence
  pointer     JSON pointer (RFC 6901) into the document; what it lacks has that of its owner
  file        path of the document, from the root of the repository
  line, column, end {line, column}
              where it is; both count from 1, columns in characters, `end` is the place after it
  source      {file, line, column} of the Rust code that says otherwise, or null
  elsewhere   where else in a document it is written, as file, line and column; empty if nowhere
  says        {document, code}: what either side says, for people; empty where it has no say
  fix         what would mend it, as a sentence
  operations  operationIds of the operations that it was found in
More keys may be added; these stay."#;

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
    /// Exits with 0 if they say the same, 1 if they differ, 2 if the document could not be read.
    #[command(after_long_help = JSON)]
    Check(check::Options),
    /// Say whether the OpenAPI document is well made, taken by itself.
    ///
    /// Exits with 0 if it is, even with warnings, 1 if it is not, 2 if it could not be read.
    #[command(after_long_help = JSON)]
    Lint {
        /// The document to lint, instead of the one in openapi/.
        #[arg(long, value_name = "FILE")]
        spec: Option<PathBuf>,
        /// The day to judge sunset dates by, as YYYY-MM-DD [default: today, UTC].
        #[arg(long, value_name = "DATE")]
        today: Option<Date>,
        #[command(flatten)]
        output: Output,
        /// Print the table of rules, and lint nothing.
        #[arg(long)]
        rules: bool,
    },
    /// Compare the OpenAPI document with a released one: what changed, and whom it breaks.
    ///
    /// Exits with 0 if nothing breaks, 1 if something does or the version is too low, 2 if a document
    /// could not be read.
    Breaking(breaking_command::Arguments),
    /// Release the document under its version, or look whether every release is as it was.
    ///
    /// Exits with 0 if done or in order, 1 if refused or not in order, 2 if something could not be read.
    Release(release::Arguments),
    /// Print the Rust that the OpenAPI document asks for and the code lacks.
    ///
    /// It compiles and makes the check quiet; the behaviour is missing, and answers 501. What cannot be made
    /// is told of with the reason.
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
    /// Hold the dependencies' licences and sources against deny.toml.
    Licences,
    /// Break things on purpose and print a table of what came of it.
    ///
    /// Uses strace, libfaketime and util-linux where they are there; STORE_TESTS_REQUIRE_TOOLS=1 fails
    /// where they are not.
    Faults {
        /// Five hundred kills instead of twenty, a hundred thousand malformed requests instead of ten.
        #[arg(long)]
        long: bool,
        /// Break an optimised build.
        #[arg(long)]
        release: bool,
    },
    /// Measure what the commands and the service cost.
    ///
    /// The parts about the service need wrk, and for PostgreSQL its server programs.
    Bench(bench::Arguments),
    /// Let tools that know nothing of us judge the document and the service.
    ///
    /// Needs node (20 or newer), npm, python3 with venv, and chromium, and installs the rest into
    /// target/outside.
    Outside {
        /// Only these [default: all].
        parts: Vec<Part>,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Check(options) => check::run(&options),
        Command::Lint { rules: true, .. } => {
            lint_command::print_rules();
            ExitCode::SUCCESS
        }
        Command::Lint { spec, today, output, .. } => {
            lint_command::run(spec, today.unwrap_or_else(utc_today), output.format)
        }
        Command::Breaking(arguments) => breaking_command::run(&arguments, utc_today()),
        Command::Release(arguments) => release::run(&arguments, utc_today()),
        Command::Scaffold(arguments) => scaffold::run(&arguments),
        Command::Serve { bind, release } => serve::run(&bind, release),
        Command::Ci => ci::run(),
        Command::Licences => licences::run(),
        Command::Faults { long, release } => faults::run(long, release),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Outside { parts } => outside::run(&parts),
    }
}

fn utc_today() -> Date {
    Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date()
}
