//! Installs Python packages.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process;

/// Creates a virtual environment in the directory `venv`, and installs the packages of a requirements file into it. The
/// output is kept in files in `logs`.
pub(crate) fn install(
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
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    process::run("pip", pip.arg(requirements), logs, limit).map(drop)
}
