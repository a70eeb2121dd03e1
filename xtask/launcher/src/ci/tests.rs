//! Runs the executables of the tests, several at the same time.
//!
//! `cargo test` runs one after the other. Many tests wait for a time-out or for another process, so the processor has
//! time for others.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use super::build::{Executable, with_clippy};
use crate::parallel;
use crate::process::{cargo, output, seconds};
use crate::workspace::workspace;

/// How many run at the same time.
const AT_ONCE: usize = 4;

/// Those that take longest, which start first. The first two wait for most of their time.
const LONG: [&str; 10] = [
    "connections",
    "faults",
    "scaffold",
    "animal_store",
    "oracle",
    "store",
    "lint",
    "http_postgres",
    "history",
    "breaking",
];

/// Runs all executables and the tests in documentation, and prints a line for each and the output of those that fail.
/// Returns `None` if one failed.
///
/// # Errors
/// A message, if there is no executable, or one cannot be run.
pub(super) fn run(tests: &BTreeSet<Executable>) -> Result<Option<()>, String> {
    if tests.is_empty() {
        return Err("cargo built no tests".to_owned());
    }
    let place = |test: &&Executable| LONG.iter().position(|name| *name == test.name).unwrap_or(LONG.len());
    let mut tests: Vec<&Executable> = tests.iter().collect();
    tests.sort_by_key(place);
    let mut runs: Vec<_> = tests.into_iter().map(|test| (test.title(), command(test))).collect();
    // Compiled while others wait, but not beside another build from the beginning.
    let documentation = with_clippy(cargo(&["test", "--quiet", "--workspace", "--doc"]))?;
    runs.insert(LONG.len().min(runs.len()), ("documentation".to_owned(), documentation));
    let results = parallel::each(runs, AT_ONCE, run_one);
    let failed: Vec<_> = results.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    for title in &failed {
        eprintln!("ci: {title} failed, see above");
    }
    Ok(failed.is_empty().then_some(()))
}

/// Returns a command that runs the tests as `cargo test` does: in the directory of the package, with the variables that
/// tests read.
fn command(test: &Executable) -> Command {
    let mut command = Command::new(&test.file);
    command.arg("--quiet").current_dir(&test.package).env("CARGO_MANIFEST_DIR", &test.package);
    command.env("CARGO", env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
}

/// Runs tests. Returns the title if one fails.
fn run_one((title, mut command): (String, Command)) -> Result<Option<String>, String> {
    let begin = Instant::now();
    let Output { status, stdout, stderr } = output(&mut command)?;
    let printed = String::from_utf8_lossy(&stdout);
    let took = seconds(begin.elapsed());
    if status.success() {
        println!("ci: {title}: {} passed in {took}", passed(&printed));
        return Ok(None);
    }
    // At once, so that the lines of others do not come between them.
    let stderr = String::from_utf8_lossy(&stderr);
    eprintln!("{printed}{stderr}\nci: {title}: failed after {took} ({status})");
    Ok(Some(title))
}

/// Returns how many tests passed, as libtest prints it.
fn passed(printed: &str) -> usize {
    let counts = printed.lines().filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next());
    counts.filter_map(|count| count.parse::<usize>().ok()).sum()
}

impl Executable {
    /// Returns its kind and name, and the directory of its package if that is not the root.
    fn title(&self) -> String {
        let Self { package, name, kind, .. } = self;
        match package.strip_prefix(workspace()) {
            Ok(inner) if inner != Path::new("") => format!("{kind} {name} of {}", inner.display()),
            _ => format!("{kind} {name}"),
        }
    }
}
