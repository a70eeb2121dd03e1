//! `cargo xtask serve`, `ci` and `fuzz`, and what the other commands of `cargo xtask` share with them.
//!
//! The other commands are in the package `xtask`, which a first start of the service does not compile.

pub mod ci;
pub mod fuzz;
pub mod parallel;
pub mod process;
pub mod serve;
pub mod workspace;
