//! `cargo xtask serve` and `ci`, and what the other commands of `cargo xtask` share with them.
//!
//! The commands about the document are in the package `project`, those for the night in `lab`. `cargo xtask` compiles each
//! when it is asked for.

pub mod ci;
pub mod parallel;
pub mod process;
pub mod serve;
pub mod workspace;
