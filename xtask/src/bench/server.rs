//! Starts the measured servers, each as a separate process of an optimised build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use launcher::process::{cargo, status};
use launcher::serve::{self, create_key, launched};
use launcher::workspace::in_file;

use super::Plan;
use super::seed::{self, Postgres};
use crate::process::Running;

/// The built servers: the path of the service. The bare servers are in the same directory.
pub(super) struct Programs(PathBuf);

/// A database with animals and an API key.
#[derive(Clone)]
pub(super) struct Store {
    name: &'static str,
    url: String,
    key: String,
    /// The first process of PostgreSQL, if the database is there.
    postmaster: Option<u32>,
    log: PathBuf,
}

impl Store {
    /// Returns the file of the database on SQLite, or the URL of one on PostgreSQL.
    pub(super) fn place(&self) -> &str {
        self.url.trim_start_matches("sqlite:")
    }
}

impl Programs {
    pub(super) fn build() -> Result<Self, String> {
        println!("bench: building the service and the bare servers, optimised");
        let service = serve::build(true)?;
        if !status(&mut cargo(&["build", "--quiet", "--release", "--package", "bare"]))?.success() {
            return Err("the bare servers do not build; see the errors above".to_owned());
        }
        Ok(Self(service))
    }

    /// Starts a server without logic: `bare-hyper` or `bare-dropshot`. `launcher` is as in [`Self::serve`].
    pub(super) fn bare(
        &self,
        name: &'static str,
        plan: &Plan<'_>,
        launcher: &[String],
    ) -> Result<Server, String> {
        let mut command = launched(&self.0.with_file_name(name), launcher);
        let (running, address) = Running::serve(&mut command, &plan.directory.join(name))?;
        Ok(Server { name, address, store: None, running })
    }

    /// Creates a database on SQLite, and one on PostgreSQL if there is a server.
    pub(super) fn stores(
        &self,
        animals: u64,
        postgres: Option<&Postgres>,
        plan: &Plan<'_>,
    ) -> Result<Vec<Store>, String> {
        let engines = [None].into_iter().chain(postgres.map(Some));
        engines
            .enumerate()
            .map(|(n, engine)| self.store(&format!("store{n}"), engine, animals, plan))
            .collect()
    }

    /// Creates a database, on PostgreSQL if a server is given. `name` is unique.
    pub(super) fn store(
        &self,
        name: &str,
        postgres: Option<&Postgres>,
        animals: u64,
        plan: &Plan<'_>,
    ) -> Result<Store, String> {
        let log = plan.directory.join(format!("{name}.log"));
        let file = log.with_extension("db");
        let url = postgres.map_or_else(|| format!("sqlite:{}", file.display()), Postgres::database);
        let key = create_key(&self.0, "xtask", &url)?;
        let Some(postgres) = postgres else {
            seed::sqlite(&file, animals)?;
            return Ok(Store { name: "on SQLite", url, key, postmaster: None, log });
        };
        postgres.fill(&url, animals)?;
        Ok(Store { name: "on PostgreSQL", url, key, postmaster: Some(postgres.postmaster()?), log })
    }

    /// Starts the service with default settings. `launcher` is a program with its arguments that starts it, or empty.
    pub(super) fn serve(&self, store: &Store, launcher: &[String]) -> Result<Server, String> {
        let mut command = serve::command(&self.0, launcher, "127.0.0.1:0", &store.url);
        Server::start(store.name, &mut command, store)
    }
}

/// A running server; ended when dropped.
pub(super) struct Server {
    pub(super) name: &'static str,
    /// Scheme, host and port.
    pub(super) address: String,
    store: Option<Store>,
    running: Running,
}

impl Server {
    /// Starts a server of a store.
    pub(super) fn start(name: &'static str, command: &mut Command, store: &Store) -> Result<Self, String> {
        let (running, url) = Running::serve(command, &store.log)?;
        let address = url.trim_end_matches("/v1").to_owned();
        Ok(Self { name, address, store: Some(store.clone()), running })
    }

    /// The API key, if the server requires one.
    pub(super) fn key(&self) -> Option<&str> {
        self.store.as_ref().map(|store| &*store.key)
    }

    /// The process identifier.
    pub(super) fn id(&self) -> u32 {
        self.running.id()
    }

    /// Returns the CPU time of the server's processes so far, in user and kernel mode.
    pub(super) fn processor_time(&self) -> Result<Duration, String> {
        let group = u64::from(self.running.id());
        processor_time(|_, fields| fields.get(2) == Some(&group))
    }

    /// Returns the CPU time of the processes of PostgreSQL so far; zero if the database is not there.
    pub(super) fn database_time(&self) -> Result<Duration, String> {
        let postmaster = self.store.as_ref().and_then(|store| store.postmaster);
        let Some(postmaster) = postmaster else { return Ok(Duration::ZERO) };
        // Each of its processes has a session of its own.
        processor_time(|id, fields| id == postmaster || fields.get(1) == Some(&u64::from(postmaster)))
    }
}

/// Returns the CPU time so far, in user and kernel mode, of the processes that `is_counted` chooses by identifier and
/// fields, and of the ended ones that these have waited for.
fn processor_time(is_counted: impl Fn(u32, &[u64]) -> bool) -> Result<Duration, String> {
    let entries = fs::read_dir("/proc").map_err(in_file(Path::new("/proc")))?;
    let mut ticks = 0;
    for id in entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()) {
        // Processes may end meanwhile.
        if let Ok(fields) = stat(id)
            && is_counted(id, &fields)
        {
            // The fields from the 12th to the 15th after the name.
            ticks += fields.iter().skip(11).take(4).sum::<u64>();
        }
    }
    Ok(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}

/// Returns the fields of `/proc/PID/stat` after the name in parentheses; 0 for those that are not positive numbers:
/// proc_pid_stat(5).
fn stat(process: u32) -> Result<Vec<u64>, String> {
    let file = PathBuf::from(format!("/proc/{process}/stat"));
    let stat = fs::read_to_string(&file).map_err(in_file(&file))?;
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace()).into_iter().flatten();
    Ok(fields.map(|field| field.parse().unwrap_or(0)).collect())
}

/// Returns a figure of the memory of a process in MiB: `VmRSS` is the resident memory, `VmHWM` its maximum.
pub(super) fn memory(process: u32, name: &str) -> Result<f64, String> {
    let file = PathBuf::from(format!("/proc/{process}/status"));
    let status = fs::read_to_string(&file).map_err(in_file(&file))?;
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = value.and_then(|value| value.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.map(|kib| kib / 1024.0).ok_or_else(|| format!("{}: no {name}", file.display()))
}
