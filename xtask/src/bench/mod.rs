//! `cargo xtask bench`: what the commands and the service cost.
//!
//! Nothing here fails because it is slow: a machine that others use says nothing about the code. Each figure
//! is the median of rounds in which everything that is compared takes its turn, so what disturbs one round
//! disturbs all that is compared in it, and ratios hold where seconds do not.

mod check;
mod documents;
mod generate;
mod growth;
mod load;
mod seed;
mod server;
mod service;
pub mod table;

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::process;
use crate::workspace::{empty_directory, target};

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// `cargo xtask check` after an edit of the document.
    Check,
    /// `lint` and `breaking` on documents of 100 and of 1,000 operations.
    Documents,
    /// Requests per second beside those of a bare hyper and a bare dropshot server.
    Service,
    /// The time of a request with 1,000 to 10,000,000 animals in the store.
    Growth,
}

/// What the command is asked to do.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Only these [default: all].
    pub parts: Vec<Part>,
    /// How often everything takes its turn.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// How long each load lasts.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,
    /// The most animals in the store.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1_000..=10_000_000))]
    pub most: u64,
}

/// How much is measured, and a directory for files.
struct Plan {
    rounds: u32,
    time: Duration,
    most: u64,
    /// Empty at the start of each part.
    directory: PathBuf,
}

/// Runs the command. Returns the exit status.
///
/// # Errors
/// A sentence, when a part cannot be measured.
pub fn run(arguments: &Arguments) -> Result<u8, String> {
    process::end_all_on_signals()?;
    let directory = target(&env::current_exe().unwrap_or_default())?.join("bench");
    let plan = Plan {
        rounds: arguments.rounds,
        time: Duration::from_secs(arguments.seconds),
        most: arguments.most,
        directory,
    };
    let all = Part::value_variants();
    for part in if arguments.parts.is_empty() { all } else { &arguments.parts } {
        empty_directory(&plan.directory)?;
        match part {
            Part::Check => check::run(&plan),
            Part::Documents => documents::run(&plan),
            Part::Service => service::run(&plan),
            Part::Growth => growth::run(&plan),
        }?;
    }
    Ok(0)
}
