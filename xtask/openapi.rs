//! The program `openapi`: `animal-store openapi` for `cargo xtask check`, without the embedded document, so that an edit of
//! that document compiles nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    match animal_store::openapi() {
        Ok(json) => print!("{json}"),
        Err(problem) => {
            eprintln!("error: {problem}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
