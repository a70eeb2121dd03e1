//! Starts the measured servers, each as a separate process of an optimised build.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::Plan;
use super::seed::{self, Postgres};
use crate::process::{Running, cargo, status};
use crate::serve::{self, Service};
use crate::workspace::in_file;

/// The path of the service; the bare servers are in the same directory.
pub(super) struct Programs(PathBuf);

impl Programs {
    pub(super) fn build() -> Result<Self, String> {
        println!("bench: building the service and the bare servers, optimised");
        let store = serve::build(true)?;
        if !status(&mut cargo(&["build", "--quiet", "--release", "--package", "bare"]))?.success() {
            return Err("the bare servers do not build; see the errors above".to_owned());
        }
        Ok(Self(store))
    }

    /// Starts a server without logic: `bare-hyper` or `bare-dropshot`.
    pub(super) fn bare(&self, name: &'static str, plan: &Plan<'_>) -> Result<Server, String> {
        let mut command = Command::new(self.0.with_file_name(name));
        let (running, address) = Running::serve(&mut command, &plan.directory.join(name))?;
        Ok(Server { name, address, key: None, file: None, running })
    }

    /// Starts the service with default settings on SQLite.
    pub(super) fn on_sqlite(&self, animals: u64, plan: &Plan<'_>) -> Result<Server, String> {
        let file = plan.directory.join(format!("{animals}.db"));
        let database = format!("sqlite:{}", file.display());
        let log = file.with_extension("log");
        let service = Service::start(&self.0, &database, &log, || seed::sqlite(&file, animals))?;
        Ok(Server { file: Some(file), ..Server::of("on SQLite", service) })
    }

    /// Starts the service with default settings on PostgreSQL.
    pub(super) fn on_postgres(
        &self,
        postgres: &Postgres,
        animals: u64,
        plan: &Plan<'_>,
    ) -> Result<Server, String> {
        let database = postgres.database();
        let log = plan.directory.join(format!("postgres-{animals}.log"));
        let service = Service::start(&self.0, &database, &log, || postgres.fill(&database, animals))?;
        Ok(Server::of("on PostgreSQL", service))
    }
}

/// A running server; ended when dropped.
pub(super) struct Server {
    pub(super) name: &'static str,
    /// Scheme, host and port.
    pub(super) address: String,
    pub(super) key: Option<String>,
    /// The SQLite database.
    pub(super) file: Option<PathBuf>,
    running: Running,
}

impl Server {
    fn of(name: &'static str, Service { running, url, key }: Service) -> Self {
        let address = url.trim_end_matches("/v1").to_owned();
        Self { name, address, key: Some(key), file: None, running }
    }

    /// Returns the CPU time of the server process so far, in user and kernel mode.
    pub(super) fn processor_time(&self) -> Result<Duration, String> {
        let file = PathBuf::from(format!("/proc/{}/stat", self.running.id()));
        let stat = fs::read_to_string(&file).map_err(in_file(&file))?;
        // The 12th and 13th field after the name in parentheses: proc_pid_stat(5).
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace()).into_iter().flatten();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Ok(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
    }
}
