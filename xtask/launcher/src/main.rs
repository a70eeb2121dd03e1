//! Runs `cargo xtask serve` and `ci`, and starts the package `xtask` for every other command.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use launcher::process::{cannot_be_run, cargo, status};
use launcher::workspace::beside;
use launcher::{ci, serve};

/// The commands of this package. `cargo xtask --help` is that of the package `xtask`, which lists all commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Arguments {
    /// Build the service and run it with a development database and API key.
    Serve(serve::Options),
    /// Run all checks of CI.
    Ci,
}

fn main() -> ExitCode {
    let is_own = env::args_os().nth(1).is_some_and(|command| command == "serve" || command == "ci");
    let status = if is_own {
        match Arguments::parse() {
            Arguments::Serve(options) => serve::run(&options),
            Arguments::Ci => ci::run(),
        }
    } else {
        run_xtask()
    };
    ExitCode::from(status.unwrap_or_else(|problem| {
        anstream::eprintln!("error: {problem}");
        2
    }))
}

/// Builds the package `xtask` and replaces this process by it. Returns only the reason why it cannot.
fn run_xtask() -> Result<u8, String> {
    let mut build = cargo(&["build", "--package", "xtask"]);
    // Standard input is that of the command.
    if !status(build.stdin(Stdio::null()))?.success() {
        return Err("the package `xtask` does not build, see above".to_owned());
    }
    let mut xtask = Command::new(beside("xtask")?);
    let error = xtask.args(env::args_os().skip(1)).exec();
    Err(cannot_be_run(&xtask)(error))
}
