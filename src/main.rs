//! The program `animal-store`.

mod cli;

use std::process::ExitCode;

// glibc's allocator takes about a fifth of what dropshot takes for a request.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
