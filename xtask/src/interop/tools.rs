//! Installs packages into `target/interop`. Their versions are pinned by files in `tests/interop`. Installed packages are
//! reused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use launcher::process::seconds;
use launcher::workspace::{in_file, workspace};

use super::{Context, LIMIT};
use crate::packages;
use crate::workspace::copy_directory;

/// The files that pin the versions of Node packages.
const NODE_PINS: [&str; 2] = ["package.json", "package-lock.json"];

/// Packages that parts need.
#[derive(Clone, Copy, Debug)]
pub(super) enum Packages {
    Node,
    Postgres,
    Python,
}

/// The results of installations, by the number of [`Packages`].
#[derive(Default)]
pub(super) struct Installed([OnceLock<Result<(), String>>; 3]);

impl Packages {
    /// Installs the packages, once for all parts.
    pub(super) fn install(self, context: &Context) -> Result<(), String> {
        let install = || {
            let begin = Instant::now();
            let summary = match self {
                Self::Node => install_node(context),
                Self::Postgres => install_postgres(context),
                Self::Python => install_python(context),
            }?;
            println!("interop: packages for {self:?} took {}: {summary}", seconds(begin.elapsed()));
            Ok(())
        };
        context.packages.0[self as usize].get_or_init(install).clone()
    }
}

/// Installs the Node packages, which include Node itself on Linux.
fn install_node(context: &Context) -> Result<String, String> {
    let directory = copy_sources(context, "node")?;
    install(&directory, &NODE_PINS, "node_modules/.bin/tsc", || npm(context, &directory))
}

/// Installs the PostgreSQL servers, which are Node packages too.
fn install_postgres(context: &Context) -> Result<String, String> {
    let directory = copy_sources(context, "postgres")?;
    install(&directory, &NODE_PINS, "node_modules/.package-lock.json", || {
        npm(context, &directory)?;
        let packages = directory.join("node_modules");
        for package in fs::read_dir(&packages).map_err(in_file(&packages))? {
            let script = "scripts/hydrate-symlinks.js";
            let package = package.map_err(in_file(&packages))?.path();
            if package.join(script).exists() {
                // npm drops symbolic links, which shared libraries need. npm would not run this script of the package.
                context.run("symlinks", Command::new("node").arg(script).current_dir(package))?;
            }
        }
        Ok(())
    })
}

/// Installs the pinned Node packages of a directory.
fn npm(context: &Context, directory: &Path) -> Result<(), String> {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(directory);
    context.run("npm", &mut npm).map(drop)
}

/// Installs the Python packages into a virtual environment.
fn install_python(context: &Context) -> Result<String, String> {
    let directory = copy_sources(context, "python")?;
    install(&directory, &["requirements.txt"], "venv/bin/python", || {
        let requirements = directory.join("requirements.txt");
        packages::python(Path::new("python3"), &directory.join("venv"), &requirements, &context.logs(), LIMIT)
    })
}

/// Copies a directory of `tests/interop` to the directory of its packages, so that tools write nothing beside the sources.
fn copy_sources(context: &Context, name: &str) -> Result<PathBuf, String> {
    let to = context.directory.join(name);
    copy_directory(&workspace().join("tests/interop").join(name), &to)?;
    Ok(to)
}

/// Installs the packages that files in their directory pin, unless they are there.
fn install(
    directory: &Path,
    pins: &[&str],
    proof: &str,
    work: impl FnOnce() -> Result<(), String>,
) -> Result<String, String> {
    let read = |pin: &&str| fs::read_to_string(directory.join(pin)).map_err(in_file(directory));
    let pins = pins.iter().map(read).collect::<Result<String, _>>()?;
    let was_run = packages::once(directory, &pins, proof, work)?;
    Ok(if was_run { "installed" } else { "already installed" }.to_owned())
}
