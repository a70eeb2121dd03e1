//! Installs packages of other languages.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use launcher::workspace::in_file;

use crate::process;

/// Installs packages into a directory, unless those of the same `pins` were installed there before and `proof` still
/// exists. Returns whether `work` was called.
pub(crate) fn once(
    directory: &Path,
    pins: &str,
    proof: &str,
    work: impl FnOnce() -> Result<(), String>,
) -> Result<bool, String> {
    let stamp = directory.join("installed");
    // A virtual environment contains its own path, and a link to a Python that may not exist any more.
    let pins = format!("{}\n{pins}", directory.display());
    if directory.join(proof).exists() && fs::read_to_string(&stamp).is_ok_and(|before| before == pins) {
        return Ok(false);
    }
    // Without the stamp, an interrupted installation is repeated.
    let _ = fs::remove_file(&stamp);
    work()?;
    fs::write(&stamp, pins).map_err(in_file(&stamp))?;
    Ok(true)
}

/// Creates a virtual environment in the directory `venv`, and installs the packages of a requirements file into it. The
/// output is kept in files in `logs`.
pub(crate) fn python(
    python: &Path,
    venv: &Path,
    requirements: &Path,
    logs: &Path,
    limit: Duration,
) -> Result<(), String> {
    let mut create = Command::new(python);
    create.args(["-m", "venv", "--clear"]).arg(venv);
    process::run("venv", &mut create, logs, limit)
        .map_err(|error| format!("{error}\n(on Debian: apt-get install python3-venv)"))?;
    let mut pip = Command::new(venv.join("bin/python"));
    // Python compiles the modules that are used; compiling all of them takes longer than installing them.
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-compile",
        "--requirement",
    ]);
    process::run("pip", pip.arg(requirements), logs, limit).map(drop)
}
