//! Which parts a change concerns, by the files that it touches.

use std::process::Command;

use clap::ValueEnum as _;
use xtask::process::printed;
use xtask::workspace::workspace;

use super::Part::{self, *};

/// The parts that use the service or what it publishes.
const SERVICE: &[Part] = &[Postgres, Rust, Docs, Schemathesis, Python, Typescript, Dist, Go, Feed];
/// The parts that use the pages.
const PAGES: &[Part] = &[Rust, Docs, Python, Typescript, Dist, Go, Feed];

/// Places in the repository, and the parts that a change of a file there concerns. The first that a path begins with
/// counts. A change elsewhere, such as that of a pinned version, concerns all parts.
pub const CONCERNED: [(&str, &[Part]); 18] = [
    (".github/workflows/", &[Workflow]),
    (".github/actions/", &[Workflow]),
    ("src/", SERVICE),
    ("tests/connections/", &[]),
    ("tests/faults/", &[]),
    ("tests/history/", &[]),
    ("tests/hostile/", &[]),
    ("tests/http/", &[Postgres]),
    ("tests/http_postgres/", &[Postgres]),
    ("tests/process/", &[Postgres]),
    ("tests/store/", &[Postgres]),
    ("xtask/contract/checks/", &[Validity, Editors, Sarif]),
    ("xtask/contract/cli/", &[Sarif]),
    ("xtask/contract/language-server/", &[Editors]),
    ("xtask/site/", PAGES),
    ("xtask/lab/src/bench/", &[]),
    ("xtask/lab/src/faults/", &[]),
    ("xtask/project/src/release/", &[Validity, Editors, Sarif]),
];

/// Returns the parts that the changes since a revision concern.
///
/// # Errors
/// A message, if git does not know the revision.
pub(super) fn since(revision: &str) -> Result<Vec<Part>, String> {
    let mut git = Command::new("git");
    // Of a file that was moved, both places count.
    git.args(["diff", "--name-only", "--no-renames", "-z", "--end-of-options", revision, "--"]);
    let files = printed(git.current_dir(workspace()));
    let files = files.map_err(|error| format!("--since {revision}: {error}"))?;
    Ok(concerned(files.split_terminator('\0')))
}

/// Returns the parts that a change of these files concerns, paths from the root of the repository.
pub fn concerned<'a>(files: impl IntoIterator<Item = &'a str>) -> Vec<Part> {
    let all = Part::value_variants();
    let files: Vec<_> = files.into_iter().map(parts_of).collect();
    all.iter().filter(|part| files.iter().any(|parts| parts.contains(part))).copied().collect()
}

/// Returns the parts that a change of a file concerns.
fn parts_of(file: &str) -> &'static [Part] {
    let place = CONCERNED.iter().find(|(place, _)| file.starts_with(place));
    place.map_or(Part::value_variants(), |(_, parts)| parts)
}
