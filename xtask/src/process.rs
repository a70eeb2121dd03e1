//! Runs cargo and other programs.

use std::env;
use std::io;
use std::process::{Command, ExitCode, ExitStatus, Output};
use std::time::Duration;

use crate::workspace::workspace;

/// Returns a command that runs the same cargo as this process, in the root of the repository.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace());
    command
}

/// Runs a program that inherits the streams of this process.
pub fn status(command: &mut Command) -> Result<ExitStatus, String> {
    command.status().map_err(cannot_be_run(command))
}

/// Runs a program and captures its output.
pub fn output(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(cannot_be_run(command))
}

/// Runs a program and returns its standard output.
///
/// # Errors
/// A message with what the program wrote on standard error, if it fails.
pub fn printed(command: &mut Command) -> Result<String, String> {
    let Output { status, stdout, stderr } = output(command)?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let program = command.get_program().to_string_lossy();
    Err(format!("{program} failed ({status}): {}", String::from_utf8_lossy(&stderr).trim()))
}

/// Returns a function that adds the name of the program to an error.
pub fn cannot_be_run(command: &Command) -> impl Fn(io::Error) -> String {
    let program = command.get_program().to_string_lossy().into_owned();
    move |error| format!("cannot run {program}: {error}")
}

/// Formats a duration in seconds with one decimal.
pub fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// Returns the exit code of a command. Prints the problem if there is one.
pub fn exit_code(status: Result<u8, String>) -> ExitCode {
    ExitCode::from(status.unwrap_or_else(|problem| {
        anstream::eprintln!("error: {problem}");
        2
    }))
}
