//! Runs the executables of the tests, several at the same time.
//!
//! `cargo test` runs one after the other. Many tests wait for a time-out or for another process, so the processor has
//! time for others.

use std::collections::{BTreeSet, VecDeque};
use std::env;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::build::Executable;
use crate::process::{output, seconds};
use crate::workspace::workspace;

/// How many run at the same time.
const AT_ONCE: usize = 3;

/// Those that take longest, which start first.
const LONG: [&str; 9] = [
    "scaffold",
    "connections",
    "faults",
    "store",
    "oracle",
    "breaking",
    "http_postgres",
    "animal_store",
    "lint",
];

/// Runs all executables, and prints a line for each and the output of those that fail. Returns `None` if one failed.
///
/// # Errors
/// A message, if there is none, or one cannot be run.
pub(super) fn run(tests: &BTreeSet<Executable>) -> Result<Option<()>, String> {
    if tests.is_empty() {
        return Err("cargo built no tests".to_owned());
    }
    let place = |test: &Executable| LONG.iter().position(|name| *name == test.name).unwrap_or(LONG.len());
    let mut queue: Vec<&Executable> = tests.iter().collect();
    queue.sort_by_key(|test| place(test));
    let queue = Mutex::new(VecDeque::from(queue));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let worker = || {
        let mut failed = Vec::new();
        while let Some(test) = next() {
            if !run_one(test)? {
                failed.push(test.title());
            }
        }
        Ok::<_, String>(failed)
    };
    let failed = thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(worker)).collect();
        let mut failed = Vec::new();
        for worker in workers {
            failed.extend(worker.join().map_err(|_| "a thread that ran tests ended")??);
        }
        Ok::<_, String>(failed)
    })?;
    for title in &failed {
        eprintln!("ci: {title} failed, see above");
    }
    Ok(failed.is_empty().then_some(()))
}

/// Runs an executable as `cargo test` does: in the directory of its package, with the variables that tests read.
fn run_one(test: &Executable) -> Result<bool, String> {
    let begin = Instant::now();
    let mut command = Command::new(&test.file);
    command.arg("--quiet").current_dir(&test.package).env("CARGO_MANIFEST_DIR", &test.package);
    command.env("CARGO", env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let Output { status, stdout, stderr } = output(&mut command)?;
    let printed = String::from_utf8_lossy(&stdout);
    let took = seconds(begin.elapsed());
    let passed = status.success();
    if passed {
        println!("ci: {}: {} in {took}", test.title(), result(&printed));
    } else {
        // At once, so that the lines of others do not come between them.
        let stderr = String::from_utf8_lossy(&stderr);
        eprintln!("{printed}{stderr}\nci: {}: failed after {took} ({status})", test.title());
    }
    Ok(passed)
}

/// Returns how many tests passed, as libtest prints it.
fn result(printed: &str) -> &str {
    let line = printed.lines().rev().find_map(|line| line.strip_prefix("test result: ok. "));
    line.and_then(|line| line.split(';').next()).unwrap_or("no tests")
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
