//! The command line of `cargo xtask`: lists all commands, runs `serve` and `ci`, and starts another program for each other
//! command, so that nothing is compiled that a command does not need.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use clap::{Args, Parser, Subcommand};
use xtask::process::{cannot_be_run, cargo, exit_code, status};
use xtask::workspace::{ALL, DAILY, beside};
use xtask::{ci, serve};

/// Development commands of Animal Store and of its OpenAPI document.
///
/// `cargo xtask COMMAND --help` describes a command in full. src/operations/README.md shows how to add an operation.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Commands,
}

#[derive(Subcommand)]
enum Commands {
    /// Build the service and run it with a development database and API key
    Serve(serve::Options),
    /// Serve the service while writing it: after each save, build, check and restart
    Dev(Rest),
    /// Run all checks that a change must pass
    Ci(ci::Options),
    /// Compare the OpenAPI document with the code
    Check(Rest),
    /// Check the OpenAPI document for errors and against the rules of this project
    Lint(Rest),
    /// Report changes of the OpenAPI document that break clients, and the version that they need
    Breaking(Rest),
    /// Release the OpenAPI document under its version, or verify the releases
    Release(Rest),
    /// Write the documentation of the API as static files
    Site(Rest),
    /// Serve an editor: a language server for the OpenAPI document
    Lsp(Rest),
    /// Check the licences and sources of the dependencies
    Licences(Rest),
    /// Make an archive of the program for Linux on x86-64
    Dist(Rest),
    /// Look for inputs that break a rule of a parser of untrusted text
    Fuzz(Rest),
    /// Inject faults into the running service and print a table of their effects
    Faults(Rest),
    /// Measure the speed of the service
    Bench(Rest),
    /// Check the document and the service with third-party tools
    Interop(Rest),
}

/// The arguments of a command of another program, which that program reads.
#[derive(Args)]
#[command(disable_help_flag = true)]
struct Rest {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    exit_code(match Arguments::parse().command {
        Commands::Serve(options) => serve::run(&options),
        Commands::Ci(options) => ci::run(&options),
        Commands::Check(_)
        | Commands::Lint(_)
        | Commands::Breaking(_)
        | Commands::Release(_)
        | Commands::Site(_)
        | Commands::Lsp(_)
        | Commands::Licences(_)
        | Commands::Dev(_) => run(&["project"], &DAILY),
        Commands::Dist(_) | Commands::Fuzz(_) | Commands::Faults(_) | Commands::Bench(_) => {
            run(&["lab"], &ALL)
        }
        // It starts commands of `project`.
        Commands::Interop(_) => run(&["lab", "project"], &ALL),
    })
}

/// Builds programs and replaces this process by the first. Returns only the reason why it cannot.
fn run(programs: &[&str], packages: &[&str]) -> Result<u8, String> {
    let mut build = cargo(&["build"]);
    build.args(programs.iter().flat_map(|program| ["--bin", program])).args(packages);
    // Standard input is that of the command.
    if !status(build.stdin(Stdio::null()))?.success() {
        return Err(format!("the package `{}` does not build, see above", programs[0]));
    }
    let mut command = Command::new(beside(programs[0])?);
    let error = command.args(env::args_os().skip(1)).exec();
    Err(cannot_be_run(&command)(error))
}
