//! `cargo xtask dev`: serves the service while it is written. After each save it builds and restarts the service,
//! checks the document against the code, and runs the tests of the operations that changed.
//!
//! - [`saves`]: which files changed. [`edited`]: which operations an edit of the document concerns. [`scope`]: which
//!   tests run.
//! - [`event`]: programs and what they print. [`printed`]: what came of a step. [`service`] and [`terminal`].
//! - [`session`]: what each event leads to.

mod edited;
mod event;
mod printed;
mod saves;
mod scope;
mod service;
mod session;
mod terminal;

use std::io;
use std::process::Command;
use std::sync::mpsc;

use jiff::Zoned;
use launcher::process::cargo;
use launcher::serve::build_command;
use launcher::workspace::workspace;

use session::{Means, Session, Step};

/// Runs until `q`, Ctrl-C, SIGTERM, or the end of the terminal. Returns the exit status.
///
/// # Errors
/// A message, if files cannot be watched or signals cannot be handled.
pub fn run(bind: &str) -> Result<u8, String> {
    let (sender, events) = mpsc::channel();
    terminal::stop_on_signals(sender.clone())?;
    // Before the first look at the files, so that no save is missed.
    let _watcher = saves::watch(&workspace(), sender.clone())?;
    let _keyboard = terminal::Keyboard::read(sender.clone());
    let mut session = Session::start(Means {
        root: workspace(),
        bind: bind.to_owned(),
        command,
        clock: || Zoned::now().strftime("%H:%M:%S").to_string(),
        output: Box::new(io::stdout()),
        events: sender,
    });
    while let Ok(event) = events.recv() {
        if !session.handle(event) {
            break;
        }
    }
    session.stop();
    Ok(0)
}

/// Returns the command of a step. The arguments select tests.
fn command(step: Step, tests: &[String]) -> Command {
    const MESSAGES: [&str; 2] = ["--message-format", "json"];
    match step {
        Step::Build => {
            let mut build = build_command(false);
            build.args(MESSAGES);
            build
        }
        Step::Check => {
            let mut check = cargo(&["run", "--package", "xtask"]);
            check.args(MESSAGES).args(["--", "check", "--format", "json"]);
            check
        }
        Step::Tests => {
            let mut command = cargo(&["test", "--test", "http"]);
            command.args(MESSAGES).arg("--").args(tests);
            command
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_print_messages_for_programs() {
        let arguments = |step, tests: &[&str]| {
            let tests: Vec<String> = tests.iter().map(|&test| test.to_owned()).collect();
            let command = command(step, &tests);
            command.get_args().map(|it| it.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert!(arguments(Step::Build, &[]).starts_with("build --package animal-store --bin animal-store"));
        assert!(arguments(Step::Build, &[]).ends_with("--message-format json"));
        assert_eq!(
            arguments(Step::Check, &[]),
            "run --package xtask --message-format json -- check --format json"
        );
        assert_eq!(
            arguments(Step::Tests, &["v1::pets::", "--skip", "v1::pets::pet_id::"]),
            "test --test http --message-format json -- v1::pets:: --skip v1::pets::pet_id::"
        );
    }
}
