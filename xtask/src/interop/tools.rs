//! Installs packages into `target/interop`. Their versions are pinned by files in `tests/interop`. Installed packages are
//! reused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use launcher::workspace::{in_file, workspace};

use super::{LIMIT, Place};
use crate::python;

/// The files that pin the versions of Node packages.
const NODE_PINS: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs the Node packages, which include Node itself on Linux.
pub(super) fn install_node(place: &Place) -> Result<String, String> {
    let directory = copy_sources(place, "node")?;
    install(&directory, &NODE_PINS, "node_modules/.bin/tsc", || npm(place, &directory))
}

/// Installs the PostgreSQL servers, which are Node packages too.
pub(super) fn install_postgres(place: &Place) -> Result<String, String> {
    let directory = copy_sources(place, "postgres")?;
    install(&directory, &NODE_PINS, "node_modules/.package-lock.json", || {
        npm(place, &directory)?;
        let packages = directory.join("node_modules");
        for package in fs::read_dir(&packages).map_err(in_file(&packages))? {
            let script = "scripts/hydrate-symlinks.js";
            let package = package.map_err(in_file(&packages))?.path();
            if package.join(script).exists() {
                // npm drops symbolic links, which shared libraries need. npm would not run this script of the package.
                place.run("symlinks", Command::new("node").arg(script).current_dir(package))?;
            }
        }
        Ok(())
    })
}

/// Installs the pinned Node packages of a directory.
fn npm(place: &Place, directory: &Path) -> Result<(), String> {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(directory);
    place.run("npm", &mut npm).map(drop)
}

/// Installs the Python packages into a virtual environment.
pub(super) fn install_python(place: &Place) -> Result<String, String> {
    let directory = copy_sources(place, "python")?;
    install(&directory, &["requirements.txt"], "venv/bin/python", || {
        let requirements = directory.join("requirements.txt");
        python::install(Path::new("python3"), &directory.join("venv"), &requirements, &place.logs(), LIMIT)
    })
}

/// Installs nothing, for parts whose commands do.
pub(super) fn install_nothing(_: &Place) -> Result<String, String> {
    Ok("installed by the commands themselves".to_owned())
}

/// Copies a directory of `tests/interop` to the directory of its packages, so that tools write nothing beside the sources.
fn copy_sources(place: &Place, name: &str) -> Result<PathBuf, String> {
    let from = workspace().join("tests/interop").join(name);
    let to = place.directory.join(name);
    let copy = || {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
        Ok(())
    };
    copy().map_err(in_file::<std::io::Error>(&from))?;
    Ok(to)
}

/// Installs packages unless the same versions were installed in the same directory before and `proof` still exists.
fn install(
    directory: &Path,
    pins: &[&str],
    proof: &str,
    work: impl FnOnce() -> Result<(), String>,
) -> Result<String, String> {
    let stamp = directory.join("installed");
    let pins: Option<String> = pins.iter().map(|pin| fs::read_to_string(directory.join(pin)).ok()).collect();
    let pins = pins.ok_or_else(|| format!("cannot read the pinned versions in {}", directory.display()))?;
    // A virtual environment contains its own path, and a link to a Python that may not exist any more.
    let pins = format!("{}\n{pins}", directory.display());
    if directory.join(proof).exists() && fs::read_to_string(&stamp).is_ok_and(|before| before == pins) {
        return Ok("already installed".to_owned());
    }
    // Without the stamp, an interrupted installation is repeated.
    let _ = fs::remove_file(&stamp);
    work()?;
    fs::write(&stamp, pins).map_err(in_file(&stamp))?;
    Ok("installed".to_owned())
}
