//! `cargo xtask check`: the Rust lines that findings refer to, and the command.

mod command;
mod ends;
