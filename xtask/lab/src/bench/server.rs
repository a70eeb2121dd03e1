//! Starts the measured servers, each a process of an optimised build.

use std::fs;
use std::path::PathBuf;

use xtask::process::{cargo, status};
use xtask::serve::{self, command, create_key, launched};
use xtask::workspace::in_file;

use super::Plan;
use super::requests::{OPERATIONS, Request};
use super::seed::{self, Postgres};
use project::process::Running;

/// A running server; ended when dropped.
pub(super) struct Server {
    pub(super) name: &'static str,
    /// Scheme, host and port.
    pub(super) url: String,
    /// An API key; `None` for a server without logic.
    pub(super) key: Option<String>,
    running: Running,
}

/// Builds and starts two servers without logic, and the service with default settings on SQLite and, if a server is given,
/// on PostgreSQL. Each database has this many animals. `launcher` is a program with its arguments that starts each, or
/// empty.
pub(super) fn start(
    plan: &Plan<'_>,
    animals: u64,
    postgres: Option<&Postgres>,
    launcher: &[String],
) -> Result<Vec<Server>, String> {
    println!("bench: building the service and the bare servers, optimised");
    let service = serve::build(true)?;
    if !status(&mut cargo(&["build", "--quiet", "--release", "--package", "bare"]))?.success() {
        return Err("the bare servers do not build; see the errors above".to_owned());
    }
    let bare = |name| {
        let mut bare = launched(&service.with_file_name(name), launcher);
        let (running, url) = Running::serve(&mut bare, &plan.directory.join(name))?;
        Ok::<_, String>(Server { name, url, key: None, running })
    };
    let of = |name, database: &str, fill: &dyn Fn() -> Result<(), String>| {
        let key = create_key(&service, "xtask", database)?;
        fill()?;
        let mut command = command(&service, launcher, "127.0.0.1:0", database);
        let (running, url) = Running::serve(&mut command, &plan.directory.join(name))?;
        Ok::<_, String>(Server { name, url: url.trim_end_matches("/v1").to_owned(), key: Some(key), running })
    };
    let file = plan.directory.join("animals.db");
    let sqlite = of("on SQLite", &format!("sqlite:{}", file.display()), &|| seed::sqlite(&file, animals))?;
    let mut servers = vec![bare("bare-hyper")?, bare("bare-dropshot")?, sqlite];
    if let Some(postgres) = postgres {
        let url = postgres.database();
        servers.push(of("on PostgreSQL", &url, &|| postgres.fill(&url, animals))?);
    }
    Ok(servers)
}

impl Server {
    /// The requests that are measured, with their names in the tables.
    pub(super) fn requests(&self) -> &'static [(&'static str, Request)] {
        if self.key.is_some() { &OPERATIONS } else { &[("hello", Request::Hello)] }
    }

    /// The process identifier.
    pub(super) fn id(&self) -> u32 {
        self.running.id()
    }

    /// Returns the CPU time of the server so far in seconds, in user and kernel mode.
    pub(super) fn processor_time(&self) -> Result<f64, String> {
        let file = PathBuf::from(format!("/proc/{}/stat", self.id()));
        let stat = fs::read_to_string(&file).map_err(in_file(&file))?;
        // The 12th and the 13th field after the name in parentheses: proc_pid_stat(5).
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
        Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }
}
