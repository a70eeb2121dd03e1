//! `cargo xtask serve` and `ci`, and what the other commands of `cargo xtask` share with them.
//!
//! The other commands are in the package `xtask`, which a first start of the service does not compile.

pub mod ci;
pub mod process;
pub mod serve;
pub mod workspace;
