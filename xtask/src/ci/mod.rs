//! `cargo xtask ci`: runs all checks that a change must pass, and with `--all` those of the night too.
//!
//! Everything is compiled once, with clippy as the compiler: clippy and the tests need no builds of their own.

mod build;
mod tests;

use std::env;
use std::process::{Command, Output};
use std::time::Instant;

pub use self::build::with_clippy;
use crate::parallel;
use crate::process::{cargo, output, seconds, status};
use crate::workspace::{ALL, DAILY, beside, workspace};

/// The checks of the package `project`: a name, and the arguments of `cargo xtask`.
const TOOLS: [(&str, &[&str]); 5] = [
    ("drift", &["check"]),
    ("lint", &["lint"]),
    ("breaking", &["breaking"]),
    ("releases", &["release", "--verify"]),
    ("licences", &["licences"]),
];

/// What the package `lab` does at night: a name, and the arguments of `cargo xtask`.
const NIGHT: [(&str, &[&str]); 2] =
    [("third-party tools", &["interop"]), ("instructions", &["bench", "instructions"])];
/// The rest of the night, at the same time: the cluster waits most of the time.
const BESIDE: [&[&str]; 3] = [&["faults", "--cluster"], &["fuzz", "--seconds", "600"], &["dist"]];

/// The options of `cargo xtask ci`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Run what is run each night and before a release, too: long tests, fuzzing, third-party tools, faults of a cluster,
    /// instructions, and the archive.
    #[arg(long)]
    all: bool,
}

/// Why a step ended early: it failed and has said why, or a problem kept it from being run.
type Stop = Option<String>;

/// Runs the steps in order and stops at the first that fails. Returns the exit status.
///
/// # Errors
/// A message, if a program cannot be run.
pub fn run(options: &Options) -> Result<u8, String> {
    let begin = Instant::now();
    match run_steps(options.all) {
        Ok(skipped) => {
            println!("{skipped}");
            println!("ci: passed after {}", seconds(begin.elapsed()));
            Ok(0)
        }
        Err(None) => Ok(1),
        Err(Some(problem)) => Err(problem),
    }
}

fn run_steps(all: bool) -> Result<tests::Skipped, Stop> {
    // Formatting, clippy, and tests are the other steps.
    let count = TOOLS.len() + 3 + if all { NIGHT.len() + 1 } else { 0 };
    let packages = if all { &ALL[..] } else { &DAILY[..] };
    let mut steps = Steps { begun: 0, count };
    let formatting = ["fmt", "--all", "--check"];
    steps.run("formatting", &shown("cargo", &formatting), || succeeds(&mut cargo(&formatting)))?;
    let clippy = format!("cargo clippy {} --all-targets -- -D warnings", packages.join(" "));
    let tests = steps.run("clippy, and the builds of the tests", &clippy, || build::build(packages))?;
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
    let alone = format!("{}cargo test {}", if all { "STORE_TESTS_LONG=1 " } else { "" }, packages.join(" "));
    let skipped = steps.run("tests", &alone, || tests::run(&tests, packages, all))?;
    for (name, arguments) in NIGHT.iter().filter(|_| all) {
        let mut tool = Command::new(beside("lab")?);
        tool.args(*arguments).current_dir(workspace());
        steps.run(name, &shown("cargo xtask", arguments), || succeeds(&mut tool))?;
    }
    if all {
        let alone = BESIDE.map(|arguments| shown("cargo xtask", arguments)).join(", ");
        steps.run("faults of a cluster, fuzzing, and the archive", &alone, beside_each_other)?;
    }
    Ok(skipped)
}

/// Runs the commands of [`BESIDE`], two at a time, and prints what each has written when it ends.
fn beside_each_other() -> Result<Option<()>, String> {
    let results = parallel::each(BESIDE, 2, |arguments| {
        let begin = Instant::now();
        let mut tool = Command::new(beside("lab")?);
        let Output { status, stdout, stderr } = output(tool.args(arguments).current_dir(workspace()))?;
        let written = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        let took = seconds(begin.elapsed());
        println!("{written}ci: {} ended after {took} ({status})", shown("cargo xtask", arguments));
        Ok(status.success())
    });
    let succeeded = results.into_iter().collect::<Result<Vec<bool>, String>>()?;
    Ok(succeeded.iter().all(|success| *success).then_some(()))
}

/// The number of steps that began, and of all steps.
struct Steps {
    begun: usize,
    count: usize,
}

impl Steps {
    /// Runs a step, which returns `None` if it failed. `alone` is a command that runs it alone.
    fn run<T>(
        &mut self,
        name: &str,
        alone: &str,
        step: impl FnOnce() -> Result<Option<T>, String>,
    ) -> Result<T, Stop> {
        self.begun += 1;
        let label = format!("ci {}/{}: {name}", self.begun, self.count);
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
        assert_eq!(annotated, ["check --format github", "lint --format github", "breaking --format github"]);
    }
}
