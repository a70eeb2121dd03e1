//! `cargo xtask faults`: breaks things on purpose and prints the table of what came of it.
//!
//! The faults are the tests in `tests/faults`, each of which writes its row down; here they are run, one
//! at a time, and the rows put together as the Markdown of the README.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::ci::{cargo, seconds};
use crate::workspace::workspace;

/// Runs the faults and prints the table. `long` makes the long run of it; `release` breaks an optimised
/// build, whose figures are those of the service as it is run.
pub fn run(long: bool, release: bool) -> ExitCode {
    match table(long, release) {
        Ok((table, fine)) => {
            println!("\n{table}");
            if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(problem) => {
            eprintln!("faults: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn table(long: bool, release: bool) -> Result<(String, bool), String> {
    let rows = tempfile::tempdir().map_err(|error| format!("no directory for the rows: {error}"))?;
    let begin = Instant::now();
    let mut command = Command::new(cargo());
    command.args(["test", "--package", "animal-store", "--test", "faults", "--test", "hostile"]);
    command.args(release.then_some("--release"));
    command.args(["--", "--test-threads=1"]).current_dir(workspace());
    command.env("STORE_TESTS_FAULTS", rows.path()).env("STORE_TESTS_LONG", if long { "1" } else { "0" });
    let status = command.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    let rows = read(rows.path()).map_err(|error| format!("the rows cannot be read: {error}"))?;
    println!("faults: {} rows after {}", rows.len(), seconds(begin.elapsed()));
    let heading = "| fault | what a client sees | what is true afterwards |\n| --- | --- | --- |\n";
    Ok((heading.to_owned() + &rows.concat(), status.success()))
}

/// The rows, in the order of their names.
fn read(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        paths.push(entry?.path());
    }
    paths.sort();
    paths.iter().map(fs::read_to_string).collect()
}
