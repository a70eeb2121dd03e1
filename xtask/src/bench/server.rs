//! Starts the measured servers, each as a separate process of an optimised build.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use launcher::process::{cargo, status};
use launcher::serve::{self, create_key, launched};
use launcher::workspace::in_file;

use super::Plan;
use super::seed::{self, Postgres};
use crate::process::Running;

/// The built servers: the path of the service. The bare servers are in the same directory.
pub(super) struct Programs(PathBuf);

/// A server that is measured.
pub(super) struct Contender {
    pub(super) name: &'static str,
    /// The program with its arguments.
    command: Vec<PathBuf>,
    /// An API key of its database; `None` for a server without logic.
    key: Option<String>,
    /// The first process of PostgreSQL, if its database is there.
    postmaster: Option<u32>,
    log: PathBuf,
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

    /// Returns the servers without logic, and the service on SQLite and, if there is a server, on PostgreSQL.
    pub(super) fn contenders(
        &self,
        animals: u64,
        postgres: Option<&Postgres>,
        plan: &Plan<'_>,
    ) -> Result<Vec<Contender>, String> {
        let bare = |name| {
            let (command, log) = (vec![self.0.with_file_name(name)], plan.directory.join(name));
            Contender { name, command, key: None, postmaster: None, log }
        };
        let mut contenders = vec![bare("bare-hyper"), bare("bare-dropshot")];
        contenders.push(self.contender("on SQLite", None, None, animals, plan)?);
        if postgres.is_some() {
            contenders.push(self.contender("on PostgreSQL", None, postgres, animals, plan)?);
        }
        Ok(contenders)
    }

    /// Returns a server with a database of its own, on PostgreSQL if a server is given: the service with default
    /// settings, or another program with its arguments, before the place of the database. `name` is unique.
    pub(super) fn contender(
        &self,
        name: &'static str,
        other: Option<Vec<PathBuf>>,
        postgres: Option<&Postgres>,
        animals: u64,
        plan: &Plan<'_>,
    ) -> Result<Contender, String> {
        let log = plan.directory.join(format!("{name}.log"));
        let file = log.with_extension("db");
        let url = postgres.map_or_else(|| format!("sqlite:{}", file.display()), Postgres::database);
        let key = Some(create_key(&self.0, "xtask", &url)?);
        match postgres {
            None => seed::sqlite(&file, animals)?,
            Some(postgres) => postgres.fill(&url, animals)?,
        }
        let command = match other {
            Some(other) => [other, vec![url.trim_start_matches("sqlite:").into()]].concat(),
            None => {
                let arguments = ["serve", "--bind", "127.0.0.1:0", "--database", &url].map(PathBuf::from);
                [vec![self.0.clone()], arguments.into()].concat()
            }
        };
        Ok(Contender { name, command, key, postmaster: postgres.map(Postgres::postmaster).transpose()?, log })
    }
}

impl Contender {
    /// Starts the server. `launcher` is a program with its arguments that starts it, or empty.
    pub(super) fn start(&self, launcher: &[String]) -> Result<Server<'_>, String> {
        let mut command = launched(&self.command[0], launcher);
        let (running, url) = Running::serve(command.args(&self.command[1..]), &self.log)?;
        Ok(Server { contender: self, address: url.trim_end_matches("/v1").to_owned(), running })
    }
}

/// A running server; ended when dropped.
pub(super) struct Server<'c> {
    contender: &'c Contender,
    /// Scheme, host and port.
    pub(super) address: String,
    running: Running,
}

impl Server<'_> {
    pub(super) fn name(&self) -> &'static str {
        self.contender.name
    }

    /// The API key, if the server requires one.
    pub(super) fn key(&self) -> Option<&str> {
        self.contender.key.as_deref()
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
        let Some(postmaster) = self.contender.postmaster else { return Ok(Duration::ZERO) };
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
