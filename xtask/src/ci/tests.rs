//! Runs the executables of the tests, several at the same time.
//!
//! `cargo test` runs one after the other. Many tests wait for a time-out or for another process, so the processor has
//! time for others.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use super::build::{Executable, with_clippy};
use crate::parallel;
use crate::process::{cargo, output, seconds};
use crate::workspace::workspace;

/// How many run at the same time.
const AT_ONCE: usize = 4;

/// Those that take longest, which start first. The first one waits for most of its time.
const LONG: [&str; 5] = ["resilience", "checks", "store", "api", "program"];

/// The tests that could not run on this machine, each with its test program, and the reasons.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Skipped(BTreeMap<(String, String), String>);

/// Runs all executables and then the tests in documentation, and prints a line for each and the output of those that
/// fail. Returns the skipped tests, or `None` if one failed.
///
/// # Errors
/// A message, if there is no executable, or one cannot be run.
pub(super) fn run(
    tests: &BTreeSet<Executable>,
    packages: &[&str],
    long: bool,
) -> Result<Option<Skipped>, String> {
    if tests.is_empty() {
        return Err("cargo built no tests".to_owned());
    }
    let place = |test: &&Executable| LONG.iter().position(|name| *name == test.name).unwrap_or(LONG.len());
    let mut tests: Vec<&Executable> = tests.iter().collect();
    tests.sort_by_key(place);
    let mut results = parallel::each(tests, AT_ONCE, |test| run_one(test.title(), command(test, long)));
    // Alone, because other tests may build into the target directory that these read.
    let mut documentation = with_clippy(cargo(&["test", "--quiet", "--doc"]))?;
    documentation.args(packages);
    results.push(run_one("documentation".to_owned(), documentation));
    let (mut failed, mut skipped) = (Vec::new(), Skipped::default());
    for result in results {
        match result? {
            (title, None) => failed.push(title),
            (title, Some(outcome)) => skipped.add(&title, outcome.skipped),
        }
    }
    if failed.is_empty() {
        return Ok(Some(skipped));
    }
    println!("{skipped}");
    for title in &failed {
        eprintln!("ci: {title} failed, see above");
    }
    Ok(None)
}

/// Returns a command that runs the tests as `cargo test` does: in the directory of the package, with the variables that
/// tests read. `long` asks for more and longer rounds.
fn command(test: &Executable, long: bool) -> Command {
    let mut command = Command::new(&test.file);
    command.arg("--quiet").current_dir(&test.package).env("CARGO_MANIFEST_DIR", &test.package);
    command.env("CARGO", env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if long {
        command.env("STORE_TESTS_LONG", "1");
    }
    command
}

/// Runs tests. Returns the title, and what ran unless something failed.
fn run_one(title: String, mut command: Command) -> Result<(String, Option<Outcome>), String> {
    let begin = Instant::now();
    let Output { status, stdout, stderr } = output(&mut command)?;
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let took = seconds(begin.elapsed());
    let outcome = match status.success() {
        true => Outcome::read(&stdout, &stderr),
        false => Err(status.to_string()),
    };
    // At once, so that the lines of others do not come between them.
    match &outcome {
        Ok(outcome) => println!("ci: {title}: {outcome} in {took}"),
        Err(problem) => eprintln!("{stdout}{stderr}\nci: {title}: failed after {took} ({problem})"),
    }
    Ok((title, outcome.ok()))
}

/// What a test program that succeeded has run.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// The number of tests, without those that were skipped.
    passed: usize,
    /// The names of the skipped tests, which libtest counts as passed, with the reasons.
    skipped: BTreeMap<String, String>,
}

