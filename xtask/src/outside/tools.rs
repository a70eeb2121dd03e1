//! Installs packages into `target/outside`, their versions pinned by files in `tests/third_party`. What is
//! installed already is left as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Place;
use crate::workspace::{in_file, workspace};

/// Installs the Node packages. On Linux, Node itself is among them.
pub(super) fn install_node(place: &Place) -> Result<String, String> {
    let directory = bring(place, "node")?;
    install(&directory, &["package.json", "package-lock.json"], "node_modules/.bin/tsc", || {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&directory);
        place.run("npm", &mut npm).map(drop)
    })
}

/// Installs the Python packages into a virtual environment.
pub(super) fn install_python(place: &Place) -> Result<String, String> {
    let directory = bring(place, "python")?;
    install(&directory, &["requirements.txt"], "venv/bin/python", || {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--clear", "venv"]).current_dir(&directory);
        place
            .run("venv", &mut venv)
            .map_err(|problem| format!("{problem}\n(on Debian: apt-get install python3-venv)"))?;
        let mut pip = place.python("python");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        place.run("pip", pip.args(["--requirement", "requirements.txt"])).map(drop)
    })
}

/// Copies a directory of `tests/third_party` to where its packages are, so that nothing is written beside
/// the sources.
fn bring(place: &Place, name: &str) -> Result<PathBuf, String> {
    let from = workspace().join("tests/third_party").join(name);
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

/// Installs unless it was done before with the same pins in the same place, and `proof` is still there.
fn install(
    directory: &Path,
    pins: &[&str],
    proof: &str,
    work: impl FnOnce() -> Result<(), String>,
) -> Result<String, String> {
    let stamp = directory.join("installed");
    let pins: Option<String> = pins.iter().map(|pin| fs::read_to_string(directory.join(pin)).ok()).collect();
    let pins = pins.ok_or_else(|| format!("the pins of {} cannot be read", directory.display()))?;
    // A virtual environment holds its own path, and a link to a Python that may be gone by now.
    let pins = format!("{}\n{pins}", directory.display());
    if directory.join(proof).exists() && fs::read_to_string(&stamp).is_ok_and(|before| before == pins) {
        return Ok("there already".to_owned());
    }
    // An interrupted installation must not count.
    let _ = fs::remove_file(&stamp);
    work()?;
    fs::write(&stamp, pins).map_err(in_file(&stamp))?;
    Ok("installed".to_owned())
}
