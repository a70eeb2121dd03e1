//! `cargo xtask ci`: runs all checks that a change must pass.

use std::env;
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
    let is_github = env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    for (number, (name, arguments)) in STEPS.iter().enumerate() {
        let arguments = formatted(arguments, is_github);
        let command = format!("cargo {}", arguments.join(" "));
        let label = format!("ci {}/{}: {name}", number + 1, STEPS.len());
        println!("{label} ({command})");
        let step = Instant::now();
        let status = status(&mut cargo(&arguments))?;
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

/// Returns the arguments of a step. On GitHub Actions, findings become annotations of a pull request.
fn formatted<'a>(arguments: &[&'a str], is_github: bool) -> Vec<&'a str> {
    let has_findings = matches!(arguments, ["xtask", "check" | "lint" | "breaking", ..]);
    let format: &[&str] = if is_github && has_findings { &["--format", "github"] } else { &[] };
    [arguments, format].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_annotations_on_github_only() {
        let of = |is_github| STEPS.map(|(_, arguments)| formatted(arguments, is_github).join(" "));
        assert_eq!(of(false), STEPS.map(|(_, arguments)| arguments.join(" ")));
        let annotated: Vec<_> = of(true).into_iter().filter(|command| command.contains("github")).collect();
        assert_eq!(
            annotated,
            [
                "xtask check --format github",
                "xtask lint --format github",
                "xtask breaking --fail-on version --format github",
            ]
        );
    }
}
