//! What a subcommand prints: its result, warnings, the reason of its failure.

use std::io::{self, Write};

use animal_store::config::Loaded;
use animal_store::config::terminal::escaped;

/// Why a subcommand failed: one line for standard error.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Prints the warnings about a configuration on standard error.
pub(crate) fn print_warnings(loaded: &Loaded) {
    for warning in loaded.warnings() {
        eprintln!("warning: {}", escaped(&warning));
    }
}

/// Prints a line, in which characters that change a terminal are escaped.
pub(crate) fn print_line(line: &str) -> io::Result<()> {
    print(&(escaped(line) + "\n"))
}

pub(crate) fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}
