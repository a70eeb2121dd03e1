//! The program `animal-store`: the arguments, and the commands that need no database.

mod databases;
mod key;
mod serve;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use animal_store::config::terminal::{escaped, may_be_secret};
use animal_store::config::{Config, Flags};
use animal_store::server::Certificate;
use animal_store::storage;
use animal_store::{DOCUMENT, VERSION};
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use rustix::process::Signal;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

// "What made requests cheaper" in xtask/RECORDS.md says what allocations cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Why a subcommand failed: one line for standard error.
type Failure = Box<dyn std::error::Error>;

/// The settings, which the help of the program and of `serve` explains.
const SETTINGS: &str = "\
Settings come from the defaults, then the file of --config, then the environment, then flags; the last one
counts. A variable is ANIMAL_STORE_ and the name of a setting, such as ANIMAL_STORE_REQUEST_TIMEOUT=5s or
ANIMAL_STORE_LOG__FORMAT=json. `animal-store config` prints all settings with their sources.

A database is sqlite:PATH, such as sqlite:animal-store.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE.";

/// A catalogue of animals over HTTP.
#[derive(Parser)]
#[command(version, after_help = SETTINGS, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service until SIGTERM or SIGINT; SIGHUP reloads the certificate
    #[command(after_help = SETTINGS)]
    Serve(serve::Serve),
    /// Print the effective configuration with the source of each setting, without passwords
    #[command(after_help = SETTINGS)]
    Config(Flags),
    /// Check the configuration like `serve`, without opening or creating anything
    #[command(after_help = SETTINGS)]
    CheckConfig(Flags),
    /// Create, list, rotate and revoke API keys
    #[command(subcommand, arg_required_else_help = true)]
    Key(key::Key),
    /// Copy an SQLite database that no service uses into an empty PostgreSQL database, all or nothing
    Copy(databases::Copy),
    /// Copy an SQLite database into a new file, also while a service uses it
    Backup {
        /// The file to create, such as animal-store-backup.db; it must not exist
        file: PathBuf,
        #[command(flatten)]
        flags: Flags,
    },
    /// Put a backup in the place of an SQLite database that no service uses
    Restore {
        /// The backup, which stays as it is
        file: PathBuf,
        #[command(flatten)]
        flags: Flags,
    },
    /// Print the OpenAPI document of the code, which describes what this program serves, as JSON
    Openapi,
    /// Print the completions for a shell
    Completions {
        /// The shell that reads the output
        shell: Shell,
    },
    /// Write the manual pages into a directory
    Man {
        /// The directory to write to, such as /usr/local/share/man/man1; it must exist
        directory: PathBuf,
    },
}

fn main() -> ExitCode {
    let result = match Cli::try_parse() {
        Ok(cli) => cli.command.run(),
        Err(help) if help.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{help}");
            return ExitCode::from(2);
        }
        Err(error) if error.use_stderr() => {
            let message = error.to_string();
            // clap repeats the usage; the first paragraph says what is wrong.
            let first = message.split("\n\n").next().unwrap_or_default();
            let similar = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg];
            let similar = similar.into_iter().find_map(|kind| error.get(kind));
            let similar = similar.map(|similar| format!("; did you mean {similar}?")).unwrap_or_default();
            let line = without_secrets(words(first) + &similar, env::args_os());
            eprintln!("{} (for help, run animal-store --help)", escaped(&line));
            return ExitCode::from(2);
        }
        Err(error) if error.kind() == ErrorKind::DisplayVersion => version(),
        Err(help) => Ok(help.to_string()),
    };
    let printed = result.and_then(|text| {
        io::stdout().write_all(text.as_bytes()).map_err(|error| {
            let lost = "what the command did is done, so revoke a key that was not printed";
            format!("cannot write to standard output: {error}; {lost}").into()
        })
    });
    if let Err(error) = printed {
        eprintln!("error: {}", escaped(&error.to_string()));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Replaces the arguments that may be a database URL in an error of clap, which repeats them.
fn without_secrets(mut line: String, arguments: impl Iterator<Item = OsString>) -> String {
    for argument in arguments {
        let argument = argument.to_string_lossy();
        // clap repeats only the value of `--flag=value`, and only the flag of an unknown one.
        for part in [&*argument].into_iter().chain(argument.split_once('=').map(|(_, value)| value)) {
            let part = words(part);
            if may_be_secret(&part) {
                line = line.replace(&part, "[redacted]");
            }
        }
    }
    line
}

/// Returns a text with each white space as one space.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn version() -> Result<String, Failure> {
    Ok(format!("animal-store {VERSION}, API {}\n", DOCUMENT?.version))
}

impl Command {
    /// Runs the command. Returns what it prints.
    fn run(self) -> Result<String, Failure> {
        match self {
            Self::Serve(serve) => serve.run().map(|()| String::new()),
            Self::Config(flags) => {
                let config = Config::load(&flags)?;
                print_warnings(&config);
                Ok(config.to_toml())
            }
            Self::CheckConfig(flags) => check_config(&flags),
            Self::Key(key) => block_on(key.run()),
            Self::Copy(copy) => block_on(copy.run()),
            Self::Backup { file, flags } => block_on(async { databases::backup(&file, &flags) }),
            Self::Restore { file, flags } => block_on(async { databases::restore(&file, &flags) }),
            Self::Openapi => Ok(animal_store::openapi()?),
            Self::Completions { shell } => completions(shell),
            Self::Man { directory } => man(&directory).map(|()| String::new()),
        }
    }
}

fn check_config(flags: &Flags) -> Result<String, Failure> {
    let config = Config::load(flags)?;
    Certificate::load(&config)?;
    storage::check_url(&config.database).map_err(|error| config.with_source("database", error))?;
    print_warnings(&config);
    Ok("the configuration is valid\n".to_owned())
}

fn completions(shell: Shell) -> Result<String, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "animal-store", &mut script);
    // clap_complete 4.6.11 writes the name of the program in two ways, so bash finds no subcommand.
    Ok(String::from_utf8(script)?.replace("animal__subcmd__store", "animal__store"))
}

/// Writes a page for the program and each of its subcommands.
fn man(directory: &Path) -> Result<(), Failure> {
    clap_mangen::generate_to(Cli::command(), directory).map_err(|error| {
        let directory = directory.display();
        format!("{directory}: {error}; give a directory that exists and can be written").into()
    })
}

/// Prints the warnings about a configuration on standard error.
fn print_warnings(config: &Config) {
    for warning in config.warnings() {
        eprintln!("warning: {}", escaped(&warning));
    }
}

fn block_on(work: impl Future<Output = Result<String, Failure>>) -> Result<String, Failure> {
    let runtime = Runtime::new()?;
    let result = runtime.block_on(async {
        report_large_files_as_errors()?;
        work.await
    });
    // Nothing worth waiting for is left.
    runtime.shutdown_background();
    result
}

/// Makes a write beyond the limit on file sizes (RLIMIT_FSIZE) fail with EFBIG, as on a full disk. Without a handler of
/// SIGXFSZ, it would kill the process. The handler stays when the stream of signals is dropped. Must be called within a
/// runtime.
fn report_large_files_as_errors() -> io::Result<()> {
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}
