//! `cargo xtask ci`: runs all checks that a change must pass.
//!
//! Everything is compiled once, with clippy as the compiler: clippy and the tests need no builds of their own.

mod build;
mod tests;

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use self::build::Built;
pub use self::build::with_clippy;
use crate::process::{cargo, seconds, status};
use crate::workspace::workspace;

/// The checks by the package `xtask`: a name, and the arguments of `cargo xtask`.
const TOOLS: [(&str, &[&str]); 5] = [
    ("drift", &["check"]),
    ("lint", &["lint"]),
    ("breaking", &["breaking", "--fail-on", "version"]),
    ("releases", &["release", "--verify"]),
    ("licences", &["licences"]),
];

/// The other steps: formatting, clippy, tests, and tests in documentation.
const STEPS: usize = TOOLS.len() + 4;

/// Runs the steps in order and stops at the first that fails. Returns the exit status.
///
/// # Errors
/// A message, if a program cannot be run.
pub fn run() -> Result<u8, String> {
    let begin = Instant::now();
    let passed = all()?;
    if passed {
        println!("ci: passed after {}", seconds(begin.elapsed()));
    }
    Ok(u8::from(!passed))
}

fn all() -> Result<bool, String> {
    let mut number = 0;
    let mut step = |name: &str, alone: &str, run: &mut dyn FnMut() -> Result<bool, String>| {
        number += 1;
        let label = format!("ci {number}/{STEPS}: {name}");
        println!("{label} ({alone})");
        let begin = Instant::now();
        let passed = run()?;
        let took = seconds(begin.elapsed());
        if passed {
            println!("{label} took {took}");
        } else {
            eprintln!("ci: {name} failed after {took}; to run it alone: {alone}");
        }
        Ok::<bool, String>(passed)
    };

    let formatting = ["fmt", "--all", "--check"];
    if !step("formatting", &shown("cargo", &formatting), &mut || succeeds(&mut cargo(&formatting)))? {
        return Ok(false);
    }
    let mut built = Built::default();
    let clippy = "cargo clippy --workspace --all-targets -- -D warnings";
    let mut build = || {
        built = build::build()?;
        Ok(built.passed)
    };
    if !step("clippy, and the builds of the tests", clippy, &mut build)? {
        return Ok(false);
    }
    let is_github = env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    let xtask = built.program("xtask")?;
    for (name, arguments) in TOOLS {
        let arguments = formatted(arguments, is_github);
        let alone = shown("cargo xtask", &arguments);
        if !step(name, &alone, &mut || succeeds(&mut tool(xtask, &arguments)))? {
            return Ok(false);
        }
    }
    if !step("tests", "cargo test --workspace", &mut || tests::run(&built.tests))? {
        return Ok(false);
    }
    let documentation = ["test", "--quiet", "--workspace", "--doc"];
    step("tests in documentation", &shown("cargo", &documentation), &mut || {
        succeeds(&mut with_clippy(cargo(&documentation))?)
    })
}

fn succeeds(command: &mut Command) -> Result<bool, String> {
    Ok(status(command)?.success())
}

fn tool(xtask: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(xtask);
    command.args(arguments).current_dir(workspace());
    command
}

fn shown(program: &str, arguments: &[&str]) -> String {
    format!("{program} {}", arguments.join(" "))
}

/// Returns the arguments of a check. On GitHub Actions, findings become annotations of a pull request.
fn formatted<'a>(arguments: &[&'a str], is_github: bool) -> Vec<&'a str> {
    let has_findings = matches!(arguments, ["check" | "lint" | "breaking", ..]);
    let format: &[&str] = if is_github && has_findings { &["--format", "github"] } else { &[] };
    [arguments, format].concat()
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn findings_are_annotations_on_github_only() {
        let of = |is_github| TOOLS.map(|(_, arguments)| formatted(arguments, is_github).join(" "));
        assert_eq!(of(false), TOOLS.map(|(_, arguments)| arguments.join(" ")));
        let annotated: Vec<_> = of(true).into_iter().filter(|command| command.contains("github")).collect();
        assert_eq!(
            annotated,
            ["check --format github", "lint --format github", "breaking --fail-on version --format github"]
        );
    }
}
