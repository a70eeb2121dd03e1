//! Counts the instructions of a process with valgrind's callgrind, which runs it on a simulated processor and sees user
//! space only.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::process::printed;
use xtask::workspace::in_file;

/// Returns the program with its arguments that starts a server whose instructions are counted.
pub(super) fn launcher(directory: &Path) -> Vec<String> {
    let files = format!("--callgrind-out-file={}", directory.join("callgrind.%p").display());
    ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", &files].map(str::to_owned).into()
}

/// Counts what a process that [`launcher`] started does during `work`: switches the counting on and off, and reads the
/// profile that callgrind writes.
pub(super) fn count(
    process: u32,
    directory: &Path,
    work: impl FnOnce() -> Result<(), String>,
) -> Result<f64, String> {
    let control =
        |command: &[&str]| printed(Command::new("vgdb").arg(format!("--pid={process}")).args(command));
    control(&["instrumentation", "on"])?;
    control(&["zero"])?;
    work()?;
    control(&["dump"])?;
    control(&["instrumentation", "off"])?;
    // callgrind appends the number of the dump to the name of the file.
    let prefix = format!("callgrind.{process}.");
    let mut entries = fs::read_dir(directory).map_err(in_file(directory))?.flatten();
    let dump = entries.find(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let file = dump.ok_or_else(|| format!("{}: callgrind wrote no {prefix}*", directory.display()))?.path();
    // Names of functions may be cut in the middle of a letter.
    let profile = fs::read(&file).map_err(in_file(&file))?;
    fs::remove_file(&file).map_err(in_file(&file))?;
    total(&String::from_utf8_lossy(&profile)).ok_or_else(|| format!("{}: no total", file.display()))
}

/// Returns the executed instructions of a profile: <https://valgrind.org/docs/manual/cl-format.html>.
pub fn total(profile: &str) -> Option<f64> {
    let is_total = |line: &&str| line.starts_with("summary: ") || line.starts_with("totals: ");
    profile.lines().rfind(is_total)?.split_once(' ')?.1.trim().parse().ok()
}
