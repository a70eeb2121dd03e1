//! What the machine must have, and what is installed into `target/outside`: packages by name, their versions
//! pinned by files in `tests/strangers`. What is installed already is left as it is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use super::{Part, Place};
use crate::process::run;

const INSTALLING: Duration = Duration::from_secs(300);
const ASKING: Duration = Duration::from_secs(30);

/// Older ones run npm, which is enough on Linux: there, Node is one of the packages.
const OLDEST_NODE: u32 = 20;

/// Something that a machine may lack.
pub(super) struct Tool {
    /// The names it goes by on PATH, the best first.
    names: &'static [&'static str],
    /// What Debian calls it.
    packages: &'static str,
}

const NODE: Tool = Tool { names: &["node"], packages: "nodejs" };
const NPM: Tool = Tool { names: &["npm"], packages: "npm" };
const PYTHON: Tool = Tool { names: &["python3"], packages: "python3-venv" };
/// The browser for [`Part::Docs`].
pub(super) const CHROMIUM: Tool = Tool { names: &["chromium", "chromium-browser"], packages: "chromium" };

impl Part {
    const fn tools(self) -> &'static [Tool] {
        match self {
            Self::Docs => &[NODE, NPM, CHROMIUM],
            Self::Linters | Self::Typescript => &[NODE, NPM],
            Self::Python | Self::Schemathesis => &[PYTHON],
        }
    }

    pub(super) const fn needs_node(self) -> bool {
        matches!(self, Self::Docs | Self::Linters | Self::Typescript)
    }

    pub(super) const fn needs_python(self) -> bool {
        matches!(self, Self::Python | Self::Schemathesis)
    }
}

impl Tool {
    /// Where it is.
    ///
    /// # Errors
    /// A sentence that says what to install.
    pub(super) fn path(&self) -> Result<PathBuf, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let places: Vec<_> = env::split_paths(&path).collect();
        let found = self
            .names
            .iter()
            .find_map(|name| places.iter().map(|place| place.join(name)).find(|program| program.is_file()));
        let (name, packages) = (self.names[0], self.packages);
        found.ok_or_else(|| format!("{name} is missing; on Debian: apt-get install {packages}"))
    }
}

/// Whether the machine has what the parts need.
///
/// # Errors
/// A line for each that is missing.
pub(super) fn all_there(parts: &[Part]) -> Result<(), String> {
    let tools = parts.iter().flat_map(|part| part.tools());
    let mut missing: Vec<_> = tools.filter_map(|tool| tool.path().err()).collect();
    missing.sort();
    missing.dedup();
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n")) }
}

/// Installs the Node packages.
///
/// # Errors
/// What npm says.
pub(super) fn install_node(place: &Place) -> Result<String, String> {
    let directory = bring(place, "node")?;
    let summary =
        install(&directory, &["package.json", "package-lock.json"], "node_modules/.bin/tsc", || {
            let mut npm = Command::new(NPM.path()?);
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&directory);
            run("npm", &mut npm, &place.logs(), INSTALLING).map(drop)
        })?;
    let version = run("node", place.node_command("node").arg("--version"), &place.logs(), ASKING)?;
    let major = version.trim().trim_start_matches('v').split('.').next().and_then(|it| it.parse().ok());
    if major.is_none_or(|major: u32| major < OLDEST_NODE) {
        return Err(format!("node is {}, but the linters need {OLDEST_NODE} or newer", version.trim()));
    }
    Ok(format!("{summary}, node {}", version.trim()))
}

/// Installs the Python packages into a virtual environment.
///
/// # Errors
/// What pip says.
pub(super) fn install_python(place: &Place) -> Result<String, String> {
    let directory = bring(place, "python")?;
    install(&directory, &["requirements.txt"], "venv/bin/python", || {
        let mut venv = Command::new(PYTHON.path()?);
        venv.args(["-m", "venv", "--clear", "venv"]).current_dir(&directory);
        run("venv", &mut venv, &place.logs(), INSTALLING)
            .map_err(|problem| format!("{problem}\n(on Debian: apt-get install python3-venv)"))?;
        let mut pip = Command::new(directory.join("venv/bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.args(["--requirement", "requirements.txt"]).current_dir(&directory);
        run("pip", &mut pip, &place.logs(), INSTALLING).map(drop)
    })
}

/// Copies a directory of `tests/strangers` to where its packages are, so that nothing is written beside
/// the sources.
fn bring(place: &Place, name: &str) -> Result<PathBuf, String> {
    let (from, to) = (place.sources.join(name), place.directory.join(name));
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
    copy().map_err(|error: std::io::Error| format!("{}: {error}", from.display()))?;
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
    // An installation that is interrupted is none.
    let _ = fs::remove_file(&stamp);
    work()?;
    fs::write(&stamp, pins).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok("installed".to_owned())
}
