//! Tests that cannot run on this machine are skipped, and some run longer on request.

use std::env;
use std::io::{Write, stderr};
use std::process::Command;
use std::thread;

/// What a test needs that a machine may not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The server programs of PostgreSQL.
    Postgres,
    /// Another program, or a right to use it.
    Tool,
}

impl Need {
    /// The environment variable that turns a skip into a failure, with the value `1`.
    const fn required_by(self) -> &'static str {
        match self {
            Self::Postgres => "STORE_TESTS_REQUIRE_POSTGRES",
            Self::Tool => "STORE_TESTS_REQUIRE_TOOLS",
        }
    }
}

/// Reports on standard error that the test of this thread is skipped. `cargo xtask ci` counts these lines.
///
/// `reason` says what is missing, such as `strace is not installed`.
///
/// # Panics
/// When `STORE_TESTS_REQUIRE_POSTGRES=1` or `STORE_TESTS_REQUIRE_TOOLS=1` forbids the skip.
pub fn skip(need: Need, reason: &str) {
    let variable = need.required_by();
    assert!(env::var_os(variable).is_none_or(|value| value != "1"), "{variable}=1, but {reason}");
    let line = line(thread::current().name().unwrap_or("a thread of a test"), reason);
    // The test harness captures `eprintln!` of a test that passes. One call, so that lines of other tests are not mixed in.
    let _ = stderr().write_all(line.as_bytes());
}

/// Whether a program of a package of Debian is installed. Without it, skips the test of this thread.
///
/// # Panics
/// Like [`skip`].
pub fn is_installed(program: &str, package: &str) -> bool {
    let is_installed = Command::new(program).arg("--version").output().is_ok();
    if !is_installed {
        skip(Need::Tool, &format!("{program} is not installed (Debian: {package})"));
    }
    is_installed
}

/// Whether the tests that can run longer do: `STORE_TESTS_LONG=1`. Every other value is the short form.
pub fn is_long() -> bool {
    env::var_os("STORE_TESTS_LONG").is_some_and(|value| value == "1")
}

/// Returns all cases in long runs, and otherwise every fifth. Five has no factor in common with the two or three cases
/// that many places have.
pub fn sample<C>(cases: impl IntoIterator<Item = C>) -> impl Iterator<Item = C> {
    cases.into_iter().step_by(if is_long() { 1 } else { 5 })
}

/// Returns the line about a test.
fn line(test: &str, reason: &str) -> String {
    // The reason may be the output of a program.
    format!("SKIPPED {test}: {}\n", reason.trim().replace('\n', " "))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_report_is_one_line() {
        let reason = "tc: cannot\nopen\n";
        assert_eq!(line("slow::reader", reason), "SKIPPED slow::reader: tc: cannot open\n");
    }
}
