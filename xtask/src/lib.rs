//! The commands of this repository; `cargo xtask help` lists them.
//!
//! The checks themselves are in the package `checks`, which does not depend on this repository. This crate has the
//! paths ([`workspace`]), the document that the running code produces and the Rust lines that it comes from
//! ([`dropshot`]), and the commands that test and measure the service. `serve` is in the package `launcher`.

pub mod bench;
pub mod check;
pub mod dev;
pub mod dist;
pub mod dropshot;
pub mod faults;
pub mod interop;
pub mod licences;
pub mod lsp;
mod metadata;
mod packages;
mod process;
pub mod release;
pub mod rules;
pub mod site;
pub mod workspace;
