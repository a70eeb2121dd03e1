//! The commands `completions` and `man`: what clap generates from the arguments.

use std::io;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use super::output::{Failure, print};

/// `animal-store completions`
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell that reads the output
    shell: Shell,
}

impl Completions {
    /// Prints the completions of `command`.
    pub(crate) fn run(&self, mut command: Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "animal-store", &mut script);
        // clap_complete 4.6.11 writes the name of the program in two ways, so bash finds no subcommand.
        let script = String::from_utf8(script)?.replace("animal__subcmd__store", "animal__store");
        Ok(print(&script)?)
    }
}

/// `animal-store man`
#[derive(Args)]
pub(crate) struct Man {
    /// The directory to write to, such as /usr/local/share/man/man1; it must exist
    directory: PathBuf,
}

impl Man {
    /// Writes a page for `command` and each of its subcommands.
    pub(crate) fn run(&self, command: Command) -> Result<(), Failure> {
        let at = |error: io::Error| {
            let directory = self.directory.display();
            format!("{directory}: {error}; give a directory that exists and can be written")
        };
        Ok(clap_mangen::generate_to(command, &self.directory).map_err(at)?)
    }
}
