//! PostgreSQL: the tests that need a server, on servers of several versions.
//!
//! The servers are npm packages, which `tests/interop/postgres` pins. The tests start them; the variable
//! `STORE_TESTS_POSTGRES` tells them the directory of the programs. A test of the store checks that the server has the
//! version of that program.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use regex::Regex;
use tempfile::TempDir;
use xtask::ci::with_clippy;
use xtask::parallel;
use xtask::process::{cargo, output, printed, seconds, status};
use xtask::workspace::{ALL, in_file, workspace};

use super::Context;
use project::workspace::copy_for_all;

/// The major versions that are supported. For each, `tests/interop/postgres` has a package.
pub const VERSIONS: [&str; 5] = ["14", "15", "16", "17", "18"];

/// The test binaries that start servers.
const BINARIES: [&str; 3] = ["store", "api", "program"];

/// Runs the tests on each version that `context` chooses.
pub(super) fn run_all(context: &Context) -> Result<String, String> {
    let versions = &context.postgres;
    // The tests themselves have a time limit. Compiled like this, cargo uses what `cargo xtask ci` has built.
    let mut build = with_clippy(cargo(&["test", "--quiet", "--no-run"]))?;
    build.args(ALL);
    if !status(build.args(BINARIES.iter().flat_map(|binary| ["--test", binary])))?.success() {
        return Err("the tests do not build, see above".to_owned());
    }
    let mut failed = Vec::new();
    for version in versions {
        if let Err(problem) = test(context, version) {
            eprintln!("{problem}\ninterop: failed on PostgreSQL {version}");
            failed.push(version.as_str());
        }
    }
    if failed.is_empty() {
        return Ok(format!("no test failed on PostgreSQL {}", versions.join(", ")));
    }
    let again = format!("cargo xtask interop postgres --versions {}", failed.join(","));
    Err(format!("tests failed on PostgreSQL {}; to run them again: {again}", failed.join(", ")))
}

/// Runs the tests on one version.
fn test(context: &Context, version: &str) -> Result<(), String> {
    let server = context.directory.join(format!("postgres/node_modules/postgres-{version}/native"));
    let (server, _copy) = reachable(&server)?;
    let programs = server.join("bin");
    let printed = printed(Command::new(programs.join("postgres")).arg("--version"))?;
    let exact = printed.split_whitespace().last().unwrap_or_default();
    if exact.split('.').next() != Some(version) {
        return Err(format!("{}: expected version {version}, not `{exact}`", programs.display()));
    }
    // Most tests wait, so the processor has time for those of the others.
    let run = |binary| run_binary(context, binary, &programs, exact).err();
    let problems: Vec<_> = parallel::each(BINARIES, BINARIES.len(), run).into_iter().flatten().collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Runs those tests of a binary that need PostgreSQL.
fn run_binary(context: &Context, binary: &str, programs: &Path, exact: &str) -> Result<(), String> {
    let mut command = with_clippy(cargo(&["test", "--quiet", "--test", binary]))?;
    command.args(ALL).arg("--");
    match binary {
        // Its tests are named after the engine.
        "api" => command.arg("::postgres"),
        _ => command.args(modules(&workspace().join("tests").join(binary))?),
    };
    // With the second variable, tests are not skipped.
    command.env("STORE_TESTS_POSTGRES", programs).env("STORE_TESTS_REQUIRE_POSTGRES", "1");
    let begin = Instant::now();
    let printed = context.run(&format!("postgres-{exact}-{binary}"), &mut command)?;
    let count = count_passed(&printed)?;
    println!("interop: {binary} on PostgreSQL {exact}: {count} tests in {}", seconds(begin.elapsed()));
    Ok(())
}

/// Returns the directory of a server, or a copy of it. For root, the tests run servers as another user, who may be unable
/// to read the target directory.
///
/// # Errors
/// A message, if the directory cannot be copied.
pub fn reachable(server: &Path) -> Result<(PathBuf, Option<TempDir>), String> {
    let is_open = |path: &Path| fs::metadata(path).is_ok_and(|it| it.mode() & 0o001 != 0);
    if !rustix::process::geteuid().is_root() || server.join("bin/postgres").ancestors().all(is_open) {
        return Ok((server.to_owned(), None));
    }
    let copy = tempfile::Builder::new().prefix("postgres-").tempdir();
    let copy = copy.map_err(|error| format!("cannot create a directory for a copy: {error}"))?;
    fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755)).map_err(in_file(copy.path()))?;
    let to = copy.path().join("server");
    copy_for_all(server, &to)?;
    Ok((to, Some(copy)))
}

/// Returns the modules of a test program whose tests use PostgreSQL, each as a filter for the names of tests.
///
/// # Errors
/// A message, if the directory cannot be searched.
pub fn modules(binary: &Path) -> Result<Vec<String>, String> {
    let found =
        output(Command::new("grep").args(["-rlE", "(kit|crate)::postgres", "."]).current_dir(binary))?;
    let files = String::from_utf8_lossy(&found.stdout);
    let modules = files.lines().filter_map(|file| file.strip_prefix("./")?.split(['/', '.']).next());
    let modules: BTreeSet<String> =
        modules.filter(|name| *name != "main").map(|name| format!("{name}::")).collect();
    Ok(modules.into_iter().collect())
}

/// Returns how many tests passed, from the output of a successful `cargo test`.
///
/// # Errors
/// A message, if there was none, or if tests were ignored.
pub fn count_passed(printed: &str) -> Result<u64, String> {
    let summary =
        Regex::new(r"test result: ok\. (\d+) passed; 0 failed; 0 ignored;").map_err(|it| it.to_string())?;
    let counts = summary.captures_iter(printed).map(|found| found.extract::<1>().1[0].parse::<u64>());
    let passed = counts.sum::<Result<u64, _>>().map_err(|error| error.to_string())?;
    if passed == 0 { Err(format!("no test passed:\n{printed}")) } else { Ok(passed) }
}
