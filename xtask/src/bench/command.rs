//! The command: its parts, and where their results go.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;

use super::{check, documents, growth, service};
use crate::process;
use crate::workspace::workspace;

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
    /// Where to draw the growth, as SVG [default: target/bench/growth.svg].
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
}

/// How much is measured, and where there is room for it.
pub(super) struct Plan {
    pub(super) rounds: u32,
    pub(super) time: Duration,
    pub(super) most: u64,
    pub(super) picture: PathBuf,
    /// Emptied before.
    pub(super) directory: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> ExitCode {
    match bench(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            anstream::eprintln!("bench: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn bench(arguments: &Arguments) -> Result<(), String> {
    process::end_all_on_signals()?;
    let directory = directory();
    let wrong = |error| format!("{}: {error}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(wrong)?;
    }
    fs::create_dir_all(&directory).map_err(wrong)?;
    let plan = Plan {
        rounds: arguments.rounds,
        time: Duration::from_secs(arguments.seconds),
        most: arguments.most,
        picture: arguments.picture.clone().unwrap_or_else(|| directory.join("growth.svg")),
        directory,
    };
    let all = Part::value_variants();
    for part in if arguments.parts.is_empty() { all } else { &arguments.parts } {
        match part {
            Part::Check => check::run(&plan),
            Part::Documents => documents::run(&plan),
            Part::Service => service::run(&plan),
            Part::Growth => growth::run(&plan),
        }?;
    }
    Ok(())
}

/// `bench` in the target directory that this program was built into.
fn directory() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().nth(2).filter(|target| target.join("debug").is_dir());
    target.map_or_else(|| workspace().join("target"), PathBuf::from).join("bench")
}
