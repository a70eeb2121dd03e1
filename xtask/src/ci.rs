//! `cargo xtask ci`: everything that must hold before a change is taken.

use std::ffi::OsString;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::workspace::workspace;

/// A step: what it is called, and the arguments of cargo.
const STEPS: [(&str, &[&str]); 8] = [
    ("formatting", &["fmt", "--all", "--check"]),
    ("clippy", &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    ("drift", &["xtask", "check"]),
    ("lint", &["xtask", "lint"]),
    ("breaking", &["xtask", "breaking", "--fail-on", "version"]),
    ("releases", &["xtask", "release", "--verify"]),
    ("licences", &["xtask", "licences"]),
    ("tests", &["test", "--quiet", "--workspace"]),
];

/// Runs the steps in order and stops at the first that fails.
pub fn run() -> ExitCode {
    let begin = Instant::now();
    for (number, (name, arguments)) in STEPS.iter().enumerate() {
        let command = format!("cargo {}", arguments.join(" "));
        println!("ci {}/{}: {name} ({command})", number + 1, STEPS.len());
        let step = Instant::now();
        let status = Command::new(cargo()).args(*arguments).current_dir(workspace()).status();
        let took = seconds(step.elapsed());
        match status {
            Ok(status) if status.success() => {
                println!("ci {}/{}: {name} took {took}", number + 1, STEPS.len())
            }
            Ok(status) => {
                eprintln!("ci: {name} failed after {took} ({status}); to run it alone: {command}");
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("ci: {name} could not be run: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("ci: all well after {}", seconds(begin.elapsed()));
    ExitCode::SUCCESS
}

/// The cargo that runs us.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A duration as people read it.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
