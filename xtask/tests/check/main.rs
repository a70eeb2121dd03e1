//! `cargo xtask check` on the real document and the real code, and on both with something changed.

mod broken;
mod code_changed;
mod command;
mod document;
mod ends;
mod file_changed;
mod mutants;
mod same;
mod sunset;
mod watch;
