//! `cargo xtask faults`: breaks things on purpose and prints the table of what came of it.
//!
//! The faults are the tests in `tests/faults`, each of which writes its row down; here they are run, one
//! at a time, and the rows put together as the Markdown of the README.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::process::{cargo, seconds, status};

/// Runs the faults and prints the table. `long` makes the long run of it; `release` breaks an optimised
/// build, whose figures are those of the service as it is run. Returns the exit status.
///
/// # Errors
/// A sentence, when the tests cannot be run or their rows cannot be read.
pub fn run(long: bool, release: bool) -> Result<u8, String> {
    let rows = tempfile::tempdir().map_err(|error| format!("no directory for the rows: {error}"))?;
    let begin = Instant::now();
    let mut command = cargo(&["test", "--package", "animal-store", "--test", "faults", "--test", "hostile"]);
    command.args(release.then_some("--release")).args(["--", "--test-threads=1"]);
    command.env("STORE_TESTS_FAULTS", rows.path()).env("STORE_TESTS_LONG", if long { "1" } else { "0" });
    let status = status(&mut command)?;
    let rows = read(rows.path()).map_err(|error| format!("the rows cannot be read: {error}"))?;
    println!("faults: {} rows after {}\n", rows.len(), seconds(begin.elapsed()));
    println!("| fault | what a client sees | what is true afterwards |\n| --- | --- | --- |");
    println!("{}", rows.concat());
    Ok(u8::from(!status.success()))
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
