//! The command line: the arguments, and a file for each subcommand.

mod backup;
mod check_config;
mod config;
mod copy;
mod generate;
mod key;
mod output;
mod restore;
mod serve;
mod store;

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use animal_store::VERSION;
use animal_store::config::Flags;
use animal_store::config::terminal::{escaped, may_be_secret};
use animal_store::document::DOCUMENT;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use output::{Failure, print};
use rustix::process::Signal;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

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
    #[command(arg_required_else_help = true)]
    Key {
        #[command(subcommand)]
        command: key::Key,
    },
    /// Copy an SQLite database that no service uses into an empty PostgreSQL database, all or nothing
    Copy(copy::Copy),
    /// Copy an SQLite database into a new file, also while a service uses it
    Backup(backup::Backup),
    /// Put a backup in the place of an SQLite database that no service uses
    Restore(restore::Restore),
    /// Print the completions for a shell
    Completions(generate::Completions),
    /// Write the manual pages into a directory
    Man(generate::Man),
}

/// Runs the program with the arguments of the process.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(help) if help.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{help}");
            return ExitCode::from(2);
        }
        Err(error) if error.use_stderr() => {
            let message = error.to_string();
            // clap repeats the usage; the first paragraph says what is wrong.
            let first = message.split("\n\n").next().unwrap_or_default();
            let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = without_secrets(line, env::args_os());
            eprintln!("{} (for help, run animal-store --help)", escaped(&line));
            return ExitCode::from(2);
        }
        Err(error) if error.kind() == ErrorKind::DisplayVersion => return exit(print_version()),
        Err(help) => return exit(print(&help.to_string()).map_err(Failure::from)),
    };
    exit(command(cli.command))
}

/// Replaces the arguments that may be a database URL in an error of clap, which repeats them.
fn without_secrets(mut line: String, arguments: impl Iterator<Item = OsString>) -> String {
    for argument in arguments {
        let argument = argument.to_string_lossy();
        // clap repeats only the value of `--flag=value`, and only the flag of an unknown one.
        for part in [&*argument].into_iter().chain(argument.split_once('=').map(|(_, value)| value)) {
            // White space in the line is normalised.
            let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
            if may_be_secret(&part) {
                line = line.replace(&part, "[redacted]");
            }
        }
    }
    line
}

fn exit(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", escaped(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn print_version() -> Result<(), Failure> {
    Ok(print(&format!("animal-store {VERSION}, API {}\n", DOCUMENT?.version))?)
}

/// Makes a write beyond the limit on file sizes (RLIMIT_FSIZE) fail with EFBIG, as on a full disk. Without a handler of
/// SIGXFSZ, it would kill the process. The handler stays when the stream of signals is dropped. Must be called within a
/// runtime.
fn report_large_files_as_errors() -> io::Result<()> {
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}

/// Returns a flag that SIGINT and SIGTERM set, so that a command can remove its files. Must be called within a runtime.
fn interrupted() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::<AtomicBool>::default();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let (mut signals, interrupted) = (signal(kind)?, interrupted.clone());
        tokio::spawn(async move {
            signals.recv().await;
            interrupted.store(true, Relaxed);
        });
    }
    Ok(interrupted)
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Serve(serve) => serve.run(),
        Command::Config(flags) => config::run(&flags),
        Command::CheckConfig(flags) => check_config::run(&flags),
        Command::Key { command } => block_on(command.run()),
        Command::Copy(copy) => block_on(copy.run()),
        Command::Backup(backup) => block_on(async { backup.run() }),
        Command::Restore(restore) => block_on(async { restore.run() }),
        Command::Completions(completions) => completions.run(Cli::command()),
        Command::Man(man) => man.run(Cli::command()),
    }
}

fn block_on(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = Runtime::new()?;
    let result = runtime.block_on(async {
        report_large_files_as_errors()?;
        work.await
    });
    // Nothing worth waiting for is left.
    runtime.shutdown_background();
    result
}
