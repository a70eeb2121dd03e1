//! The program `animal-store`.

mod cli;

use std::process::ExitCode;

// "What made requests cheaper" in xtask/RECORDS.md says what allocations cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