impl Outcome {
    /// Reads the output of libtest, and of `kit::skip`.
    ///
    /// # Errors
    /// The problem, if the output does not say that a test ran.
    fn read(stdout: &str, stderr: &str) -> Result<Self, String> {
        let counts = stdout.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
        let counts: Option<Vec<usize>> = counts.map(|line| line.split(' ').next()?.parse().ok()).collect();
        let passed = match counts.as_deref() {
            None | Some([]) => {
                return Err("it printed no summary, such as `test result: ok. 9 passed`".to_owned());
            }
            Some(counts) => counts.iter().sum::<usize>(),
        };
        if passed == 0 {
            return Err("it has no test; if it needs none, set `test = false` in its Cargo.toml".to_owned());
        }
        let reports = stderr.lines().filter_map(|line| line.strip_prefix("SKIPPED ")?.split_once(": "));
        let skipped: BTreeMap<_, _> =
            reports.map(|(test, reason)| (test.to_owned(), reason.to_owned())).collect();
        Ok(Self { passed: passed.saturating_sub(skipped.len()), skipped })
    }
}

impl Display for Outcome {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed", self.passed)?;
        match self.skipped.len() {
            0 => Ok(()),
            skipped => write!(formatter, ", {skipped} skipped"),
        }
    }
}

impl Skipped {
    fn add(&mut self, title: &str, tests: BTreeMap<String, String>) {
        self.0.extend(tests.into_iter().map(|(test, reason)| ((title.to_owned(), test), reason)));
    }
}

impl Display for Skipped {
    /// Writes the number of tests, and each reason once with its number of tests.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for reason in self.0.values() {
            *reasons.entry(reason).or_default() += 1;
        }
        let reasons: Vec<_> = reasons.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
        match self.0.len() {
            0 => write!(formatter, "ci: no test was skipped"),
            1 => write!(formatter, "ci: 1 test was skipped: {}", reasons.join(", ")),
            count => write!(formatter, "ci: {count} tests were skipped: {}", reasons.join(", ")),
        }
    }
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

#[cfg(test)]
mod unit {
    use super::*;

    const SUMMARY: &str =
        "\nrunning 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 0 ignored; finished in 0.00s\n";

    fn shell(script: &str) -> Option<Outcome> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run_one("a program".to_owned(), command).unwrap().1
    }

    #[test]
    fn a_program_that_ran_no_test_failed() {
        assert_eq!(Outcome::read(SUMMARY, "").map(|outcome| outcome.passed), Ok(3));
        assert!(Outcome::read("", "").unwrap_err().contains("no summary"));
        assert!(Outcome::read("test result: ok. many passed\n", "").unwrap_err().contains("no summary"));
        assert!(Outcome::read(&SUMMARY.replace('3', "0"), "").unwrap_err().contains("no test"));
        // Documentation: a summary for each package.
        let two = format!("{}{SUMMARY}", SUMMARY.replace('3', "0"));
        assert_eq!(Outcome::read(&two, "").map(|outcome| outcome.passed), Ok(3));
    }

    #[test]
    fn the_status_of_a_program_decides() {
        let passes = "echo 'test result: ok. 1 passed; 0 failed'";
        assert_eq!(shell(passes), Some(Outcome { passed: 1, skipped: BTreeMap::new() }));
        assert_eq!(shell(&format!("{passes}; exit 101")), None);
        assert_eq!(shell("true"), None);
        assert!(run_one(String::new(), Command::new("/no/such/program")).is_err());
    }

    #[test]
    fn each_reason_is_counted_once_for_a_test() {
        let none = "SKIPPED a::one: no strace\n";
        let two =
            format!("a line of another program\n{none}{none}SKIPPED a::two: no PostgreSQL: no initdb\n");
        let (first, second) = (Outcome::read(SUMMARY, &two).unwrap(), Outcome::read(SUMMARY, none).unwrap());
        assert_eq!(
            [&first, &second].map(ToString::to_string),
            ["1 passed, 2 skipped", "2 passed, 1 skipped"]
        );
        let mut skipped = Skipped::default();
        assert_eq!(skipped.to_string(), "ci: no test was skipped");
        skipped.add("test first", first.skipped);
        skipped.add("test second", second.skipped);
        let expected = "ci: 3 tests were skipped: no PostgreSQL: no initdb (1), no strace (2)";
        assert_eq!(skipped.to_string(), expected);
    }
}
