//! The commands; `cargo xtask help` lists them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use jiff::Zoned;
use jiff::civil::Date;
use xtask::{check, ci, lint, serve};

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
    Check {
        /// The document to compare, instead of the one in openapi/.
        #[arg(long, value_name = "FILE")]
        spec: Option<PathBuf>,
        /// The day to judge sunset dates by, as YYYY-MM-DD [default: today, UTC].
        #[arg(long, value_name = "DATE")]
        today: Option<Date>,
        /// Print the table of differences that count for nothing, and compare nothing.
        #[arg(long)]
        tolerated: bool,
    },
    /// Say whether the OpenAPI document is well made, taken by itself.
    ///
    /// Exits with 0 if it is, even with warnings, 1 if it is not, 2 if it could not be read.
    Lint {
        /// The document to lint, instead of the one in openapi/.
        #[arg(long, value_name = "FILE")]
        spec: Option<PathBuf>,
        /// The day to judge sunset dates by, as YYYY-MM-DD [default: today, UTC].
        #[arg(long, value_name = "DATE")]
        today: Option<Date>,
        /// Print the table of rules, and lint nothing.
        #[arg(long)]
        rules: bool,
    },
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
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Check { tolerated: true, .. } => {
            check::print_tolerated();
            ExitCode::SUCCESS
        }
        Command::Check { spec, today, .. } => check::run(spec, today.unwrap_or_else(this_day)),
        Command::Lint { rules: true, .. } => {
            lint::command::print_rules();
            ExitCode::SUCCESS
        }
        Command::Lint { spec, today, .. } => lint::command::run(spec, today.unwrap_or_else(this_day)),
        Command::Serve { bind, release } => serve::run(&bind, release),
        Command::Ci => ci::run(),
    }
}

/// Today, UTC.
fn this_day() -> Date {
    Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date()
}
