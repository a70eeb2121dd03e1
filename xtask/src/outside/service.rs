//! A service of its own for each part: an empty database, a free port, one key.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::Place;
use crate::process::{self, Running};
use crate::serve::READY;

const LIMIT: Duration = Duration::from_secs(30);

/// A running service.
pub(super) struct Service {
    running: Running,
    /// Its base URL, `/v1` included.
    pub(super) url: String,
    /// A key for it.
    pub(super) key: String,
    log: std::path::PathBuf,
}

impl Service {
    /// Starts one for the part `name`.
    ///
    /// # Errors
    /// A sentence, when it does not become ready.
    pub(super) fn start(place: &Place, name: &str) -> Result<Self, String> {
        let directory = place.directory.join("services").join(name);
        let wrong = |error| format!("{}: {error}", directory.display());
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(wrong)?;
        }
        fs::create_dir_all(&directory).map_err(wrong)?;
        let database = format!("sqlite:{}", directory.join("animals.db").display());
        let mut make = Command::new(&place.program);
        make.args(["key", "create", "outside", "--database", &database]);
        let key = process::run(&format!("{name}-key"), &mut make, &directory, LIMIT)?.trim().to_owned();

        let log = directory.join("log");
        let mut serve = Command::new(&place.program);
        serve.args(["serve", "--bind", "127.0.0.1:0", "--database", &database]);
        let mut running = Running::start(serve.stdout(Stdio::piped()).stderr(process::create(&log)?))?;
        let ready = running.first_line(LIMIT);
        let url = ready.as_deref().and_then(|line| line.strip_prefix(READY)).map(str::to_owned);
        let url = url.ok_or_else(|| format!("the service did not start, see {}", log.display()))?;
        Ok(Self { running, url, key, log })
    }

    /// Stops it.
    ///
    /// # Errors
    /// A sentence, when it panicked, or does not end well or in time.
    pub(super) fn stop(mut self) -> Result<(), String> {
        self.running.terminate();
        let status = self.running.end(LIMIT);
        let log = fs::read(&self.log).map_err(|error| format!("{}: {error}", self.log.display()))?;
        let problem = match status {
            None => "did not stop when it was told to",
            Some(status) if !status.success() => "did not end well",
            Some(_) if String::from_utf8_lossy(&log).contains("panicked at") => "panicked",
            Some(_) => return Ok(()),
        };
        Err(format!("the service {problem}, see {}", self.log.display()))
    }
}
