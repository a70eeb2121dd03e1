//! `cargo xtask check`: the Rust lines that findings refer to, and the command.

mod command;
#[allow(dead_code, reason = "the drift tests of `contract` use the rest")]
#[path = "../../../contract/checks/tests/drift/document.rs"]
mod document;
mod ends;
#[allow(dead_code, reason = "the drift tests of `contract` use the rest")]
#[path = "../../../contract/checks/tests/drift/mutants.rs"]
mod mutants;
