//! `cargo xtask bench`: what the commands and the service cost.
//!
//! Nothing here fails because it is slow: a machine that others use says nothing about the code. Each figure
//! is the median of rounds in which everything that is compared takes its turn, so what disturbs one round
//! disturbs all that is compared in it, and ratios hold where seconds do not.

mod check;
mod command;
mod documents;
mod generate;
mod growth;
mod load;
mod picture;
mod postgres;
mod seed;
mod server;
mod service;
mod table;

pub use command::{Arguments, run};
