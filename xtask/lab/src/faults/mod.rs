//! `cargo xtask faults`: injects faults and prints a table of their effects.
//!
//! Each fault is a test in `tests/resilience`, in `faults` or `hostile`, that writes its row of the table. This command runs them
//! one at a time and prints the table as Markdown, for the README. With `--cluster` it injects those of a distributed
//! store instead ([`cluster`]).

mod cluster;

use std::fs;
use std::path::Path;
use std::time::Instant;

use xtask::ci::with_clippy;
use xtask::process::{cargo, seconds, status};
use xtask::workspace::ALL;

/// The options of `cargo xtask faults`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Kill the service 500 times instead of 20, and send 100,000 malformed requests instead of 10,000.
    #[arg(long, conflicts_with = "cluster")]
    long: bool,
    /// Inject the faults of a distributed store: PostgreSQL under Patroni with three nodes, and three replicas.
    ///
    /// Needs the server programs of PostgreSQL and python3 with venv. Installs the rest into target/cluster.
    #[arg(long)]
    cluster: bool,
    /// Only the faults of a distributed store whose name in the table contains this text.
    #[arg(long, requires = "cluster", value_name = "TEXT")]
    only: Option<String>,
}

/// Injects faults and prints the table. Returns the exit status.
///
/// # Errors
/// A message, if the faults cannot be injected or the rows cannot be read.
pub fn run(options: &Options) -> Result<u8, String> {
    if options.cluster {
        return cluster::run(options.only.as_deref());
    }
    run_tests(options.long)
}

/// Runs the tests and prints their rows.
fn run_tests(long: bool) -> Result<u8, String> {
    let rows =
        tempfile::tempdir().map_err(|error| format!("cannot create a directory for the rows: {error}"))?;
    let begin = Instant::now();
    let mut command = with_clippy(cargo(&["test", "--test", "resilience"]))?;
    command.args(ALL).args(["--", "--test-threads=1", "faults::", "hostile::"]);
    command.env("STORE_TESTS_FAULTS", rows.path()).env("STORE_TESTS_LONG", if long { "1" } else { "0" });
    let status = status(&mut command)?;
    let rows = read(rows.path()).map_err(|error| format!("cannot read the rows: {error}"))?;
    println!("faults: {} rows after {}\n", rows.len(), seconds(begin.elapsed()));
    println!("| fault | what a client sees | what is true afterwards |\n| --- | --- | --- |");
    println!("{}", rows.concat());
    Ok(u8::from(!status.success()))
}

/// Returns the rows in the order of their file names.
fn read(directory: &Path) -> std::io::Result<Vec<String>> {
    let entries = fs::read_dir(directory)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    paths.iter().map(fs::read_to_string).collect()
}
