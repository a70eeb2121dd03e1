//! Paths in this repository.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The packages that `cargo xtask serve`, `ci` and the commands about the document need. cargo builds them together, and with
/// what the tests use, so that each dependency has the features that all of them need, and is compiled once.
pub const DAILY: [&str; 9] = [
    "--workspace",
    "--exclude",
    "lab",
    "--exclude",
    "fuzz",
    "--exclude",
    "bare",
    "--features",
    "kit/service",
];
/// All packages, with those that are run at night.
pub const ALL: [&str; 3] = ["--workspace", "--features", "kit/service"];

/// The root of the repository: the closest directory above the running package with a `Cargo.lock`.
pub fn workspace() -> PathBuf {
    // At run time, because the repository may have moved since this was compiled.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = manifest.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned());
    let root = manifest.ancestors().find(|directory| directory.join("Cargo.lock").is_file());
    root.unwrap_or(&manifest).to_owned()
}

/// Returns the path of a program that cargo built beside this one.
pub fn beside(name: &str) -> Result<PathBuf, String> {
    let this = std::env::current_exe();
    this.map(|this| this.with_file_name(name))
        .map_err(|error| format!("the target directory is unknown: {error}"))
}

/// Returns the target directory of a program that cargo built.
pub fn target(program: &Path) -> Result<PathBuf, String> {
    let target = program.ancestors().nth(2).map(Path::to_owned);
    target.ok_or_else(|| format!("{} is not in a target directory", program.display()))
}

/// Returns a function that adds the path of a file to an error message.
pub fn in_file<E: Display>(path: &Path) -> impl Fn(E) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}
