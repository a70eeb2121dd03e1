//! `cargo xtask check`: the code's document, the Rust lines that findings refer to, and the command.

mod agree;
mod command;
#[allow(dead_code, reason = "the drift tests of `contract` use the rest")]
#[path = "../../checks/tests/drift/document.rs"]
mod document;
mod ends;
#[allow(dead_code, reason = "the drift tests of `contract` use the rest")]
#[path = "../../checks/tests/drift/mutants.rs"]
mod mutants;
mod served;
