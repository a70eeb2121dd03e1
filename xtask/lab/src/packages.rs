//! Installs packages of other languages into a directory, with a file there that pins their versions. What was installed is
//! used again. The output of the programs is kept in the directory.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use xtask::workspace::in_file;

use project::process;

/// The time limit of each program, which only one that hangs reaches.
const LIMIT: Duration = Duration::from_secs(3600);

/// Installs the Python packages of `requirements.txt` into a virtual environment, `venv`. Returns whether anything was
/// installed.
pub(crate) fn python(python: &str, directory: &Path) -> Result<bool, String> {
    once(directory, "requirements.txt", "venv/bin/python", || {
        let mut create = Command::new(python);
        run("venv", create.args(["-m", "venv", "--clear", "venv"]), directory)
            .map_err(|error| format!("{error}\n(on Debian: apt-get install python3-venv)"))?;
        let mut pip = Command::new(directory.join("venv/bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        // Python compiles the modules that are used; compiling all of them takes longer than installing them.
        pip.args(["--no-compile", "--requirement", "requirements.txt"]);
        run("pip", &mut pip, directory)
    })
}

/// Installs the Node packages of `package-lock.json`. Returns whether anything was installed.
pub(crate) fn node(directory: &Path) -> Result<bool, String> {
    once(directory, "package-lock.json", "node_modules/.package-lock.json", || {
        let mut npm = Command::new("npm");
        run("npm", npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]), directory)?;
        let packages = directory.join("node_modules");
        for package in fs::read_dir(&packages).map_err(in_file(&packages))? {
            let script = package.map_err(in_file(&packages))?.path().join("scripts/hydrate-symlinks.js");
            if script.exists() {
                // npm drops symbolic links, which the libraries of PostgreSQL need, and does not run this script.
                let package = script.ancestors().nth(2).unwrap_or(directory);
                run("symlinks", Command::new("node").arg(&script), package)?;
            }
        }
        Ok(())
    })
}

/// Calls `install`, unless the packages that the file `pins` has were installed here before and `proof` still exists.
/// Returns whether it was called.
fn once(
    directory: &Path,
    pins: &str,
    proof: &str,
    install: impl FnOnce() -> Result<(), String>,
) -> Result<bool, String> {
    let (pins, stamp) = (directory.join(pins), directory.join("installed"));
    let pinned = fs::read_to_string(&pins).map_err(in_file(&pins))?;
    // A virtual environment contains its own path, and a link to a Python that may not exist any more.
    let pinned = format!("{}\n{pinned}", directory.display());
    if directory.join(proof).exists() && fs::read_to_string(&stamp).is_ok_and(|before| before == pinned) {
        return Ok(false);
    }
    // Without the stamp, an interrupted installation is repeated.
    let _ = fs::remove_file(&stamp);
    install()?;
    fs::write(&stamp, pinned).map_err(in_file(&stamp))?;
    Ok(true)
}

fn run(name: &str, command: &mut Command, directory: &Path) -> Result<(), String> {
    process::run(name, command.current_dir(directory), directory, LIMIT).map(drop)
}
