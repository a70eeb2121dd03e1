//! `cargo xtask bench`: measures the cost of requests to the service.
//!
//! Only instructions that grew make the command fail; times do not, because the machine may be busy. Each time is the
//! median of several rounds. All compared measurements alternate within a round, so that a disturbance affects all of
//! them; ratios are therefore more stable than absolute times.

pub mod callgrind;
pub mod instructions;
mod requests;
pub(crate) mod seed;
mod server;
mod service;
pub mod table;

use std::env;
use std::path::PathBuf;
use std::process::Command;

use clap::ValueEnum;
use xtask::process::output;
use xtask::workspace::target;

use project::process;
use project::workspace::empty_directory;

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Requests per second, compared with a bare hyper and a bare dropshot server.
    Service,
    /// Instructions per request, compared with a committed table.
    Instructions,
}

/// The options of `cargo xtask bench`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The parts to measure [default: all].
    pub parts: Vec<Part>,
    /// The number of rounds.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// The duration of each measurement.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,
    /// Write the measured instructions to the committed table instead of comparing them with it.
    #[arg(long)]
    pub update: bool,
}

/// The options, and a directory that is emptied before each part.
struct Plan<'a> {
    options: &'a Arguments,
    directory: PathBuf,
}

/// Runs the command. Returns the exit status.
///
/// # Errors
/// A message, if a part cannot be measured.
pub fn run(options: &Arguments) -> Result<u8, String> {
    process::end_all_on_signals()?;
    let plan = Plan { options, directory: target(&env::current_exe().unwrap_or_default())?.join("bench") };
    let all = Part::value_variants();
    let mut status = 0;
    for part in if options.parts.is_empty() { all } else { &options.parts } {
        empty_directory(&plan.directory)?;
        let needed = if *part == Part::Service { "wrk" } else { "valgrind" };
        // wrk exits with 1 even if it prints its version.
        let installed = output(Command::new(needed).arg("--version"));
        installed.map_err(|error| format!("{error}; on Debian: apt-get install {needed}"))?;
        match part {
            Part::Service => service::run(&plan)?,
            Part::Instructions => status = instructions::run(&plan)?,
        }
    }
    Ok(status)
}
