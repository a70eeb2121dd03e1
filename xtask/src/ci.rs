//! `cargo xtask ci`: runs all checks that a change must pass.

use std::time::Instant;

use launcher::process::{cargo, status};

use crate::process::seconds;

/// The steps: a name, and the arguments of cargo.
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

/// Runs the steps in order and stops at the first that fails. Returns the exit status.
///
/// # Errors
/// A message, if cargo cannot be run.
pub fn run() -> Result<u8, String> {
    let begin = Instant::now();
    for (number, (name, arguments)) in STEPS.iter().enumerate() {
        let command = format!("cargo {}", arguments.join(" "));
        let label = format!("ci {}/{}: {name}", number + 1, STEPS.len());
        println!("{label} ({command})");
        let step = Instant::now();
        let status = status(&mut cargo(arguments))?;
        let took = seconds(step.elapsed());
        if !status.success() {
            eprintln!("ci: {name} failed after {took} ({status}); to run it alone: {command}");
            return Ok(1);
        }
        println!("{label} took {took}");
    }
    println!("ci: passed after {}", seconds(begin.elapsed()));
    Ok(0)
}
