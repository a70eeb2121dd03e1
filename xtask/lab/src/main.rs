//! The command line of the measurements, faults and third-party tools. `cargo xtask` starts it.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lab::{bench, dist, faults, fuzz, interop};

/// Measurements, faults, third-party tools and the archive. `cargo xtask --help` lists all commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make an archive of the program for Linux on x86-64, with manual pages, units, licences and an SBOM.
    ///
    /// The same sources, compiler and C library make the same archive.
    ///
    /// Exit status: 0, or 2 if the program cannot be built, or a file cannot be read or written.
    Dist,
    /// Look for inputs that break a rule of a parser of untrusted text.
    ///
    /// libFuzzer changes the inputs in xtask/lab/fuzz/corpus, and keeps those that take new branches in target/fuzz.
    ///
    /// Exit status: 0, or 1 if an input was found, 2 if the targets cannot be run.
    Fuzz(fuzz::Options),
    /// Inject faults into the running service and print a table of their effects.
    ///
    /// Needs strace, libfaketime and util-linux, and skips the faults of a missing tool. With
    /// STORE_TESTS_REQUIRE_TOOLS=1 a missing tool is an error.
    ///
    /// Exit status: 0, or 1 if a fault had an effect that it must not have, 2 if faults cannot be injected.
    Faults(faults::Options),
    /// Measure the speed of the service.
    ///
    /// Needs wrk or valgrind, and the server programs of PostgreSQL for the measurements on PostgreSQL.
    ///
    /// Exit status: 0, or 1 if a request takes more instructions than in the committed table, 2 if something cannot be
    /// measured.
    Bench(bench::Arguments),
    /// Check the document and the service with third-party tools, and run the tests on several versions of PostgreSQL.
    ///
    /// Needs npm with node (20 or newer), python3 with venv, Go, curl, chromium and neovim. Installs the rest into
    /// target/interop.
    Interop(interop::Options),
}

fn main() -> ExitCode {
    xtask::process::exit_code(match Arguments::parse().command {
        Command::Dist => dist::run(),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Faults(options) => faults::run(&options),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Interop(options) => interop::run(&options),
    })
}
