//! Counts the instructions of a process with valgrind's callgrind, which runs it on a simulated processor and sees user
//! space only.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use launcher::process::output;
use launcher::workspace::in_file;

use super::profile::{self, Profile};

/// Fails if valgrind is not installed.
pub(super) fn available() -> Result<(), String> {
    let installed = output(Command::new("valgrind").arg("--version")).map(drop);
    installed.map_err(|error| format!("{error}; on Debian: apt-get install valgrind"))
}

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
) -> Result<Profile, String> {
    let control = |command: &[&str]| {
        let output = output(Command::new("vgdb").arg(format!("--pid={process}")).args(command))?;
        let error = || format!("vgdb: {}", String::from_utf8_lossy(&output.stderr).trim());
        output.status.success().then_some(()).ok_or_else(error)
    };
    control(&["instrumentation", "on"])?;
    control(&["zero"])?;
    work()?;
    control(&["dump"])?;
    control(&["instrumentation", "off"])?;
    let file = dump(process, directory)?;
    let mut text = Vec::new();
    // Names of functions may be cut in the middle of a letter.
    fs::File::open(&file).and_then(|mut file| file.read_to_end(&mut text)).map_err(in_file(&file))?;
    fs::remove_file(&file).map_err(in_file(&file))?;
    profile::read(&String::from_utf8_lossy(&text)).map_err(in_file(&file))
}

/// Returns the only dump of a process: callgrind appends the number of the dump to the name of the file.
fn dump(process: u32, directory: &Path) -> Result<PathBuf, String> {
    let prefix = format!("callgrind.{process}.");
    let entries = fs::read_dir(directory).map_err(in_file(directory))?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let found =
        paths.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)));
    found.ok_or_else(|| format!("{}: callgrind wrote no {prefix}*", directory.display()))
}
