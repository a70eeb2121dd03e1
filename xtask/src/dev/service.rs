//! The service that `cargo xtask dev` serves, with the database and API key of `cargo xtask serve`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::Sender;

use launcher::process::READY;
use launcher::serve::{command, development_key};
use launcher::workspace::{in_file, target};

use super::event::{Event, Job, JobId};

/// The number of lines of the log that are kept.
const KEPT: usize = 20;

/// A running service.
pub(super) struct Service {
    job: Job,
    /// The time of its start.
    since: String,
    key: String,
    /// The origin of its URL when it is ready.
    origin: Option<String>,
    /// The last lines that it printed.
    log: Vec<String>,
}

impl Service {
    /// Starts a compiled service.
    ///
    /// # Errors
    /// When the database or its key cannot be created, or the program cannot be run.
    pub(super) fn start(
        id: JobId,
        (program, bind): (&Path, &str),
        since: String,
        events: &Sender<Event>,
    ) -> Result<Self, String> {
        let directory = target(program)?.join("dev");
        fs::create_dir_all(&directory).map_err(in_file(&directory))?;
        let file: PathBuf = directory.join("animals.db");
        let database = format!("sqlite:{}", file.display());
        let key = development_key(program, &file, &database)?;
        let mut command: Command = command(program, &[], bind, &database);
        let job = Job::start(id, &mut command, events)?;
        Ok(Self { job, since, key, origin: None, log: Vec::new() })
    }

    pub(super) fn is(&self, job: JobId) -> bool {
        self.job.id == job
    }

    /// Adds a line that the service printed. Returns how to use the service if it is ready now.
    pub(super) fn add(&mut self, line: String) -> Option<String> {
        if let Some(url) = line.strip_prefix(READY).filter(|_| self.origin.is_none()) {
            let origin = url.rsplit_once('/').map_or(url, |(origin, _)| origin).to_owned();
            let ready = format!("{origin}/docs, API key {}", self.key);
            self.origin = Some(origin);
            return Some(ready);
        }
        if self.log.len() == KEPT {
            self.log.remove(0);
        }
        self.log.push(line);
        None
    }

    /// The time at which it was started.
    pub(super) fn since(&self) -> &str {
        &self.since
    }

    /// The last lines that it printed.
    pub(super) fn log(&self) -> &[String] {
        &self.log
    }

    /// Describes its state in one line.
    pub(super) fn state(&self) -> String {
        match &self.origin {
            Some(origin) => format!("running since {}: {origin}/docs, API key {}", self.since, self.key),
            None => format!("starting since {}", self.since),
        }
    }

    /// Stops it, and waits for its end.
    pub(super) fn stop(self) {
        self.job.stop();
    }
}
