//! `cargo xtask ci`: runs all checks that a change must pass.
//!
//! Everything is compiled once, with clippy as the compiler: clippy and the tests need no builds of their own.

mod build;
mod tests;

use std::env;
use std::process::Command;
use std::time::Instant;

pub use self::build::with_clippy;
use crate::process::{cargo, seconds, status};
use crate::workspace::{beside, workspace};

/// The checks of the package `project`: a name, and the arguments of `cargo xtask`.
const TOOLS: [(&str, &[&str]); 5] = [
    ("drift", &["check"]),
    ("lint", &["lint"]),
    ("breaking", &["breaking", "--fail-on", "version"]),
    ("releases", &["release", "--verify"]),
    ("licences", &["licences"]),
];

/// The other steps: formatting, clippy, and tests.
const STEPS: usize = TOOLS.len() + 3;

/// Why a step ended early: it failed and has said why, or a problem kept it from being run.
type Stop = Option<String>;

/// Runs the steps in order and stops at the first that fails. Returns the exit status.
///
/// # Errors
/// A message, if a program cannot be run.
pub fn run() -> Result<u8, String> {
    let begin = Instant::now();
    match run_steps() {
        Ok(skipped) => {
            println!("{skipped}");
            println!("ci: passed after {}", seconds(begin.elapsed()));
            Ok(0)
        }
        Err(None) => Ok(1),
        Err(Some(problem)) => Err(problem),
    }
}

fn run_steps() -> Result<tests::Skipped, Stop> {
    let mut steps = Steps(0);
    let formatting = ["fmt", "--all", "--check"];
    steps.run("formatting", &shown("cargo", &formatting), || succeeds(&mut cargo(&formatting)))?;
    let clippy = "cargo clippy --workspace --all-targets -- -D warnings";
    let tests = steps.run("clippy, and the builds of the tests", clippy, build::build)?;
    let (project, service) = (beside("project")?, beside("animal-store")?);
    let is_github = env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    for (name, arguments) in TOOLS {
        let arguments = formatted(arguments, is_github);
        let mut tool = Command::new(&project);
        tool.args(&arguments).current_dir(workspace());
        if name == "drift" {
            // Built with the tests.
            tool.arg("--program").arg(&service);
        }
        steps.run(name, &shown("cargo xtask", &arguments), || succeeds(&mut tool))?;
    }
    steps.run("tests", "cargo test --workspace", || tests::run(&tests))
}

/// The number of steps that began.
struct Steps(usize);

impl Steps {
    /// Runs a step, which returns `None` if it failed. `alone` is a command that runs it alone.
    fn run<T>(
        &mut self,
        name: &str,
        alone: &str,
        step: impl FnOnce() -> Result<Option<T>, String>,
    ) -> Result<T, Stop> {
        self.0 += 1;
        let label = format!("ci {}/{STEPS}: {name}", self.0);
        println!("{label} ({alone})");
        let begin = Instant::now();
        let result = step()?;
        let took = seconds(begin.elapsed());
        match result {
            Some(_) => println!("{label} took {took}"),
            None => eprintln!("ci: {name} failed after {took}; to run it alone: {alone}"),
        }
        result.ok_or(None)
    }
}

fn succeeds(command: &mut Command) -> Result<Option<()>, String> {
    Ok(status(command)?.success().then_some(()))
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
