//! Installs packages into `target/interop`. Their versions are pinned by files in `tests/interop`. Installed packages are
//! reused.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use launcher::process::seconds;
use launcher::workspace::{in_file, workspace};

use super::{Context, LIMIT};
use crate::packages;
use crate::workspace::copy_directory;

/// Packages that parts need.
#[derive(Clone, Copy, Debug)]
pub(super) enum Packages {
    /// Node packages, which include Node itself on Linux.
    Node,
    /// The PostgreSQL servers, which are Node packages too.
    Postgres,
    /// Python packages, in a virtual environment.
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
            let summary = if self.install_once(context)? { "installed" } else { "already installed" };
            println!("interop: packages for {self:?} took {}: {summary}", seconds(begin.elapsed()));
            Ok(())
        };
        context.packages.0[self as usize].get_or_init(install).clone()
    }

    /// Returns whether anything was installed.
    fn install_once(self, context: &Context) -> Result<bool, String> {
        let (name, pins, proof) = match self {
            Self::Node => ("node", "package-lock.json", "node_modules/.package-lock.json"),
            Self::Postgres => ("postgres", "package-lock.json", "node_modules/.package-lock.json"),
            Self::Python => ("python", "requirements.txt", "venv/bin/python"),
        };
        // A copy, so that tools write nothing beside the sources.
        let directory = context.directory.join(name);
        copy_directory(&workspace().join("tests/interop").join(name), &directory)?;
        let pins = directory.join(pins);
        let pinned = fs::read_to_string(&pins).map_err(in_file(&pins))?;
        packages::once(&directory, &pinned, proof, || match self {
            Self::Python => {
                let venv = directory.join("venv");
                packages::python(Path::new("python3"), &venv, &pins, &context.logs(), LIMIT)
            }
            Self::Node | Self::Postgres => npm(context, &directory),
        })
    }
}

/// Installs the pinned Node packages of a directory.
fn npm(context: &Context, directory: &Path) -> Result<(), String> {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(directory);
    context.run("npm", &mut npm)?;
    let packages = directory.join("node_modules");
    for package in fs::read_dir(&packages).map_err(in_file(&packages))? {
        let script = "scripts/hydrate-symlinks.js";
        let package = package.map_err(in_file(&packages))?.path();
        if package.join(script).exists() {
            // npm drops symbolic links, which the libraries of PostgreSQL need, and does not run this script.
            context.run("symlinks", Command::new("node").arg(script).current_dir(package))?;
        }
    }
    Ok(())
}
