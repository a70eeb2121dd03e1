//! `cargo xtask faults`: injects faults and prints a table of their effects.
//!
//! Each fault is a test in `tests/faults` or `tests/hostile` that writes its row of the table. This command runs them
//! one at a time and prints the table as Markdown, for the README.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::process::{cargo, seconds, status};

/// Runs the tests and prints the table. `long` repeats more often; `release` uses an optimised build of the service.
/// Returns the exit status.
///
/// # Errors
/// A message, if the tests cannot be run or their rows cannot be read.
pub fn run(long: bool, release: bool) -> Result<u8, String> {
    let rows =
        tempfile::tempdir().map_err(|error| format!("cannot create a directory for the rows: {error}"))?;
    let begin = Instant::now();
    let mut command = cargo(&["test", "--package", "animal-store", "--test", "faults", "--test", "hostile"]);
    command.args(release.then_some("--release")).args(["--", "--test-threads=1"]);
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
