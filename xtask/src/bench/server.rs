//! The servers that are measured, each a process of its own, built with optimisations.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::ci::cargo;
use crate::process::{self, Running};
use crate::serve::{self, READY};
use crate::workspace::workspace;

const LIMIT: Duration = Duration::from_secs(120);

/// Where the programs are.
pub(super) struct Programs {
    store: PathBuf,
    bare_hyper: PathBuf,
    bare_dropshot: PathBuf,
}

impl Programs {
    /// Builds them.
    pub(super) fn build() -> Result<Self, String> {
        println!("bench: builds the service and the bare servers, with optimisations");
        let store = serve::build(true)?;
        let mut command = Command::new(cargo());
        command.args(["build", "--quiet", "--release", "--package", "bare"]);
        let status = command.current_dir(workspace()).status();
        if !status.map_err(|error| format!("cargo cannot be run: {error}"))?.success() {
            return Err("the bare servers do not build, see above".to_owned());
        }
        let example = |name: &str| store.with_file_name(name);
        Ok(Self { bare_hyper: example("bare-hyper"), bare_dropshot: example("bare-dropshot"), store })
    }

    /// A server that does nothing, without dropshot and with it.
    pub(super) fn bare(&self, directory: &Path) -> Result<[Server; 2], String> {
        let start = |name: &'static str, program| {
            Server::start(name, Command::new(program), None, &directory.join(name.replace(' ', "-")))
        };
        Ok([start("bare hyper", &self.bare_hyper)?, start("bare dropshot", &self.bare_dropshot)?])
    }

    /// Makes an empty store and a key for it.
    pub(super) fn key(&self, database: &str) -> Result<String, String> {
        let output = Command::new(&self.store)
            .args(["key", "create", "bench", "--database", database])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{}: {error}", self.store.display()))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// The service, as it runs without any configuration.
    pub(super) fn service(
        &self,
        name: &'static str,
        database: &str,
        key: String,
        log: &Path,
    ) -> Result<Server, String> {
        let mut command = Command::new(&self.store);
        command.args(["serve", "--bind", "127.0.0.1:0", "--database", database]);
        Server::start(name, command, Some(key), log)
    }
}

/// A running server; ended when dropped.
pub(super) struct Server {
    pub(super) name: &'static str,
    /// Scheme, host and port.
    pub(super) address: String,
    pub(super) key: Option<String>,
    running: Running,
}

impl Server {
    fn start(
        name: &'static str,
        mut command: Command,
        key: Option<String>,
        log: &Path,
    ) -> Result<Self, String> {
        let log = log.with_extension("log");
        let mut running = Running::start(command.stdout(Stdio::piped()).stderr(process::create(&log)?))?;
        let ready = running.first_line(LIMIT);
        let url = ready.as_deref().and_then(|line| line.strip_prefix(READY));
        let address = url.map(|url| url.trim_end_matches("/v1").to_owned());
        let address = address.ok_or_else(|| format!("{name} did not start, see {}", log.display()))?;
        Ok(Self { name, address, key, running })
    }

    /// What its process has taken of the processors so far, in user and kernel.
    pub(super) fn processor_time(&self) -> Result<Duration, String> {
        let file = format!("/proc/{}/stat", self.running.id());
        let stat = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        // After the name in brackets, the 12th and 13th: proc_pid_stat(5).
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace()).into_iter().flatten();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Ok(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
    }
}
