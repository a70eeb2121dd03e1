//! `cargo xtask check`: the code's side, the Rust lines that findings point to, and the command.

mod agree;
mod command;
#[allow(dead_code, reason = "tests of drift use the rest of it")]
#[path = "../../contract/tests/drift/document.rs"]
mod document;
mod ends;
#[allow(dead_code, reason = "tests of drift use the rest of it")]
#[path = "../../contract/tests/drift/mutants.rs"]
mod mutants;
mod served;
mod watch;
